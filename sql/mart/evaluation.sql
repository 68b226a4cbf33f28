-- One accuracy score of one served configuration as it is known now; one row per score. It says whether a speed
-- was bought with accuracy, and is no speed itself.
-- grain: evaluation_id
-- column: evaluation_id | key
-- column: publisher | who published it
-- column: run_id | the run that measured it
-- column: chip_id | the chip
-- column: model_id | the model
-- column: precision | precision of the weights
-- column: engine | serving engine
-- column: speculative_method | speculative decoding; null: unknown
-- column: disaggregated | prefill and decode run on different GPUs
-- column: tp | tensor-parallel ranks of the server; of one decode worker when disaggregated
-- column: ep | expert-parallel ranks of the same
-- column: dp_attention | data-parallel attention of the same
-- column: workers | replicas of the server; decode workers when disaggregated
-- column: prefill_tp | tensor-parallel ranks of one prefill worker when disaggregated
-- column: prefill_ep | expert-parallel ranks of the same
-- column: prefill_dp_attention | data-parallel attention of the same
-- column: prefill_workers | prefill workers
-- column: isl_nominal | nominal input tokens of the speed runs that it belongs to; null: not stated
-- column: osl_nominal | nominal output tokens of the same
-- column: concurrency | requests in flight
-- column: task | the evaluation, in small letters
-- column: metric | which of its scores; score repeats the publisher's first one
-- column: value | the score, 0 to 1
-- column: standard_error | its standard error as stated
-- column: sample_count | questions asked
-- column: source | slug of the source
-- column: url | run link or page
-- column: measured_on | day of measurement
-- column: known_at | when the world could know it
-- column: recorded_at | when we stored it
-- check: value >= 0 and value <= 1
with

evaluations as (
    select * from core.evaluation
)

select
    evaluation_id,
    publisher,
    run_id,
    chip_id,
    model_id,
    weight_precision as precision,
    engine,
    speculative_method,
    disaggregated,
    tp,
    ep,
    dp_attention,
    workers,
    prefill_tp,
    prefill_ep,
    prefill_dp_attention,
    prefill_workers,
    isl_nominal,
    osl_nominal,
    concurrency,
    task,
    metric,
    value,
    standard_error,
    sample_count,
    source,
    url,
    measured_on,
    known_at,
    recorded_at,
from evaluations
