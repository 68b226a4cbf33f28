-- The notes on changes that this run may know; one row per note of a payload.
-- grain: change_note_id
with

notes as (
    select * from core.change_note
),

run as (
    select * from core.run
)

select notes.*
from notes
cross join run
where notes.known_at <= run.as_of
    and notes.recorded_to is null
