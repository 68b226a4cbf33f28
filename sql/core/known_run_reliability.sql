-- The counts of jobs that this run may know; one row per chip and day of a payload.
-- grain: run_reliability_id
with

jobs as (
    select * from core.run_reliability
),

run as (
    select * from core.run
)

select jobs.*
from jobs
cross join run
where jobs.known_at <= run.as_of
    and jobs.recorded_to is null
