-- One benchmark point as a source states it or a correction does, with GPU counts settled and throughputs in one form; one
-- row per raw row and version. A stated count wins; else tensor x pipeline x context ranks x replicas x workers. Expert
-- parallelism and data-parallel attention add no GPUs; attention of more replicas than ranks leaves the count unknown.
-- Ceilings are physics: two operations per active parameter and token, and the active weights read once per user's token.
-- grain: source, snapshot_id, row_number, corrected_by, version
-- column: gpu_count_basis | stated, inferred (from ranks, or a legacy split solved from throughputs) or unknown
-- column: node_fit | part_of_node, whole_nodes, or not_whole_nodes: GPUs that fill no number of nodes as rented; null: either is unknown
-- column: tflops_needed_gpu | dense TFLOPS per GPU that the uncached tokens of the point want at least; null: its model's parameters are unknown
-- column: tflops_ceiling_gpu | dense TFLOPS of the chip at the precision of the weights, the highest known where that is not stated
-- column: speed_ceiling_tok_s_user | speed at which all decode GPUs together would read the active weights once per accepted token
-- column: prefill_accelerator_count | GPUs of the prefill side; null when prefill and decode share GPUs
-- column: decode_accelerator_count | GPUs of the decode side; null when prefill and decode share GPUs
-- column: stated_output_tok_s | output tokens per second as the payload states them, on throughput_basis
-- column: stated_input_tok_s | input tokens per second as stated, on the same
-- column: stated_total_tok_s | all tokens per second as stated, on the same; per_role_gpu: over all GPUs
-- column: output_tok_s | output tokens per second of the whole deployment; null: its GPUs are unknown
-- column: output_tok_s_gpu | output tokens per second / all GPUs
-- column: output_tok_s_decode_gpu | output tokens per second / decode GPUs, disaggregated serving only
-- column: input_tok_s_prefill_gpu | input tokens per second / prefill GPUs, disaggregated serving only
-- column: reject_reason | why the point is not accepted; null: accepted
-- check: reject_reason is not null or accelerator_count is null or accelerator_count > 0
-- check: prefill_accelerator_count is null or disaggregated
with

results as (
    select * from clean.stated_benchmark_result
),

snapshots as (
    select * from clean.snapshot
),

names as (
    select * from clean.resolved_name
),

chips as (
    select * from raw.chip
),

models as (
    select * from raw.model
),

resolved as (
    select
        results.*,
        chip_names.canonical_id as chip_id,
        model_names.canonical_id as model_id,
        snapshots.observed_at as snapshot_observed_at,
        snapshots.status as payload_status,
        -- The identity that every disaggregated row obeys, (i P + o D) / (P + D) = t, solved for P where
        -- old rows state only P + D.
        case
            when results.disaggregated
                and results.throughput_basis = 'per_role_gpu'
                and results.prefill_accelerator_count is null
                and results.decode_accelerator_count is null
                and results.accelerator_count is not null
                and results.input_tok_s <> results.output_tok_s
                then results.accelerator_count * (results.total_tok_s - results.output_tok_s)
                    / (results.input_tok_s - results.output_tok_s)
        end as solved_prefill_count,
    from results
    inner join snapshots
        on results.source = snapshots.source
        and results.snapshot_id = snapshots.snapshot_id
    left join names as chip_names
        on chip_names.domain = 'chip'
        and results.source = chip_names.source
        and results.raw_chip_name = chip_names.raw_name
    left join names as model_names
        on model_names.domain = 'model'
        and results.source = model_names.source
        and results.raw_model_name = model_names.raw_name
),

split as (
    select
        *,
        case
            when abs(solved_prefill_count - round(solved_prefill_count)) < 0.01
                and round(solved_prefill_count) between 1 and accelerator_count - 1
                then cast(round(solved_prefill_count) as bigint)
        end as split_prefill_count,
    from resolved
),

-- The GPUs that ranks ask for, of a worker and of the whole. Where disaggregated, workers unsaid are unknown.
ranked as (
    select
        *,
        tp * coalesce(pp, 1) * coalesce(cp, 1) * coalesce(workers, 1)
        * case
            when not coalesce(dp_attention, false) then coalesce(dp, 1)
            when coalesce(dp, 1) <= tp then 1
        end as server_ranks,
        tp * coalesce(pp, 1) * coalesce(cp, 1) * workers
        * case
            when not coalesce(dp_attention, false) then coalesce(dp, 1)
            when coalesce(dp, 1) <= tp then 1
        end as decode_ranks,
        prefill_tp * coalesce(prefill_pp, 1) * prefill_workers
        * case
            when not coalesce(prefill_dp_attention, false) then coalesce(prefill_dp, 1)
            when coalesce(prefill_dp, 1) <= prefill_tp then 1
        end as prefill_ranks,
    from split
),

counted as (
    select
        *,
        case
            when not coalesce(disaggregated, false) then null
            when prefill_accelerator_count is not null then prefill_accelerator_count
            when split_prefill_count is not null then split_prefill_count
            else prefill_ranks
        end as prefill_gpus,
        case
            when not coalesce(disaggregated, false) then null
            when decode_accelerator_count is not null then decode_accelerator_count
            when split_prefill_count is not null then accelerator_count - split_prefill_count
            else decode_ranks
        end as decode_gpus,
        case when not coalesce(disaggregated, false) then server_ranks end as ranks,
    from ranked
),

scoped as (
    select
        *,
        coalesce(accelerator_count, prefill_gpus + decode_gpus, ranks) as gpus,
        case
            when accelerator_count is not null and split_prefill_count is null then 'stated'
            when disaggregated and prefill_accelerator_count is not null and decode_accelerator_count is not null
                then 'stated'
            when coalesce(accelerator_count, prefill_gpus + decode_gpus, ranks) is not null then 'inferred'
            else 'unknown'
        end as gpu_count_basis,
    from counted
),

totals as (
    select
        *,
        case throughput_basis
            when 'system' then output_tok_s
            when 'per_gpu' then output_tok_s * gpus
            when 'per_role_gpu' then output_tok_s * decode_gpus
        end as system_output_tok_s,
        case throughput_basis
            when 'system' then input_tok_s
            when 'per_gpu' then coalesce(input_tok_s, total_tok_s - output_tok_s) * gpus
            when 'per_role_gpu' then input_tok_s * prefill_gpus
        end as system_input_tok_s,
        case throughput_basis
            when 'system' then coalesce(total_tok_s, input_tok_s + output_tok_s)
            when 'per_gpu' then coalesce(total_tok_s, input_tok_s + output_tok_s) * gpus
            when 'per_role_gpu' then total_tok_s * gpus
        end as system_total_tok_s,
    from scoped
),

-- A stated per-GPU figure holds for its own scope even where the GPUs are not counted.
per_gpu as (
    select
        *,
        case throughput_basis
            when 'per_gpu' then output_tok_s
            else system_output_tok_s / gpus
        end as output_tok_s_gpu,
        case throughput_basis
            when 'per_gpu' then coalesce(input_tok_s, total_tok_s - output_tok_s)
            else system_input_tok_s / gpus
        end as input_tok_s_gpu,
        case throughput_basis
            when 'per_gpu' then coalesce(total_tok_s, input_tok_s + output_tok_s)
            when 'per_role_gpu' then total_tok_s
            else system_total_tok_s / gpus
        end as total_tok_s_gpu,
        case
            when not disaggregated then null
            when throughput_basis = 'per_role_gpu' then output_tok_s
            else system_output_tok_s / decode_gpus
        end as output_tok_s_decode_gpu,
        case
            when not disaggregated then null
            when throughput_basis = 'per_role_gpu' then input_tok_s
            else system_input_tok_s / prefill_gpus
        end as input_tok_s_prefill_gpu,
        -- Generated prompts of fixed length are computed unless a hit rate is stated; of others nobody knows.
        case
            when cache_hit_rate is not null then 1 - cache_hit_rate
            when starts_with(workload, 'fixed-') then 1
            else 0
        end as computed_input_share,
    from totals
),

physics as (
    select
        per_gpu.*,
        case
            when per_gpu.gpus is null or chips.node_gpu_count is null then null
            when per_gpu.gpus % chips.node_gpu_count = 0 then 'whole_nodes'
            when per_gpu.gpus < chips.node_gpu_count then 'part_of_node'
            else 'not_whole_nodes'
        end as node_fit,
        -- Where the roles have GPUs of their own, the busier role counts.
        case
            when models.active_parameters_decode_b is null or models.active_parameters_prefill_b is null then null
            when coalesce(per_gpu.output_tok_s_decode_gpu, per_gpu.input_tok_s_prefill_gpu) is not null
                then greatest(
                    coalesce(per_gpu.output_tok_s_decode_gpu, 0) * models.active_parameters_decode_b,
                    coalesce(per_gpu.input_tok_s_prefill_gpu, 0) * per_gpu.computed_input_share
                    * models.active_parameters_prefill_b
                ) * 2 / 1000
            when per_gpu.output_tok_s_gpu is not null
                then (
                    per_gpu.output_tok_s_gpu * models.active_parameters_decode_b
                    + coalesce(per_gpu.input_tok_s_gpu, 0) * per_gpu.computed_input_share
                    * models.active_parameters_prefill_b
                ) * 2 / 1000
            when per_gpu.total_tok_s_gpu is not null
                then per_gpu.total_tok_s_gpu * per_gpu.computed_input_share
                    * models.active_parameters_prefill_b * 2 / 1000
        end as tflops_needed_gpu,
        case
            when per_gpu.weight_precision in ('bf16', 'fp16') then chips.fp8_dense_tflops / 2
            when per_gpu.weight_precision in ('fp8', 'int8') then chips.fp8_dense_tflops
            else coalesce(chips.fp4_dense_tflops, chips.fp8_dense_tflops)
        end as tflops_ceiling_gpu,
        -- Half a byte a weight where the precision is not stated: the ceiling is then the highest that could be.
        case
            when per_gpu.speculative_method = 'none' or per_gpu.acceptance_length is not null
                then coalesce(per_gpu.decode_gpus, per_gpu.gpus) * chips.bandwidth_tb_s * 1000
                    / models.active_parameters_decode_b
                    / case
                        when per_gpu.weight_precision in ('bf16', 'fp16') then 2
                        when per_gpu.weight_precision in ('fp8', 'int8') then 1
                        else 0.5
                    end
                    * case when per_gpu.speculative_method = 'none' then 1 else per_gpu.acceptance_length end
        end as speed_ceiling_tok_s_user,
    from per_gpu
    left join chips on per_gpu.chip_id = chips.chip_id
    left join models on per_gpu.model_id = models.model_id
)

select
    source,
    snapshot_id,
    row_number,
    corrected_by,
    version,
    publisher,
    point_label,
    supersedes_label,
    result_id,
    run_id,
    attempt,
    chip_id,
    raw_chip_name,
    model_id,
    raw_model_name,
    model_revision,
    parameters_stated,
    weight_precision,
    kv_precision,
    engine,
    engine_version,
    image,
    release_status,
    tp,
    pp,
    cp,
    ep,
    dp,
    dp_attention,
    workers,
    prefill_tp,
    prefill_pp,
    prefill_ep,
    prefill_dp,
    prefill_dp_attention,
    prefill_workers,
    disaggregated,
    workload as workload_id,
    isl_nominal,
    osl_nominal,
    isl_mean,
    osl_mean,
    dataset,
    dataset_seed,
    cache_hit_rate,
    concurrency,
    request_rate,
    arrival,
    sequences_per_gpu,
    planned_requests,
    completed_requests,
    failed_requests,
    duration_s,
    gpus as accelerator_count,
    prefill_gpus as prefill_accelerator_count,
    decode_gpus as decode_accelerator_count,
    recorded_accelerator_count,
    provisioned_accelerator_count,
    gpu_count_basis,
    node_fit,
    tflops_needed_gpu,
    tflops_ceiling_gpu,
    speed_ceiling_tok_s_user,
    throughput_basis,
    output_tok_s as stated_output_tok_s,
    input_tok_s as stated_input_tok_s,
    total_tok_s as stated_total_tok_s,
    system_output_tok_s as output_tok_s,
    system_input_tok_s as input_tok_s,
    system_total_tok_s as total_tok_s,
    output_tok_s_gpu,
    input_tok_s_gpu,
    total_tok_s_gpu,
    output_tok_s_decode_gpu,
    input_tok_s_prefill_gpu,
    interactivity_tok_s_user,
    speed_percentile,
    ttft_p50_ms,
    ttft_p90_ms,
    ttft_p95_ms,
    ttft_p99_ms,
    tpot_p50_ms,
    tpot_p90_ms,
    tpot_p95_ms,
    tpot_p99_ms,
    itl_p50_ms,
    e2e_p50_ms,
    e2e_p99_ms,
    speculative_method,
    acceptance_length,
    acceptance_basis,
    accuracy_task,
    accuracy_value,
    power_w_gpu,
    power_kw_gpu_provisioned,
    traffic_basis,
    evidence,
    independent,
    methodology,
    claimed_cause,
    case
        when payload_status = 'anomalous' then 'payload_anomalous'
        when throughput_basis is null and coalesce(output_tok_s, input_tok_s, total_tok_s) is not null
            then 'throughput_without_basis'
        when coalesce(output_tok_s, input_tok_s, total_tok_s, interactivity_tok_s_user) is null then 'no_figure'
        when accelerator_count is not null
            and prefill_accelerator_count + decode_accelerator_count <> accelerator_count
            then 'gpu_counts_contradict'
        -- One per cent: a measured total that is not the sum of its own parts is another quantity.
        when abs(
            (input_tok_s * prefill_gpus + output_tok_s * decode_gpus) / (prefill_gpus + decode_gpus) / total_tok_s - 1
        ) > 0.01
            and throughput_basis = 'per_role_gpu'
            then 'roles_do_not_add_up'
        when throughput_basis <> 'per_role_gpu' and abs((input_tok_s + output_tok_s) / total_tok_s - 1) > 0.01
            then 'tokens_do_not_add_up'
        -- Every generation has a prompt: an output that is the total leaves none, and one of the two is another figure.
        when throughput_basis <> 'per_role_gpu' and (output_tok_s >= total_tok_s or input_tok_s > total_tok_s)
            then 'tokens_do_not_add_up'
        when accelerator_count > provisioned_accelerator_count then 'gpu_counts_contradict'
        -- A rank is on a GPU of its own; more GPUs than ranks are replicas that are not stated.
        when ranks > accelerator_count then 'gpu_counts_contradict'
        when disaggregated and prefill_ranks > prefill_accelerator_count then 'gpu_counts_contradict'
        when disaggregated and decode_ranks > decode_accelerator_count then 'gpu_counts_contradict'
        -- On an aggregated server they are the same GPUs, and on a disaggregated one they add up.
        when disaggregated is null
            and coalesce(prefill_accelerator_count, decode_accelerator_count, prefill_tp, prefill_workers) is not null
            then 'disaggregation_not_stated'
        when completed_requests = 0 and coalesce(output_tok_s, input_tok_s, total_tok_s) is not null
            then 'no_completed_requests'
        when completed_requests + coalesce(failed_requests, 0) > planned_requests then 'more_requests_than_planned'
        when cache_hit_rate < 0 or cache_hit_rate > 1 then 'cache_hit_rate_out_of_range'
        -- Outside, seconds stand under a name for milliseconds or the other way round.
        when tpot_p50_ms < 0.5 or tpot_p50_ms > 2000 then 'tpot_out_of_range'
        -- Nothing but a mock answers within a millisecond.
        when ttft_p50_ms < 1 and evidence <> 'assumed' then 'ttft_out_of_range'
        when abs(interactivity_tok_s_user * tpot_p50_ms / 1000 - 1) > 0.01 and speed_percentile = 'p50'
            then 'speed_is_not_reciprocal_of_tpot'
        when interactivity_tok_s_user < 0.5 or interactivity_tok_s_user > 2000 then 'speed_out_of_range'
        -- For chips and models of which no figures are known too: a token in three hours, ten million in a second.
        when output_tok_s_gpu not between 1e-4 and 1e7
            or input_tok_s_gpu not between 1e-4 and 1e7
            or total_tok_s_gpu not between 1e-4 and 1e7
            or output_tok_s_decode_gpu not between 1e-4 and 1e7
            or input_tok_s_prefill_gpu not between 1e-4 and 1e7
            then 'throughput_out_of_range'
        when tflops_needed_gpu > tflops_ceiling_gpu then 'above_flops_ceiling'
        when interactivity_tok_s_user > speed_ceiling_tok_s_user then 'above_bandwidth_ceiling'
    end as reject_reason,
    url,
    note,
    measured_on,
    published_on,
    date_precision,
    coalesce(known_at, snapshot_observed_at) as known_at,
from physics
