-- One correction or retraction of stored facts, as a fact with its three times; one row per correction of a
-- snapshot.
-- grain: correction_id
-- column: correction_id | key: source, snapshot and row
-- column: locator | which facts it speaks of
-- column: action | retract: they leave current views
-- column: recorded_to | moment that a newer version of a seed replaced it; null: in force
with

corrections as (
    select * from raw.correction
),

snapshots as (
    select * from clean.snapshot
)

select
    concat(corrections.source, '/', corrections.snapshot_id, '/', corrections.row_number) as correction_id,
    corrections.source,
    corrections.snapshot_id,
    corrections.row_number,
    corrections.row_kind,
    corrections.locator,
    corrections.action,
    corrections.reason,
    corrections.url,
    corrections.decided_on,
    coalesce(corrections.known_at, snapshots.observed_at) as known_at,
    snapshots.recorded_at,
    snapshots.recorded_to,
from corrections
inner join snapshots
    on corrections.source = snapshots.source
    and corrections.snapshot_id = snapshots.snapshot_id
