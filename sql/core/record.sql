-- One stored record of a day's headline yields, also one that could not be read; one row per stored record.
-- grain: record_id
-- column: record_id | id of its snapshot
-- column: date | UTC day that it is of
-- column: status | loaded, or why not: refused, damaged, failed
-- column: reason | why it was not loaded
-- column: recorded_late | written after its day was over
-- column: as_of | moment up to which its facts were known
-- column: known_at | moment that it was written, before which nobody could read it; where its sidecar is damaged, the moment that it shows
-- column: recorded_at | moment that it was written; null: its sidecar is damaged
-- column: recorded_to | always null: a record is written once
with

snapshots as (
    select * from raw.snapshot where source = 'record'
)

select
    snapshot_id as record_id,
    cast(observed_at at time zone 'UTC' as date) as date,
    status,
    reason,
    cast(recorded_at at time zone 'UTC' as date) > cast(observed_at at time zone 'UTC' as date) as recorded_late,
    observed_at as as_of,
    coalesce(recorded_at, observed_at) as known_at,
    recorded_at,
    cast(null as timestamptz) as recorded_to,
from snapshots
