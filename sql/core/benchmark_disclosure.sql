-- How much of what a benchmark must state a point does state, method v1; one row per point. Each field is worth
-- its points when it is stated, half of them when part of it is. A figure without its conditions is a signal, not
-- a number to price.
-- grain: benchmark_point_id
-- column: method_version | version of fields and weights
-- column: disclosure_score | 0 to 100
-- column: missing_fields | what is not stated, comma-separated; null: nothing
-- column: partial_fields | what is stated in part; null: nothing
-- column: failed_gates | missing fields without which a figure is never ranked; null: none
-- check: disclosure_score between 0 and 100
with

points as (
    select * from core.benchmark_point
),

weights as (
    select * from raw.disclosure_weight where version = 'v1'
),

accuracy as (
    select * from core.accuracy_gate
),

-- 1 stated, 0.5 in part, 0 not.
items as (
    select
        points.benchmark_point_id,
        weights.version,
        weights.field,
        weights.field_order,
        weights.weight,
        weights.is_gate,
        case weights.field
            when 'methodology'
                then case points.methodology when 'runnable' then 1.0 when 'described' then 0.5 else 0.0 end
            when 'measurement date'
                then case
                    when points.measured_on is null then 0.0
                    when coalesce(points.run_id, points.url) is not null then 1.0
                    else 0.5
                end
            when 'chip'
                then case
                    when points.chip_id like '%undisclosed%' then 0.0
                    when regexp_matches(
                        upper(points.raw_chip_name), '(SXM|PCIE|NVL|OAM).*[0-9]{2,3}|[0-9]{2,3} ?GB|NVL ?72'
                    )
                        then 1.0
                    else 0.5
                end
            when 'accelerator count'
                then case points.gpu_count_basis when 'stated' then 1.0 when 'inferred' then 0.5 else 0.0 end
            when 'prefill/decode split'
                then case
                    when not points.disaggregated then 1.0
                    when points.prefill_accelerator_count is not null
                        and points.decode_accelerator_count is not null
                        then 1.0
                    else 0.0
                end
            when 'model' then case when points.model_revision is not null then 1.0 else 0.5 end
            when 'parameter count'
                then case points.parameters_stated
                    when 'total_and_active' then 1.0
                    when 'total' then 0.5
                    else 0.0
                end
            when 'precision'
                then case
                    when points.weight_precision is null then 0.0
                    when points.kv_precision is not null then 1.0
                    else 0.5
                end
            when 'engine'
                then case
                    when points.engine is null then 0.0
                    when coalesce(points.engine_version, points.image) is not null then 1.0
                    else 0.5
                end
            when 'parallelism'
                then case
                    when points.tp is not null then 1.0
                    when points.ep is not null then 0.5
                    else 0.0
                end
            when 'concurrency'
                then case
                    when coalesce(points.concurrency, points.request_rate) is not null then 1.0
                    when points.arrival is not null then 1.0
                    when points.sequences_per_gpu is not null then 0.5
                    else 0.0
                end
            when 'input length'
                then case
                    when points.isl_mean is not null then 1.0
                    when points.isl_nominal is not null then 0.5
                    else 0.0
                end
            when 'output length'
                then case
                    when points.osl_mean is not null then 1.0
                    when points.osl_nominal is not null then 0.5
                    else 0.0
                end
            when 'dataset and cache hit rate'
                then case
                    when points.dataset is not null and points.cache_hit_rate is not null then 1.0
                    when points.dataset is not null or points.cache_hit_rate is not null then 0.5
                    else 0.0
                end
            when 'throughput'
                then case
                    when coalesce(
                        points.output_tok_s_gpu,
                        points.total_tok_s_gpu,
                        points.output_tok_s_decode_gpu,
                        points.output_tok_s,
                        points.total_tok_s
                    ) is not null
                        then 1.0
                    else 0.0
                end
            when 'speed per user'
                then case
                    when points.interactivity_tok_s_user is null then 0.0
                    when points.speed_percentile is null or points.speed_percentile = 'stated' then 0.5
                    else 1.0
                end
            when 'TTFT'
                then case
                    when points.ttft_p50_ms is null then 0.0
                    when points.ttft_p95_ms is not null and points.ttft_p99_ms is not null then 1.0
                    else 0.5
                end
            when 'speculative acceptance'
                then case
                    when points.speculative_method = 'none' then 1.0
                    when points.speculative_method is not null and points.acceptance_basis is not null then 1.0
                    when coalesce(points.speculative_method, points.acceptance_basis) is not null then 0.5
                    else 0.0
                end
            when 'accuracy'
                then case when coalesce(points.accuracy_value, accuracy.accuracy_value) is not null then 1.0 else 0.0 end
            when 'failures and duration'
                then case
                    when points.failed_requests is not null and points.duration_s is not null then 1.0
                    when points.failed_requests is not null or points.duration_s is not null then 0.5
                    else 0.0
                end
            when 'power'
                then case
                    when points.power_w_gpu is not null and points.power_kw_gpu_provisioned is not null then 1.0
                    when coalesce(points.power_w_gpu, points.power_kw_gpu_provisioned) is not null then 0.5
                    else 0.0
                end
            when 'independent verification' then case when points.independent then 1.0 else 0.0 end
        end as stated,
    from points
    cross join weights
    left join accuracy on points.benchmark_point_id = accuracy.benchmark_point_id
)

select
    benchmark_point_id,
    version as method_version,
    sum(weight * stated) as disclosure_score,
    string_agg(case when stated = 0 then field end, ', ' order by field_order) as missing_fields,
    string_agg(case when stated = 0.5 then field end, ', ' order by field_order) as partial_fields,
    string_agg(case when stated = 0 and is_gate then field end, ', ' order by field_order) as failed_gates,
from items
group by benchmark_point_id, version
