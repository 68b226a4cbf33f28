-- The benchmark results that this run may know; one row per result.
-- grain: benchmark_result_id
with

results as (
    select * from core.benchmark_result
),

run as (
    select * from core.run
)

select results.*
from results
cross join run
where results.known_at <= run.as_of
    and results.recorded_to is null
