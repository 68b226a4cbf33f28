-- The looks at payloads that this run may know; one row per snapshot and moment.
-- grain: source, snapshot_id, observed_at
with

sightings as (
    select * from core.sighting
),

run as (
    select * from core.run
)

select sightings.*
from sightings
cross join run
where sightings.known_at <= run.as_of
    and sightings.recorded_to is null
