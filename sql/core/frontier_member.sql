-- One point that stands in one frontier during one stretch of days; one row per frontier, stretch and point. A
-- frontier is that of a serving line (one deployable server in one run) or of a family (all that is comparable).
-- Within a stretch nothing of the frontier's points comes, goes or is superseded: a sparse new run replaces what it
-- measured again and hides nothing else, and no curve joins loads of two runs.
-- grain: frontier_id, valid_from, benchmark_point_id
-- column: frontier_kind | serving_line or family
-- column: frontier_id | key: the family, and for a serving line its server and run
-- column: family_id | chip, model, precision, workload, token kind, GPU scope, allocation, evidence, traffic and speed percentile
-- column: evidence | measured, vendor_claim, derived (what was read off a chart included) or assumed: never blended
-- column: interactivity_tok_s_user | output speed that one user sees
-- column: throughput_tok_s_gpu | tokens per second per GPU of the scope
-- column: valid_from | first day of the stretch
-- column: valid_to | first day after it; null: open
-- check: valid_to is null or valid_to > valid_from
with

views as (
    select * from core.benchmark_view where throughput_tok_s_gpu is not null
),

points as (
    select * from core.benchmark_point where interactivity_tok_s_user is not null
),

read_points as (
    select
        points.benchmark_point_id,
        concat_ws(
            '/',
            views.chip_id,
            points.model_id,
            coalesce(points.weight_precision, '-'),
            points.workload_id,
            views.token_kind,
            views.gpu_scope,
            views.cost_allocation,
            case when views.evidence = 'read_off_chart' then 'derived' else views.evidence end,
            points.traffic_basis,
            coalesce(points.speed_percentile, '-')
        ) as family_id,
        points.serving_line_id,
        views.chip_id,
        points.model_id,
        points.weight_precision as precision,
        points.workload_id,
        points.engine,
        points.traffic_basis,
        points.speed_percentile,
        views.token_kind,
        views.gpu_scope,
        views.cost_allocation,
        -- A curve read off a chart is in part worked out from the text beside it: the whole is of the weaker class.
        case when views.evidence = 'read_off_chart' then 'derived' else views.evidence end as evidence,
        points.interactivity_tok_s_user,
        views.throughput_tok_s_gpu,
        views.live_traffic_factor,
        points.measured_from,
        points.superseded_on,
    from views
    inner join points on views.benchmark_point_id = points.benchmark_point_id
    -- A point that was superseded on its own day never stood.
    where points.superseded_on is null or points.superseded_on > points.measured_from
),

members as (
    select
        'family' as frontier_kind,
        family_id as frontier_id,
        read_points.*,
    from read_points

    union all

    select
        'serving_line' as frontier_kind,
        concat(family_id, ' of ', serving_line_id) as frontier_id,
        read_points.*,
    from read_points
),

edges as (
    select frontier_id, measured_from as edge from members
    union
    select frontier_id, superseded_on as edge from members where superseded_on is not null
),

stretches as (
    select
        frontier_id,
        edge as valid_from,
        lead(edge) over (partition by frontier_id order by edge) as valid_to,
    from edges
)

select
    members.frontier_kind,
    members.frontier_id,
    members.family_id,
    members.serving_line_id,
    members.benchmark_point_id,
    members.chip_id,
    members.model_id,
    members.precision,
    members.workload_id,
    members.engine,
    members.traffic_basis,
    members.speed_percentile,
    members.token_kind,
    members.gpu_scope,
    members.cost_allocation,
    members.evidence,
    members.interactivity_tok_s_user,
    members.throughput_tok_s_gpu,
    members.live_traffic_factor,
    members.measured_from,
    stretches.valid_from,
    stretches.valid_to,
from members
inner join stretches
    on members.frontier_id = stretches.frontier_id
    and members.measured_from <= stretches.valid_from
    and (members.superseded_on is null or members.superseded_on > stretches.valid_from)
