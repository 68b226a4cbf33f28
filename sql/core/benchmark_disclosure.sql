-- How much of what a benchmark must state a point does state, method v1; one row per point. Weights sum to
-- 100; a field stated in part counts half. A figure without its conditions is a signal, not a number to price.
-- grain: benchmark_point_id
-- column: disclosure_score | 0 to 100
-- column: missing_fields | what is not stated, comma-separated
-- check: disclosure_score between 0 and 100
with

points as (
    select * from core.benchmark_point
),

models as (
    select * from raw.model
),

-- 1 stated, 0.5 in part, 0 not.
stated as (
    select
        points.benchmark_point_id,
        case when points.evidence = 'measured' and points.url is not null then 1.0 else 0.0 end as methodology,
        case
            when points.measured_on is not null and points.run_id is not null then 1.0
            when points.measured_on is not null then 0.5
            else 0.0
        end as measurement_date,
        case when points.chip_id = 'blackwell-undisclosed' then 0.0 else 1.0 end as chip,
        case points.gpu_count_basis when 'stated' then 1.0 when 'inferred' then 0.5 else 0.0 end as accelerator_count,
        case
            when not points.disaggregated then 1.0
            when points.prefill_accelerator_count is not null and points.decode_accelerator_count is not null then 1.0
            else 0.0
        end as prefill_decode_split,
        case when points.model_revision is not null then 1.0 else 0.5 end as model_revision,
        case
            when models.parameters_b is not null and models.active_parameters_decode_b is not null then 1.0
            when models.parameters_b is not null then 0.5
            else 0.0
        end as parameter_count,
        case
            when points.weight_precision is not null and points.kv_precision is not null then 1.0
            when points.weight_precision is not null then 0.5
            else 0.0
        end as precision_stated,
        case
            when points.engine is not null and coalesce(points.engine_version, points.image) is not null then 1.0
            when points.engine is not null then 0.5
            else 0.0
        end as engine,
        case
            when points.tp is not null then 1.0
            when points.ep is not null then 0.5
            else 0.0
        end as parallelism,
        case
            when coalesce(points.concurrency, points.request_rate) is not null then 1.0
            when points.sequences_per_gpu is not null then 0.5
            else 0.0
        end as concurrency,
        case
            when points.isl_mean is not null and points.osl_mean is not null then 1.0
            when points.isl_nominal is not null and points.osl_nominal is not null then 0.5
            else 0.0
        end as token_lengths,
        case when points.cache_hit_rate is not null then 1.0 else 0.0 end as cache_hit_rate,
        case
            when coalesce(points.output_tok_s_gpu, points.total_tok_s_gpu, points.output_tok_s_decode_gpu) is not null
                then 1.0
            else 0.0
        end as throughput,
        case
            when points.interactivity_tok_s_user is null then 0.0
            when points.speed_percentile = 'stated' then 0.5
            else 1.0
        end as user_speed,
        case
            when points.ttft_p50_ms is not null and points.ttft_p99_ms is not null then 1.0
            when points.ttft_p50_ms is not null then 0.5
            else 0.0
        end as ttft,
        case
            when points.speculative_method = 'none' then 1.0
            when points.speculative_method is not null and points.acceptance_basis is not null then 1.0
            when coalesce(points.speculative_method, points.acceptance_basis) is not null then 0.5
            else 0.0
        end as speculation,
        case when points.accuracy_value is not null then 1.0 else 0.0 end as accuracy,
        case
            when points.failed_requests is not null and points.duration_s is not null then 1.0
            when coalesce(points.failed_requests, points.duration_s) is not null then 0.5
            else 0.0
        end as failures_and_duration,
        case when coalesce(points.power_w_gpu, points.power_kw_gpu_provisioned) is not null then 1.0 else 0.0 end as power,
        case when points.independent then 1.0 else 0.0 end as independent_run,
    from points
    inner join models on points.model_id = models.model_id
)

select
    benchmark_point_id,
    cast(
        8 * methodology + 5 * measurement_date + 5 * chip + 6 * accelerator_count + 4 * prefill_decode_split
        + 4 * model_revision + 2 * parameter_count + 6 * precision_stated + 6 * engine + 4 * parallelism
        + 6 * concurrency + 6 * token_lengths + 5 * cache_hit_rate + 7 * throughput + 4 * user_speed + 5 * ttft
        + 6 * speculation + 4 * accuracy + 3 * failures_and_duration + 2 * power + 2 * independent_run
        as double
    ) as disclosure_score,
    concat_ws(
        ', ',
        case when methodology = 0 then 'methodology' end,
        case when measurement_date = 0 then 'measurement date' end,
        case when chip = 0 then 'chip' end,
        case when accelerator_count = 0 then 'accelerator count' end,
        case when prefill_decode_split = 0 then 'prefill/decode split' end,
        case when parameter_count = 0 then 'parameter count' end,
        case when precision_stated = 0 then 'precision' end,
        case when engine = 0 then 'engine' end,
        case when parallelism = 0 then 'parallelism' end,
        case when concurrency = 0 then 'concurrency' end,
        case when token_lengths = 0 then 'input and output length' end,
        case when cache_hit_rate = 0 then 'cache hit rate' end,
        case when throughput = 0 then 'throughput' end,
        case when user_speed = 0 then 'speed per user' end,
        case when ttft = 0 then 'TTFT' end,
        case when speculation = 0 then 'speculative acceptance' end,
        case when accuracy = 0 then 'accuracy' end,
        case when failures_and_duration = 0 then 'failures and duration' end,
        case when power = 0 then 'power' end,
        case when independent_run = 0 then 'independent verification' end
    ) as missing_fields,
from stated
