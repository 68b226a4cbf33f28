-- One note of a publisher on one of its configurations, with the chip and model that its name says resolved; one
-- row per raw row.
-- grain: source, snapshot_id, row_number
-- column: chip_id | the chip; null: the configuration's name says none, or one that nobody knows
-- column: model_id | the model; null likewise
-- column: known_at | when the world could know it
-- column: reject_reason | why the note is not accepted; null: accepted
with

notes as (
    select * from raw.change_note
),

snapshots as (
    select * from clean.snapshot
),

names as (
    select * from clean.resolved_name
)

select
    notes.source,
    notes.snapshot_id,
    notes.row_number,
    notes.publisher,
    notes.note_key,
    notes.config_key,
    chip_names.canonical_id as chip_id,
    notes.raw_chip_name,
    model_names.canonical_id as model_id,
    notes.raw_model_name,
    notes.description,
    notes.run_id,
    case when snapshots.status = 'anomalous' then 'payload_anomalous' end as reject_reason,
    notes.url,
    notes.changed_on,
    coalesce(notes.known_at, snapshots.observed_at) as known_at,
from notes
inner join snapshots
    on notes.source = snapshots.source
    and notes.snapshot_id = snapshots.snapshot_id
left join names as chip_names
    on chip_names.domain = 'chip'
    and notes.source = chip_names.source
    and notes.raw_chip_name = chip_names.raw_name
    and chip_names.memory_gb is null
left join names as model_names
    on model_names.domain = 'model'
    and notes.source = model_names.source
    and notes.raw_model_name = model_names.raw_name
