-- One undominated point of a frontier, with the slope of the curve through it, method v1; one row per frontier,
-- stretch of days and point. Undominated: no other point of the frontier is as fast for its users and makes as
-- much, and better in one. The curve is Steffen's monotone cubic on the logarithm of throughput; at the ends the
-- slope is (3 x secant - neighbour's slope) / 2, as in InferenceX's charts.
-- grain: frontier_id, valid_from, benchmark_point_id
-- column: knot | place on the curve, 1 is the slowest
-- column: knots | points on the curve
-- column: log_throughput | natural logarithm of throughput_tok_s_gpu
-- column: log_slope | slope of the curve there, per tok/s of interactivity; null: a frontier of one point has no curve
-- column: next_interactivity_tok_s_user | speed of the next faster point of the curve; null: the fastest
-- check: (log_slope is null) = (knots = 1)
-- check: log_slope is null or log_slope <= 0
with

members as (
    select * from core.frontier_member
),

faster as (
    select
        *,
        max(throughput_tok_s_gpu) over (
            partition by frontier_id, valid_from
            order by interactivity_tok_s_user desc, throughput_tok_s_gpu desc, benchmark_point_id
            rows between unbounded preceding and 1 preceding
        ) as most_of_faster,
    from members
),

undominated as (
    select
        *,
        ln(throughput_tok_s_gpu) as log_throughput,
        row_number() over along as knot,
        count(*) over (partition by frontier_id, valid_from) as knots,
        lead(interactivity_tok_s_user) over along as next_interactivity_tok_s_user,
        (lead(ln(throughput_tok_s_gpu)) over along - ln(throughput_tok_s_gpu))
        / (lead(interactivity_tok_s_user) over along - interactivity_tok_s_user) as secant,
    from faster
    where most_of_faster is null
        or throughput_tok_s_gpu > most_of_faster
    window along as (
        partition by frontier_id, valid_from
        order by interactivity_tok_s_user
    )
),

spaced as (
    select
        *,
        next_interactivity_tok_s_user - interactivity_tok_s_user as step,
        lag(secant) over along as secant_before,
        lag(next_interactivity_tok_s_user - interactivity_tok_s_user) over along as step_before,
    from undominated
    window along as (
        partition by frontier_id, valid_from
        order by knot
    )
),

-- All secants fall, so both signs are minus one: the slope is twice the flattest of the three, downwards.
inner_slopes as (
    select
        *,
        case
            when secant is not null and secant_before is not null
                then -2 * least(
                    -secant_before,
                    -secant,
                    -0.5 * (secant_before * step + secant * step_before) / (step_before + step)
                )
        end as inner_slope,
    from spaced
),

neighbours as (
    select
        *,
        lag(inner_slope) over along as slope_before,
        lead(inner_slope) over along as slope_after,
    from inner_slopes
    window along as (
        partition by frontier_id, valid_from
        order by knot
    )
)

select
    frontier_kind,
    frontier_id,
    family_id,
    serving_line_id,
    benchmark_point_id,
    chip_id,
    model_id,
    precision,
    workload_id,
    engine,
    traffic_basis,
    speed_percentile,
    token_kind,
    gpu_scope,
    cost_allocation,
    evidence,
    knot,
    knots,
    interactivity_tok_s_user,
    throughput_tok_s_gpu,
    log_throughput,
    case
        when knots = 1 then null
        -- Between two points alone the curve is a line.
        when knots = 2 then coalesce(secant, secant_before)
        when knot = 1 then (3 * secant - slope_after) / 2
        when knot = knots then (3 * secant_before - slope_before) / 2
        else inner_slope
    end as log_slope,
    live_traffic_factor,
    next_interactivity_tok_s_user,
    measured_from,
    valid_from,
    valid_to,
from neighbours
