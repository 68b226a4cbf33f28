-- Jobs of one chip and day as one payload counts them over all runs of that day, as a fact with its three times;
-- one row per chip and day of a snapshot.
-- grain: run_reliability_id
-- column: run_reliability_id | key: source, snapshot, publisher, chip and day
-- column: recorded_to | moment that a newer version of a seed replaced it; null: in force
with

jobs as (
    select * from clean.run_reliability
    where reject_reason is null
        and chip_id is not null
),

snapshots as (
    select * from clean.snapshot
),

summed as (
    select
        source,
        snapshot_id,
        publisher,
        chip_id,
        day,
        cast(sum(succeeded_jobs) as bigint) as succeeded_jobs,
        cast(sum(total_jobs) as bigint) as total_jobs,
        max(known_at) as known_at,
    from jobs
    group by source, snapshot_id, publisher, chip_id, day
)

select
    concat_ws(
        '/', summed.source, summed.snapshot_id, summed.publisher, summed.chip_id, cast(summed.day as varchar)
    ) as run_reliability_id,
    summed.*,
    snapshots.source_rank,
    snapshots.passes_on,
    snapshots.recorded_at,
    snapshots.recorded_to,
from summed
inner join snapshots
    on summed.source = snapshots.source
    and summed.snapshot_id = snapshots.snapshot_id
