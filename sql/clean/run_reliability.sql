-- Jobs of one run on one chip and day as a source counts them, with the chip resolved; one row per raw row.
-- grain: source, snapshot_id, row_number
-- column: known_at | when the world could know it
-- column: reject_reason | why the count is not accepted; null: accepted
-- check: reject_reason is not null or (succeeded_jobs >= 0 and succeeded_jobs <= total_jobs)
with

jobs as (
    select * from raw.run_reliability
),

snapshots as (
    select * from clean.snapshot
),

names as (
    select * from clean.resolved_name
)

select
    jobs.source,
    jobs.snapshot_id,
    jobs.row_number,
    jobs.publisher,
    names.canonical_id as chip_id,
    jobs.raw_chip_name,
    jobs.succeeded_jobs,
    jobs.total_jobs,
    case
        when snapshots.status = 'anomalous' then 'payload_anomalous'
        when jobs.succeeded_jobs < 0 or jobs.succeeded_jobs > jobs.total_jobs then 'more_succeeded_than_ran'
    end as reject_reason,
    jobs.day,
    coalesce(jobs.known_at, snapshots.observed_at) as known_at,
from jobs
inner join snapshots
    on jobs.source = snapshots.source
    and jobs.snapshot_id = snapshots.snapshot_id
left join names
    on names.domain = 'chip'
    and jobs.source = names.source
    and jobs.raw_chip_name = names.raw_name
    and names.memory_gb is null
