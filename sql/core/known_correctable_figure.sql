-- The statements of corrected figures that this run may know; one row per raw row, locator and field.
-- grain: row_kind, locator, field, source, snapshot_id, row_number
with

figures as (
    select * from clean.correctable_figure
),

run as (
    select * from core.run
)

select figures.*
from figures
cross join run
where figures.known_at <= run.as_of
    and figures.recorded_to is null
