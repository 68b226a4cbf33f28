-- Whether a point may enter a ranking, and why not; one row per point. The only place that decides it. The
-- limit on time to first token is no gate here: it belongs to a comparison at equal speed, and the cost at
-- greatest throughput is a floor, shown with the TTFT that it was bought with.
-- grain: benchmark_point_id
-- column: eligible | the point may be ranked against others of its family
-- column: eligibility_reason | eligible, or the first gate that it fails
-- check: eligible = (eligibility_reason = 'eligible')
with

points as (
    select * from core.benchmark_point
),

judged as (
    select
        points.benchmark_point_id,
        case
            when points.evidence <> 'measured' then concat('evidence_is_', points.evidence)
            when points.traffic_basis <> 'benchmark' then concat('traffic_is_', points.traffic_basis)
            when coalesce(points.output_tok_s_gpu, points.total_tok_s_gpu, points.output_tok_s_decode_gpu) is null
                then 'no_throughput'
            when points.output_tok_s_gpu is null then 'output_not_stated'
            when points.weight_precision is null then 'precision_unknown'
            when points.gpu_count_basis = 'unknown' then 'gpu_count_unknown'
            when points.acceptance_basis = 'synthetic' then 'synthetic_acceptance'
            when points.interactivity_tok_s_user is null then 'speed_unknown'
            else 'eligible'
        end as eligibility_reason,
    from points
)

select
    benchmark_point_id,
    eligibility_reason = 'eligible' as eligible,
    eligibility_reason,
from judged
