-- One look at a loaded payload, the first and every later one, as a fact; one row per snapshot and moment.
-- Kept apart from the quotes, so that what was seen later never changes what was recorded before.
-- grain: source, snapshot_id, observed_at
-- column: observed_at | moment at which the payload was seen
-- column: recorded_to | moment that a newer version of a seed replaced the payload; null: in force
with

snapshots as (
    select * from clean.snapshot where status = 'loaded'
),

looks as (
    select source, snapshot_id, observed_at, recorded_at from raw.snapshot
    union all
    select source, snapshot_id, observed_at, recorded_at from raw.sighting
)

select
    snapshots.source,
    snapshots.snapshot_id,
    snapshots.slice,
    looks.observed_at,
    looks.observed_at as known_at,
    min(looks.recorded_at) as recorded_at,
    snapshots.recorded_to,
from looks
inner join snapshots
    on looks.source = snapshots.source
    and looks.snapshot_id = snapshots.snapshot_id
group by snapshots.source, snapshots.snapshot_id, snapshots.slice, looks.observed_at, snapshots.recorded_to
