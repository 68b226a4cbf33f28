-- The corrections that this run may know; one row per correction.
-- grain: correction_id
with

corrections as (
    select * from core.correction
),

run as (
    select * from core.run
)

select corrections.*
from corrections
cross join run
where corrections.known_at <= run.as_of
    and corrections.recorded_to is null
