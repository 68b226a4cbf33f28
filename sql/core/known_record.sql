-- The record that stands for a day, among those that this run may know: the first that can be read; one row per day.
-- grain: date
with

records as (
    select * from core.record
),

run as (
    select * from core.run
)

select records.*
from records
cross join run
where records.known_at <= run.as_of
    and records.recorded_to is null
qualify row_number() over (
    partition by records.date
    order by records.status = 'loaded' desc, records.recorded_at, records.record_id
) = 1
