-- A day without a record of its own, between the first record and the day before the run's as_of: nothing was
-- written on it, or what was written cannot be read. A record that was written later is told as one, and never as
-- one of the day. One row per UTC day.
-- grain: date
-- column: date | UTC day
-- column: status | missed (nothing was written), recorded_late (written after the day), or why its record is not loaded: refused, damaged, failed
-- column: reason | why it is not loaded
-- column: recorded_at | moment that the record was written; null: none was, or it is damaged and does not say
-- check: status = 'damaged' or (status = 'missed') = (recorded_at is null)
with

records as (
    select * from core.known_record
),

run as (
    select * from core.run
),

span as (
    select
        min(records.date) as first_date,
        max(cast(run.as_of at time zone 'UTC' as date)) as as_of_date,
    from records
    cross join run
),

days as (
    select cast(unnest(generate_series(first_date, as_of_date - 1, interval 1 day)) as date) as date
    from span
    where first_date < as_of_date
)

select
    days.date,
    case
        when records.record_id is null then 'missed'
        when records.status <> 'loaded' then records.status
        else 'recorded_late'
    end as status,
    records.reason,
    records.recorded_at,
from days
left join records on days.date = records.date
where records.record_id is null
    or records.status <> 'loaded'
    or records.recorded_late
