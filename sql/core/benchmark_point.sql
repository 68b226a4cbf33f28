-- One benchmark point as this run knows it: what its payloads state together, the latest statement winning
-- field by field; one row per point. Only the latest attempt of a run counts, and a point that a fetched
-- payload states leaves our own transcription of it aside.
-- grain: benchmark_point_id
-- column: line_id | what is compared over time: publisher, chip, model, precision, engine, speculation, GPUs, workload, load
-- column: serving_line_id | one deployable server in one run: the line without its load, with the run
-- column: measured_from | first day on which the point can be used: measured_on, else published_on
-- column: superseded_on | day of the next point of the same line; null: the newest
-- check: measured_from is not null
with

results as (
    select * from core.known_benchmark_result
),

latest_attempt as (
    select *
    from results
    qualify coalesce(attempt, 0) = max(coalesce(attempt, 0)) over (partition by benchmark_point_id)
),

united as (
    select
        benchmark_result_id,
        benchmark_point_id,
        config_id,
        source,
        source_rank,
        passes_on,
        publisher,
        point_label,
        supersedes_label,
        run_id,
        attempt,
        chip_id,
        model_id,
        weight_precision,
        engine,
        speculative_method,
        topology,
        parallelism,
        parallelism_stated,
        tp,
        pp,
        cp,
        ep,
        dp_attention,
        workers,
        prefill_tp,
        prefill_pp,
        prefill_ep,
        prefill_dp_attention,
        prefill_workers,
        disaggregated,
        workload_id,
        isl_nominal,
        osl_nominal,
        concurrency,
        request_rate,
        load_point,
        gpu_count_basis,
        traffic_basis,
        evidence,
        measured_on,
        published_on,
        date_precision,
        known_at,
        recorded_at,
        last_value(image ignore nulls) over point_facts as image,
        last_value(engine_version ignore nulls) over point_facts as engine_version,
        last_value(model_revision ignore nulls) over point_facts as model_revision,
        last_value(kv_precision ignore nulls) over point_facts as kv_precision,
        last_value(isl_mean ignore nulls) over point_facts as isl_mean,
        last_value(osl_mean ignore nulls) over point_facts as osl_mean,
        last_value(cache_hit_rate ignore nulls) over point_facts as cache_hit_rate,
        last_value(sequences_per_gpu ignore nulls) over point_facts as sequences_per_gpu,
        last_value(completed_requests ignore nulls) over point_facts as completed_requests,
        last_value(failed_requests ignore nulls) over point_facts as failed_requests,
        last_value(duration_s ignore nulls) over point_facts as duration_s,
        last_value(accelerator_count ignore nulls) over point_facts as accelerator_count,
        last_value(prefill_accelerator_count ignore nulls) over point_facts as prefill_accelerator_count,
        last_value(decode_accelerator_count ignore nulls) over point_facts as decode_accelerator_count,
        last_value(output_tok_s ignore nulls) over point_facts as output_tok_s,
        last_value(input_tok_s ignore nulls) over point_facts as input_tok_s,
        last_value(total_tok_s ignore nulls) over point_facts as total_tok_s,
        last_value(output_tok_s_gpu ignore nulls) over point_facts as output_tok_s_gpu,
        last_value(input_tok_s_gpu ignore nulls) over point_facts as input_tok_s_gpu,
        last_value(total_tok_s_gpu ignore nulls) over point_facts as total_tok_s_gpu,
        last_value(output_tok_s_decode_gpu ignore nulls) over point_facts as output_tok_s_decode_gpu,
        last_value(input_tok_s_prefill_gpu ignore nulls) over point_facts as input_tok_s_prefill_gpu,
        last_value(interactivity_tok_s_user ignore nulls) over point_facts as interactivity_tok_s_user,
        last_value(speed_percentile ignore nulls) over point_facts as speed_percentile,
        last_value(ttft_p50_ms ignore nulls) over point_facts as ttft_p50_ms,
        last_value(ttft_p90_ms ignore nulls) over point_facts as ttft_p90_ms,
        last_value(ttft_p99_ms ignore nulls) over point_facts as ttft_p99_ms,
        last_value(tpot_p50_ms ignore nulls) over point_facts as tpot_p50_ms,
        last_value(tpot_p90_ms ignore nulls) over point_facts as tpot_p90_ms,
        last_value(tpot_p99_ms ignore nulls) over point_facts as tpot_p99_ms,
        last_value(itl_p50_ms ignore nulls) over point_facts as itl_p50_ms,
        last_value(e2e_p50_ms ignore nulls) over point_facts as e2e_p50_ms,
        last_value(e2e_p99_ms ignore nulls) over point_facts as e2e_p99_ms,
        last_value(acceptance_length ignore nulls) over point_facts as acceptance_length,
        last_value(acceptance_basis ignore nulls) over point_facts as acceptance_basis,
        last_value(accuracy_task ignore nulls) over point_facts as accuracy_task,
        last_value(accuracy_value ignore nulls) over point_facts as accuracy_value,
        last_value(power_w_gpu ignore nulls) over point_facts as power_w_gpu,
        last_value(power_kw_gpu_provisioned ignore nulls) over point_facts as power_kw_gpu_provisioned,
        last_value(independent ignore nulls) over point_facts as independent,
        last_value(claimed_cause ignore nulls) over point_facts as claimed_cause,
        last_value(url ignore nulls) over point_facts as url,
        last_value(note ignore nulls) over point_facts as note,
        row_number() over (
            partition by benchmark_point_id
            order by known_at desc, source_rank, benchmark_result_id desc
        ) as newest_rank,
    from latest_attempt
    window point_facts as (
        partition by benchmark_point_id
        order by known_at, source_rank desc, benchmark_result_id
        rows between unbounded preceding and unbounded following
    )
),

points as (
    select * from united where newest_rank = 1
),

-- Where a better-ranked source holds the same run and load, a transcription of it is not a second point.
outranked as (
    select distinct typed.benchmark_point_id
    from points as typed
    inner join points as fetched
        on typed.publisher = fetched.publisher
        and typed.run_id = fetched.run_id
        and typed.chip_id = fetched.chip_id
        and typed.model_id = fetched.model_id
        and typed.workload_id = fetched.workload_id
        and typed.load_point = fetched.load_point
        and typed.topology = fetched.topology
        and coalesce(typed.weight_precision, '-') = coalesce(fetched.weight_precision, '-')
        and coalesce(typed.engine, '-') = coalesce(fetched.engine, '-')
        and coalesce(typed.speculative_method, '-') = coalesce(fetched.speculative_method, '-')
        and typed.source_rank > fetched.source_rank
),

lined as (
    select
        points.*,
        coalesce(points.measured_on, points.published_on) as measured_from,
        concat_ws(
            '/',
            points.publisher,
            points.chip_id,
            points.model_id,
            coalesce(points.weight_precision, '-'),
            coalesce(points.engine, '-'),
            coalesce(points.speculative_method, '-'),
            points.topology,
            points.workload_id,
            points.load_point
        ) as line_id,
        concat_ws(
            '/',
            points.publisher,
            points.chip_id,
            points.model_id,
            coalesce(points.weight_precision, '-'),
            coalesce(points.engine, '-'),
            coalesce(points.speculative_method, '-'),
            points.topology,
            points.workload_id,
            coalesce(points.run_id, cast(coalesce(points.measured_on, points.published_on) as varchar))
        ) as serving_line_id,
    from points
    left join outranked on points.benchmark_point_id = outranked.benchmark_point_id
    where outranked.benchmark_point_id is null
),

successors as (
    select
        publisher,
        supersedes_label,
        min(coalesce(measured_on, published_on)) as superseded_on,
    from points
    where supersedes_label is not null
    group by publisher, supersedes_label
)

select
    lined.benchmark_result_id,
    lined.benchmark_point_id,
    lined.config_id,
    lined.source,
    lined.source_rank,
    lined.passes_on,
    lined.publisher,
    lined.point_label,
    lined.supersedes_label,
    lined.run_id,
    lined.attempt,
    lined.chip_id,
    lined.model_id,
    lined.weight_precision,
    lined.engine,
    lined.speculative_method,
    lined.topology,
    lined.parallelism,
    lined.parallelism_stated,
    lined.tp,
    lined.pp,
    lined.cp,
    lined.ep,
    lined.dp_attention,
    lined.workers,
    lined.prefill_tp,
    lined.prefill_pp,
    lined.prefill_ep,
    lined.prefill_dp_attention,
    lined.prefill_workers,
    lined.disaggregated,
    lined.workload_id,
    lined.isl_nominal,
    lined.osl_nominal,
    lined.concurrency,
    lined.request_rate,
    lined.load_point,
    lined.gpu_count_basis,
    lined.traffic_basis,
    lined.evidence,
    lined.line_id,
    lined.serving_line_id,
    lined.image,
    lined.engine_version,
    lined.model_revision,
    lined.kv_precision,
    lined.isl_mean,
    lined.osl_mean,
    lined.cache_hit_rate,
    lined.sequences_per_gpu,
    lined.completed_requests,
    lined.failed_requests,
    lined.duration_s,
    lined.accelerator_count,
    lined.prefill_accelerator_count,
    lined.decode_accelerator_count,
    lined.output_tok_s,
    lined.input_tok_s,
    lined.total_tok_s,
    lined.output_tok_s_gpu,
    lined.input_tok_s_gpu,
    lined.total_tok_s_gpu,
    lined.output_tok_s_decode_gpu,
    lined.input_tok_s_prefill_gpu,
    lined.interactivity_tok_s_user,
    lined.speed_percentile,
    lined.ttft_p50_ms,
    lined.ttft_p90_ms,
    lined.ttft_p99_ms,
    lined.tpot_p50_ms,
    lined.tpot_p90_ms,
    lined.tpot_p99_ms,
    lined.itl_p50_ms,
    lined.e2e_p50_ms,
    lined.e2e_p99_ms,
    lined.acceptance_length,
    lined.acceptance_basis,
    lined.accuracy_task,
    lined.accuracy_value,
    lined.power_w_gpu,
    lined.power_kw_gpu_provisioned,
    lined.independent,
    lined.claimed_cause,
    lined.url,
    lined.note,
    lined.measured_on,
    lined.published_on,
    lined.date_precision,
    lined.measured_from,
    coalesce(
        successors.superseded_on,
        lead(lined.measured_from) over (
            partition by lined.line_id
            order by
                lined.measured_from,
                try_cast(lined.run_id as bigint) nulls first,
                lined.known_at,
                lined.benchmark_point_id
        )
    ) as superseded_on,
    lined.known_at,
    lined.recorded_at,
from lined
left join successors
    on lined.publisher = successors.publisher
    and lined.point_label = successors.supersedes_label
