-- What the corrections say together of one fact, for as long as their file says it unchanged; one row per file of
-- corrections, locator, moment and stretch of time. A new version of the file that repeats it goes on with it.
-- grain: source, row_kind, locator, known_at, recorded_at
-- column: source | the file of corrections
-- column: snapshot_id | its first version that says so; the figures stand there
-- column: locator | which fact; see pipelines/corrections.py
-- column: known_at | when the world could know it
-- column: recorded_at | moment that we stored it
-- column: recorded_to | moment that the file ceased to say it; null: in force
-- check: recorded_to is null or recorded_to > recorded_at
with

corrections as (
    select * from raw.correction where action = 'correct'
),

snapshots as (
    select * from clean.snapshot
),

said as (
    select
        corrections.source,
        corrections.snapshot_id,
        corrections.row_kind,
        corrections.locator,
        coalesce(corrections.known_at, snapshots.observed_at) as known_at,
        snapshots.recorded_at,
        snapshots.recorded_to,
        count(*) as figures,
        -- Order does not matter to a sum, so that rows may be moved in the file.
        sum(
            cast(
                md5_number_lower(
                    concat_ws('|', corrections.field, corrections.value_expected, corrections.value_new)
                ) as decimal(38, 0)
            )
        ) as what,
    from corrections
    inner join snapshots
        on corrections.source = snapshots.source
        and corrections.snapshot_id = snapshots.snapshot_id
    group by
        corrections.source,
        corrections.snapshot_id,
        corrections.row_kind,
        corrections.locator,
        coalesce(corrections.known_at, snapshots.observed_at),
        snapshots.recorded_at,
        snapshots.recorded_to
),

begun as (
    select
        *,
        case
            when lag(what) over versions = what
                and lag(figures) over versions = figures
                and lag(recorded_to) over versions = recorded_at
                then 0
            else 1
        end as begins,
    from said
    window versions as (
        partition by source, row_kind, locator, known_at
        order by recorded_at, snapshot_id
    )
),

numbered as (
    select
        *,
        sum(begins) over (
            partition by source, row_kind, locator, known_at
            order by recorded_at, snapshot_id
            rows between unbounded preceding and current row
        ) as stretch,
    from begun
)

select
    source,
    row_kind,
    locator,
    min_by(snapshot_id, recorded_at) as snapshot_id,
    known_at,
    min(recorded_at) as recorded_at,
    case when count(*) = count(recorded_to) then max(recorded_to) end as recorded_to,
from numbered
group by source, row_kind, locator, known_at, stretch
