-- How many benchmark jobs of one chip succeeded on one day, over all runs of that day, as the newest look counts
-- them; one row per publisher, chip and day. A failed job may be the chip's fault or not: nothing here says which.
-- grain: publisher, chip_id, day
-- column: publisher | who published it
-- column: chip_id | the chip
-- column: day | day of the jobs; days without a job are no row
-- column: succeeded_jobs | jobs that succeeded
-- column: total_jobs | jobs that ran
-- column: succeeded_share | succeeded / total, 0 to 1
-- column: source | slug of the source
-- column: known_at | when the world could know this count
-- column: recorded_at | when we stored it
-- check: succeeded_jobs >= 0 and succeeded_jobs <= total_jobs
-- check: succeeded_share >= 0 and succeeded_share <= 1
with

jobs as (
    select * from core.known_run_reliability
)

select
    publisher,
    chip_id,
    day,
    succeeded_jobs,
    total_jobs,
    succeeded_jobs / total_jobs as succeeded_share,
    source,
    known_at,
    recorded_at,
from jobs
qualify row_number() over (
    partition by publisher, chip_id, day
    order by known_at desc, source_rank, run_reliability_id desc
) = 1
