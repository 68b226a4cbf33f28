-- One accepted note on a configuration as one payload states it, as a fact with its three times; one row per note
-- of a snapshot. A note without a resolved chip or model stays: it names its configuration.
-- grain: change_note_id
-- column: change_note_id | key: source, snapshot and row
-- column: note_id | key of the note: publisher, entry, configuration and words
-- column: recorded_to | moment that a newer version of a seed replaced it; null: in force
with

notes as (
    select * from clean.change_note
),

snapshots as (
    select * from clean.snapshot
)

select
    concat(notes.source, '/', notes.snapshot_id, '/', notes.row_number) as change_note_id,
    substr(md5(concat_ws('|', notes.publisher, notes.note_key, notes.config_key, notes.description)), 1, 16) as note_id,
    notes.*,
    snapshots.source_rank,
    snapshots.passes_on,
    snapshots.recorded_at,
    snapshots.recorded_to,
from notes
inner join snapshots
    on notes.source = snapshots.source
    and notes.snapshot_id = snapshots.snapshot_id
where notes.reject_reason is null
