-- The scores that this run may know; one row per score of a payload.
-- grain: evaluation_result_id
with

scores as (
    select * from core.evaluation_result
),

run as (
    select * from core.run
)

select scores.*
from scores
cross join run
where scores.known_at <= run.as_of
    and scores.recorded_to is null
