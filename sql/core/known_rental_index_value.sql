-- The published values that this run may know; one row per value.
-- grain: index_value_id
with

published as (
    select * from core.rental_index_value
),

run as (
    select * from core.run
)

select published.*
from published
cross join run
where published.known_at <= run.as_of
    and published.recorded_to is null
