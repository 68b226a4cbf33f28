-- One accepted accuracy score as one payload states it, as a fact with its three times; one row per score of a
-- snapshot. The same score stated by several payloads shares an evaluation_id.
-- grain: evaluation_result_id
-- column: evaluation_result_id | key: source, snapshot and row
-- column: evaluation_id | key of the score: who published it, its own key or the run and configuration, task and metric
-- column: recorded_to | moment that a newer version of a seed replaced it; null: in force
with

evaluations as (
    select * from clean.evaluation_result
),

snapshots as (
    select * from clean.snapshot
)

select
    concat(evaluations.source, '/', evaluations.snapshot_id, '/', evaluations.row_number) as evaluation_result_id,
    substr(
        md5(
            concat_ws(
                '|',
                evaluations.publisher,
                coalesce(evaluations.result_id, '-'),
                coalesce(evaluations.run_id, cast(evaluations.measured_on as varchar)),
                evaluations.chip_id,
                evaluations.model_id,
                coalesce(evaluations.weight_precision, '-'),
                coalesce(evaluations.engine, '-'),
                coalesce(evaluations.speculative_method, '-'),
                coalesce(cast(evaluations.disaggregated as varchar), '-'),
                coalesce(cast(evaluations.tp as varchar), '-'),
                coalesce(cast(evaluations.ep as varchar), '-'),
                coalesce(cast(evaluations.dp_attention as varchar), '-'),
                coalesce(cast(evaluations.workers as varchar), '-'),
                coalesce(cast(evaluations.prefill_tp as varchar), '-'),
                coalesce(cast(evaluations.prefill_ep as varchar), '-'),
                coalesce(cast(evaluations.prefill_dp_attention as varchar), '-'),
                coalesce(cast(evaluations.prefill_workers as varchar), '-'),
                coalesce(cast(evaluations.isl_nominal as varchar), '-'),
                coalesce(cast(evaluations.osl_nominal as varchar), '-'),
                coalesce(cast(evaluations.concurrency as varchar), '-'),
                evaluations.task,
                evaluations.metric
            )
        ),
        1,
        16
    ) as evaluation_id,
    evaluations.*,
    snapshots.source_rank,
    snapshots.passes_on,
    snapshots.recorded_at,
    snapshots.recorded_to,
from evaluations
inner join snapshots
    on evaluations.source = snapshots.source
    and evaluations.snapshot_id = snapshots.snapshot_id
where evaluations.reject_reason is null
    and evaluations.chip_id is not null
    and evaluations.model_id is not null
