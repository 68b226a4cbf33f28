-- One accuracy score as a source states it, with its names resolved and what is wrong with it; one row per raw row.
-- grain: source, snapshot_id, row_number
-- column: value | the score, 0 to 1
-- column: known_at | when the world could know it
-- column: reject_reason | why the score is not accepted; null: accepted
-- check: reject_reason is not null or (value >= 0 and value <= 1)
with

evaluations as (
    select * from raw.evaluation_result
),

snapshots as (
    select * from clean.snapshot
),

names as (
    select * from clean.resolved_name
)

select
    evaluations.source,
    evaluations.snapshot_id,
    evaluations.row_number,
    evaluations.publisher,
    evaluations.result_id,
    evaluations.run_id,
    evaluations.attempt,
    chip_names.canonical_id as chip_id,
    evaluations.raw_chip_name,
    model_names.canonical_id as model_id,
    evaluations.raw_model_name,
    evaluations.weight_precision,
    evaluations.engine,
    evaluations.image,
    evaluations.speculative_method,
    evaluations.disaggregated,
    evaluations.tp,
    evaluations.ep,
    evaluations.dp_attention,
    evaluations.workers,
    evaluations.prefill_tp,
    evaluations.prefill_ep,
    evaluations.prefill_dp_attention,
    evaluations.prefill_workers,
    evaluations.isl_nominal,
    evaluations.osl_nominal,
    evaluations.concurrency,
    lower(evaluations.task) as task,
    evaluations.metric,
    evaluations.value,
    evaluations.standard_error,
    evaluations.sample_count,
    case
        when snapshots.status = 'anomalous' then 'payload_anomalous'
        when evaluations.value < 0 or evaluations.value > 1 then 'score_is_no_share'
        when evaluations.standard_error < 0 then 'negative_standard_error'
    end as reject_reason,
    evaluations.url,
    evaluations.measured_on,
    coalesce(evaluations.known_at, snapshots.observed_at) as known_at,
from evaluations
inner join snapshots
    on evaluations.source = snapshots.source
    and evaluations.snapshot_id = snapshots.snapshot_id
left join names as chip_names
    on chip_names.domain = 'chip'
    and evaluations.source = chip_names.source
    and evaluations.raw_chip_name = chip_names.raw_name
    and chip_names.memory_gb is null
left join names as model_names
    on model_names.domain = 'model'
    and evaluations.source = model_names.source
    and evaluations.raw_model_name = model_names.raw_name
