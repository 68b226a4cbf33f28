-- Whether a point may enter a ranking, and why not; one row per point. The only place that decides it.
-- grain: benchmark_point_id
-- column: eligible | the point may be ranked against others of its family
-- column: eligibility_reason | eligible, or the first gate that it fails
-- check: eligible = (eligibility_reason = 'eligible')
with

points as (
    select * from core.benchmark_point
),

parameters as (
    select max(value) as max_ttft_p50_ms
    from raw.method_parameter
    where method = 'headline' and version = 'v1' and parameter = 'max_ttft_p50_ms'
),

judged as (
    select
        points.benchmark_point_id,
        case
            when points.evidence <> 'measured' then concat('evidence_is_', points.evidence)
            when points.traffic_basis <> 'benchmark' then concat('traffic_is_', points.traffic_basis)
            when coalesce(points.output_tok_s_gpu, points.total_tok_s_gpu, points.output_tok_s_decode_gpu) is null
                then 'no_throughput'
            when points.weight_precision is null then 'precision_unknown'
            when points.gpu_count_basis = 'unknown' then 'gpu_count_unknown'
            when points.acceptance_basis = 'synthetic' then 'synthetic_acceptance'
            when points.interactivity_tok_s_user is null then 'speed_unknown'
            when points.ttft_p50_ms is null then 'ttft_unknown'
            when points.ttft_p50_ms > parameters.max_ttft_p50_ms then 'ttft_above_limit'
            else 'eligible'
        end as eligibility_reason,
    from points
    cross join parameters
)

select
    benchmark_point_id,
    eligibility_reason = 'eligible' as eligible,
    eligibility_reason,
from judged
