-- Whether a point may enter a ranking and the measured frontier, and why not; one row per point. The only place
-- that decides it. The limit on time to first token is no gate here: it belongs to a comparison at equal speed,
-- and the cost at greatest throughput is a floor, shown with the TTFT that it was bought with.
-- grain: benchmark_point_id
-- column: eligible | the point may be ranked against others of its family
-- column: eligibility_reason | eligible, or the first gate that it fails
-- column: flags | what does not bar it and must be seen beside it, comma-separated; null: nothing
-- check: eligible = (eligibility_reason = 'eligible')
with

points as (
    select * from core.benchmark_point
),

disclosure as (
    select * from core.benchmark_disclosure
),

accuracy as (
    select * from core.accuracy_gate
),

parameters as (
    select max(case when parameter = 'min_success_share' then value end) as min_success_share,
    from raw.method_parameter
    where method = 'eligibility' and version = 'v1'
),

-- The same generated prompts on the same server again: a prefix cache may answer them.
repeated as (
    select
        benchmark_point_id,
        row_number() over (
            partition by publisher, chip_id, model_id, engine, topology, dataset, dataset_seed
            order by measured_from, known_at, benchmark_point_id
        ) > 1 as is_repeated_seed,
    from points
    where dataset_seed is not null
),

success as (
    select
        benchmark_point_id,
        -- Where only the failures are counted, at most the others succeeded.
        coalesce(completed_requests, planned_requests - failed_requests)
        / coalesce(planned_requests, completed_requests + failed_requests) as success_share,
    from points
    where coalesce(planned_requests, completed_requests + failed_requests) > 0
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
            when disclosure.failed_gates is not null then 'disclosure_gate_failed'
            when points.workload_id = 'unstated' then 'workload_unstated'
            when points.cache_state = 'warm' then 'warm_prefix_cache'
            when points.acceptance_basis in ('synthetic', 'assumed')
                then concat(points.acceptance_basis, '_acceptance')
            when coalesce(points.speculative_method, 'none') <> 'none' and points.acceptance_basis is null
                then 'acceptance_not_labelled'
            when points.release_status in ('preview', 'internal', 'unofficial') then concat('release_is_', points.release_status)
            when success.success_share < parameters.min_success_share then 'success_share_low'
            when accuracy.accuracy_fallen then 'accuracy_fallen'
            when points.interactivity_tok_s_user is null then 'speed_unknown'
            else 'eligible'
        end as eligibility_reason,
        concat_ws(
            ', ',
            case when points.gpu_count_basis = 'inferred' then 'GPU count inferred' end,
            case when points.node_fit = 'not_whole_nodes' then 'GPUs fill no whole nodes' end,
            case
                when points.provisioned_accelerator_count > points.accelerator_count then 'idle GPUs not counted'
            end,
            case when success.success_share is null then 'success share unknown' end,
            case
                when repeated.is_repeated_seed and points.cache_hit_rate is null
                    then 'cache hit rate unknown on repeated prompts'
            end,
            case when points.speculative_method is null then 'speculation unknown' end,
            case when points.acceptance_basis = 'measured' then 'real speculative acceptance' end,
            case when points.image is null then 'image unknown' end,
            case when coalesce(points.accuracy_value, accuracy.accuracy_value) is null then 'accuracy unknown' end
        ) as flags,
    from points
    inner join disclosure on points.benchmark_point_id = disclosure.benchmark_point_id
    left join accuracy on points.benchmark_point_id = accuracy.benchmark_point_id
    left join success on points.benchmark_point_id = success.benchmark_point_id
    left join repeated on points.benchmark_point_id = repeated.benchmark_point_id
    cross join parameters
)

select
    benchmark_point_id,
    eligibility_reason = 'eligible' as eligible,
    eligibility_reason,
    nullif(flags, '') as flags,
from judged
