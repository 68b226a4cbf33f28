-- One accuracy score as this run knows it: the latest attempt of its run, the latest statement of it; one row per
-- score.
-- grain: evaluation_id
with

results as (
    select * from core.known_evaluation_result
)

select *
from results
qualify row_number() over (
    partition by evaluation_id
    order by coalesce(attempt, 0) desc, known_at desc, source_rank, recorded_at desc, evaluation_result_id desc
) = 1
