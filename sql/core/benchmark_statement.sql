-- One operating point with all that its payloads state together, the latest official statement winning field by field;
-- one row per point, those that were retracted too. Only the latest attempt of a run counts, and a point that a
-- fetched payload states leaves our own transcription of it aside.
-- grain: benchmark_point_id
-- column: line_id | what is compared over time: publisher, chip, model, precision, engine, speculation, GPUs, workload,
--    load, the state of the prefix cache where it is stated, the evidence class where it is not measured, and the traffic
--    where it is none of a benchmark
-- column: serving_line_id | one deployable server in one run: the line without its load, with its ranks and the run
-- column: measured_from | first day on which the point can be used: measured_on, else published_on
-- column: retracted_on | day on which its publisher or we withdrew it; null: it stands
-- column: retraction_known_at | when the world could know of that
-- check: measured_from is not null
-- check: (retracted_on is null) = (retraction_known_at is null)
with

results as (
    select * from core.known_benchmark_result
),

latest_attempt as (
    select
        *,
        -- A file of a branch mends no figure that its publisher put out itself.
        case when release_status = 'unofficial' then 1 else 0 end as is_unofficial,
    from results
    -- Of the official ones, where there are any: an attempt on a branch takes the place of none of them.
    qualify coalesce(attempt, 0) = coalesce(
            max(case when coalesce(release_status, '-') <> 'unofficial' then coalesce(attempt, 0) end)
                over (partition by benchmark_point_id),
            max(coalesce(attempt, 0)) over (partition by benchmark_point_id)
        )
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
        workload_id,
        isl_nominal,
        osl_nominal,
        concurrency,
        request_rate,
        load_point,
        cache_state,
        gpu_count_basis,
        node_fit,
        raw_chip_name,
        result_id,
        release_status,
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
        last_value(parameters_stated ignore nulls) over point_facts as parameters_stated,
        last_value(kv_precision ignore nulls) over point_facts as kv_precision,
        last_value(isl_mean ignore nulls) over point_facts as isl_mean,
        last_value(osl_mean ignore nulls) over point_facts as osl_mean,
        last_value(dataset ignore nulls) over point_facts as dataset,
        last_value(dataset_seed ignore nulls) over point_facts as dataset_seed,
        last_value(cache_hit_rate ignore nulls) over point_facts as cache_hit_rate,
        last_value(arrival ignore nulls) over point_facts as arrival,
        last_value(sequences_per_gpu ignore nulls) over point_facts as sequences_per_gpu,
        last_value(planned_requests ignore nulls) over point_facts as planned_requests,
        last_value(completed_requests ignore nulls) over point_facts as completed_requests,
        last_value(failed_requests ignore nulls) over point_facts as failed_requests,
        last_value(duration_s ignore nulls) over point_facts as duration_s,
        last_value(accelerator_count ignore nulls) over point_facts as accelerator_count,
        last_value(recorded_accelerator_count ignore nulls) over point_facts as recorded_accelerator_count,
        last_value(provisioned_accelerator_count ignore nulls) over point_facts as provisioned_accelerator_count,
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
        last_value(ttft_p95_ms ignore nulls) over point_facts as ttft_p95_ms,
        last_value(ttft_p99_ms ignore nulls) over point_facts as ttft_p99_ms,
        last_value(tpot_p50_ms ignore nulls) over point_facts as tpot_p50_ms,
        last_value(tpot_p90_ms ignore nulls) over point_facts as tpot_p90_ms,
        last_value(tpot_p95_ms ignore nulls) over point_facts as tpot_p95_ms,
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
        last_value(methodology ignore nulls) over point_facts as methodology,
        last_value(claimed_cause ignore nulls) over point_facts as claimed_cause,
        last_value(url ignore nulls) over point_facts as url,
        last_value(note ignore nulls) over point_facts as note,
        row_number() over (
            partition by benchmark_point_id
            order by is_unofficial, known_at desc, source_rank, recorded_at desc, benchmark_result_id desc
        ) as newest_rank,
    from latest_attempt
    window point_facts as (
        partition by benchmark_point_id
        -- A file that is imported again, with its conditions mended, has the moment of the first: the last word counts.
        order by is_unofficial desc, known_at, source_rank desc, recorded_at, benchmark_result_id
        rows between unbounded preceding and unbounded following
    )
),

corrections as (
    select * from core.known_correction
),

points as (
    select * from united where newest_rank = 1
),

-- A point may be named by itself, by its publisher's key or by its run; the first retraction of it counts.
retractions as (
    select
        points.benchmark_point_id,
        min(corrections.decided_on) as retracted_on,
        min(corrections.known_at) as retraction_known_at,
    from points
    inner join corrections
        on corrections.row_kind = 'benchmark_result'
        and corrections.action = 'retract'
        and corrections.locator in (
            points.benchmark_point_id,
            concat(points.publisher, '/run/', points.run_id),
            concat(points.publisher, '/result/', points.result_id)
        )
    group by points.benchmark_point_id
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
)

select
    points.benchmark_result_id,
    points.benchmark_point_id,
    points.config_id,
    points.source,
    points.source_rank,
    points.passes_on,
    points.publisher,
    points.point_label,
    points.supersedes_label,
    points.result_id,
    points.run_id,
    points.attempt,
    points.chip_id,
    points.model_id,
    points.raw_chip_name,
    points.weight_precision,
    points.engine,
    points.speculative_method,
    points.topology,
    points.parallelism,
    points.parallelism_stated,
    points.tp,
    points.pp,
    points.cp,
    points.ep,
    points.dp,
    points.dp_attention,
    points.workers,
    points.prefill_tp,
    points.prefill_pp,
    points.prefill_ep,
    points.prefill_dp,
    points.prefill_dp_attention,
    points.prefill_workers,
    points.disaggregated,
    points.workload_id,
    points.isl_nominal,
    points.osl_nominal,
    points.concurrency,
    points.request_rate,
    points.load_point,
    points.cache_state,
    points.gpu_count_basis,
    points.node_fit,
    points.traffic_basis,
    points.evidence,
    points.image,
    points.release_status,
    points.engine_version,
    points.model_revision,
    points.parameters_stated,
    points.kv_precision,
    points.isl_mean,
    points.osl_mean,
    points.dataset,
    points.dataset_seed,
    points.cache_hit_rate,
    points.arrival,
    points.sequences_per_gpu,
    points.planned_requests,
    points.completed_requests,
    points.failed_requests,
    points.duration_s,
    points.accelerator_count,
    points.recorded_accelerator_count,
    points.provisioned_accelerator_count,
    points.prefill_accelerator_count,
    points.decode_accelerator_count,
    points.output_tok_s,
    points.input_tok_s,
    points.total_tok_s,
    points.output_tok_s_gpu,
    points.input_tok_s_gpu,
    points.total_tok_s_gpu,
    points.output_tok_s_decode_gpu,
    points.input_tok_s_prefill_gpu,
    points.interactivity_tok_s_user,
    points.speed_percentile,
    points.ttft_p50_ms,
    points.ttft_p90_ms,
    points.ttft_p95_ms,
    points.ttft_p99_ms,
    points.tpot_p50_ms,
    points.tpot_p90_ms,
    points.tpot_p95_ms,
    points.tpot_p99_ms,
    points.itl_p50_ms,
    points.e2e_p50_ms,
    points.e2e_p99_ms,
    points.acceptance_length,
    points.acceptance_basis,
    points.accuracy_task,
    points.accuracy_value,
    points.power_w_gpu,
    points.power_kw_gpu_provisioned,
    points.independent,
    points.methodology,
    points.claimed_cause,
    points.url,
    points.note,
    points.measured_on,
    points.published_on,
    points.date_precision,
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
        points.load_point,
        -- Part of the key only where it is stated: most publishers say nothing of their cache.
        nullif(points.cache_state, 'unstated'),
        -- A claim does not supersede a measurement, whoever makes it.
        nullif(points.evidence, 'measured'),
        -- Nor does what was measured under other traffic.
        nullif(points.traffic_basis, 'benchmark')
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
        points.parallelism,
        points.workload_id,
        nullif(points.cache_state, 'unstated'),
        coalesce(points.run_id, cast(coalesce(points.measured_on, points.published_on) as varchar))
    ) as serving_line_id,
    retractions.retracted_on,
    retractions.retraction_known_at,
    points.known_at,
    points.recorded_at,
from points
left join retractions on points.benchmark_point_id = retractions.benchmark_point_id
left join outranked on points.benchmark_point_id = outranked.benchmark_point_id
where outranked.benchmark_point_id is null
