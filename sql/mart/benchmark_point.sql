-- One operating point as it is known now, with its conditions; one row per point.
-- grain: benchmark_point_id
-- column: benchmark_point_id | key
-- column: line_id | what is compared over time: publisher, chip, model, precision, engine, speculation, GPUs, workload, load
-- column: serving_line_id | one deployable server in one run
-- column: config_id | key of how it was served
-- column: publisher | who published it
-- column: point_label | the publisher's own name of the point
-- column: run_id | run that measured it
-- column: chip_id | the chip
-- column: model_id | the model
-- column: engine | serving engine
-- column: engine_version | its version
-- column: image | its container image
-- column: release_status | available, preview or unofficial, as its publisher says; null: not stated
-- column: precision | precision of the weights
-- column: kv_precision | precision of the KV cache
-- column: workload_id | the workload
-- column: load_point | what fixes the load: c<concurrency>, r<request rate>, or a label
-- column: disaggregated | prefill and decode run on different GPUs
-- column: accelerator_count | GPUs of the deployment
-- column: prefill_accelerator_count | GPUs of its prefill side
-- column: decode_accelerator_count | GPUs of its decode side
-- column: provisioned_accelerator_count | GPUs that the system holds, idle ones included, where stated apart
-- column: gpu_count_basis | stated, inferred or unknown
-- column: gpu_count_difference | how the publisher's own record of its GPUs differs from ours, and why; null: it does not, or there is none
-- column: node_fit | part_of_node, whole_nodes or not_whole_nodes of the chip as rented; null: unknown
-- column: speculative_method | speculative decoding; null: unknown
-- column: acceptance_basis | measured, synthetic or assumed acceptance
-- column: acceptance_length | tokens accepted per verification step
-- column: concurrency | requests in flight
-- column: request_rate | requests per second offered
-- column: planned_requests | requests that were to be sent
-- column: completed_requests | requests that succeeded
-- column: failed_requests | requests that failed; null: unknown
-- column: isl_mean | actual mean input tokens per request
-- column: osl_mean | actual mean output tokens per request
-- column: cache_hit_rate | share of input tokens that hit a prefix cache
-- column: cache_state | cold, warm or unstated; each is a series of its own
-- column: sequences_per_gpu | sequences in flight per GPU, as stated
-- column: output_tok_s_gpu | output tokens per second / all GPUs
-- column: input_tok_s_gpu | input tokens per second / all GPUs
-- column: uncached_input_tok_s_gpu | input tokens per second / all GPUs, without those that hit a cache; null: no hit rate is stated
-- column: total_tok_s_gpu | input plus output tokens per second / all GPUs
-- column: output_tok_s_decode_gpu | output tokens per second / decode GPUs, disaggregated serving only
-- column: input_tok_s_prefill_gpu | input tokens per second / prefill GPUs, disaggregated serving only
-- column: interactivity_tok_s_user | output speed that one user sees: 1 / TPOT
-- column: speed_percentile | which user that is
-- column: ttft_p50_ms | time to first token, median
-- column: ttft_p99_ms | time to first token, 99th percentile
-- column: tpot_p50_ms | time per output token without the first, median
-- column: tpot_p99_ms | the same, 99th percentile
-- column: traffic_basis | benchmark, replay or live
-- column: evidence | measured, vendor_claim, read_off_chart, derived or assumed
-- column: independent | measured by someone other than the vendor
-- column: disclosure_score | 0 to 100: how much of what must be stated is stated
-- column: missing_fields | what is not stated
-- column: eligible | may be ranked
-- column: eligibility_reason | eligible, or the first gate that it fails
-- column: flags | what does not bar it and must be seen beside it; null: nothing
-- column: claimed_cause | what the publisher says made it move
-- column: source | slug of the source
-- column: url | run link or page
-- column: note | what a reader must know
-- column: measured_on | day of measurement; null: not stated
-- column: published_on | day of publication
-- column: date_precision | how precise measured_on is: day, month or unknown
-- column: superseded_on | day of the next point of the line; null: the newest
-- column: known_at | when the world could know it
-- column: recorded_at | when we stored it
with

points as (
    select * from core.benchmark_point
),

disclosure as (
    select * from core.benchmark_disclosure
),

eligibility as (
    select * from core.benchmark_eligibility
)

select
    points.benchmark_point_id,
    points.line_id,
    points.serving_line_id,
    points.config_id,
    points.publisher,
    points.point_label,
    points.run_id,
    points.chip_id,
    points.model_id,
    points.engine,
    points.engine_version,
    points.image,
    points.release_status,
    points.weight_precision as precision,
    points.kv_precision,
    points.workload_id,
    points.load_point,
    points.disaggregated,
    points.accelerator_count,
    points.prefill_accelerator_count,
    points.decode_accelerator_count,
    points.provisioned_accelerator_count,
    points.gpu_count_basis,
    case
        when points.recorded_accelerator_count = points.accelerator_count then null
        when points.recorded_accelerator_count = points.tp * points.ep
            then concat(
                'recorded as ',
                points.recorded_accelerator_count,
                ' GPUs, tensor x expert ranks: experts share the tensor ranks, so there are ',
                points.accelerator_count
            )
        when points.recorded_accelerator_count is not null
            then concat('recorded as ', points.recorded_accelerator_count, ' GPUs, by its ranks ', points.accelerator_count)
    end as gpu_count_difference,
    points.node_fit,
    points.speculative_method,
    points.acceptance_basis,
    points.acceptance_length,
    points.concurrency,
    points.request_rate,
    points.planned_requests,
    points.completed_requests,
    points.failed_requests,
    points.isl_mean,
    points.osl_mean,
    points.cache_hit_rate,
    points.cache_state,
    points.sequences_per_gpu,
    points.output_tok_s_gpu,
    points.input_tok_s_gpu,
    points.input_tok_s_gpu * (1 - points.cache_hit_rate) as uncached_input_tok_s_gpu,
    points.total_tok_s_gpu,
    points.output_tok_s_decode_gpu,
    points.input_tok_s_prefill_gpu,
    points.interactivity_tok_s_user,
    points.speed_percentile,
    points.ttft_p50_ms,
    points.ttft_p99_ms,
    points.tpot_p50_ms,
    points.tpot_p99_ms,
    points.traffic_basis,
    points.evidence,
    points.independent,
    disclosure.disclosure_score,
    disclosure.missing_fields,
    eligibility.eligible,
    eligibility.eligibility_reason,
    eligibility.flags,
    points.claimed_cause,
    points.source,
    points.url,
    points.note,
    points.measured_on,
    points.published_on,
    points.date_precision,
    points.superseded_on,
    points.known_at,
    points.recorded_at,
from points
inner join disclosure on points.benchmark_point_id = disclosure.benchmark_point_id
inner join eligibility on points.benchmark_point_id = eligibility.benchmark_point_id
