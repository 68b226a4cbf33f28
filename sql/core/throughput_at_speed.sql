-- What one server makes at a speed that its users see, read off its frontier, method v1; one row per serving line's
-- frontier, stretch of days and speed of the grid. Beyond what was measured there is no figure and the reason:
-- nothing is extended or clamped. Outside, only the tiers are listed.
-- grain: frontier_id, valid_from, speed_tok_s_user
-- column: throughput_tok_s_gpu | tokens per second per GPU of the scope; null: see position
-- column: position | measured, interpolated, below_range, above_range (unmeasured) or unreachable (beyond a stated ceiling)
-- column: below_point_id | the slower of the two points of the bracket; the point itself where it was measured
-- column: above_point_id | the faster of the two
-- column: bracket_speed_ratio | speed of the faster / of the slower
-- column: bracket_throughput_ratio | throughput of the slower / of the faster
-- column: wide_bracket | either ratio is above what the method trusts
-- column: eligible | both points of the bracket may be ranked; null: there is none
-- column: eligibility_reason | eligible, or the gate that one of them fails
-- column: ttft_p50_ms | time to first token, median, the longer of the two
-- column: disclosure_score | the lower of the two
-- column: passes_on | the terms of the publishers of both points, and outside of all points of the curve, let us pass it on
-- column: oldest_measured_from | day of the older of the two
-- column: method_version | version of the curve
-- check: (throughput_tok_s_gpu is null) = (position in ('below_range', 'above_range', 'unreachable'))
with

knots as (
    select * from core.frontier_knot where frontier_kind = 'serving_line'
),

grid as (
    select * from core.speed_grid
),

points as (
    select * from core.benchmark_point
),

run as (
    select * from core.run
),

ceilings as (
    select ceilings.*
    from raw.speed_ceiling as ceilings
    cross join run
    where ceilings.known_at <= run.as_of
),

parameters as (
    select
        max(case when parameter = 'max_bracket_speed_ratio' then value end) as max_bracket_speed_ratio,
        max(case when parameter = 'max_bracket_throughput_ratio' then value end) as max_bracket_throughput_ratio,
    from raw.method_parameter
    where method = 'frontier' and version = 'v1'
),

brackets as (
    select
        *,
        lead(benchmark_point_id) over along as next_point_id,
        lead(knot) over along as next_knot,
        lead(throughput_tok_s_gpu) over along as next_throughput_tok_s_gpu,
        lead(log_throughput) over along as next_log_throughput,
        lead(log_slope) over along as next_log_slope,
        lead(measured_from) over along as next_measured_from,
    from knots
    window along as (
        partition by frontier_id, valid_from
        order by knot
    )
),

placed as (
    select
        brackets.*,
        grid.speed_tok_s_user,
        grid.is_tier,
        (grid.speed_tok_s_user - brackets.interactivity_tok_s_user)
        / (brackets.next_interactivity_tok_s_user - brackets.interactivity_tok_s_user) as share,
        brackets.next_interactivity_tok_s_user - brackets.interactivity_tok_s_user as step,
    from brackets
    inner join grid
        on grid.speed_tok_s_user >= brackets.interactivity_tok_s_user
        and (
            grid.speed_tok_s_user = brackets.interactivity_tok_s_user
            -- In a copy that leaves out what may not be passed on, the next point there may not be the next one.
            or (
                grid.speed_tok_s_user < brackets.next_interactivity_tok_s_user
                and brackets.next_knot = brackets.knot + 1
            )
        )
),

inside as (
    select
        frontier_id,
        valid_from,
        speed_tok_s_user,
        is_tier,
        case when coalesce(share, 0) = 0 then 'measured' else 'interpolated' end as position,
        case
            when coalesce(share, 0) = 0 then throughput_tok_s_gpu
            else exp(
                (1 + 2 * share) * (1 - share) * (1 - share) * log_throughput
                + share * (1 - share) * (1 - share) * step * log_slope
                + share * share * (3 - 2 * share) * next_log_throughput
                + share * share * (share - 1) * step * next_log_slope
            )
        end as throughput_tok_s_gpu,
        benchmark_point_id as below_point_id,
        case when coalesce(share, 0) = 0 then benchmark_point_id else next_point_id end as above_point_id,
        case
            when coalesce(share, 0) = 0 then 1
            else next_interactivity_tok_s_user / interactivity_tok_s_user
        end as bracket_speed_ratio,
        case
            when coalesce(share, 0) = 0 then 1
            else throughput_tok_s_gpu / next_throughput_tok_s_gpu
        end as bracket_throughput_ratio,
        case
            when coalesce(share, 0) = 0 then measured_from
            else least(measured_from, next_measured_from)
        end as oldest_measured_from,
        cast(null as boolean) as whole_passes_on,
    from placed
),

ends as (
    select
        knots.frontier_id,
        knots.valid_from,
        min(knots.interactivity_tok_s_user) as slowest_tok_s_user,
        max(knots.interactivity_tok_s_user) as fastest_tok_s_user,
        min(ceilings.speed_ceiling_tok_s_user) as speed_ceiling_tok_s_user,
        min(knots.measured_from) as oldest_measured_from,
        min(case when points.passes_on then 1 else 0 end) = 1 as passes_on,
    from knots
    inner join points on knots.benchmark_point_id = points.benchmark_point_id
    left join ceilings
        on points.publisher = ceilings.publisher
        and starts_with(points.point_label, ceilings.point_label_prefix)
    group by knots.frontier_id, knots.valid_from
),

outside as (
    select
        ends.frontier_id,
        ends.valid_from,
        grid.speed_tok_s_user,
        grid.is_tier,
        case
            when grid.speed_tok_s_user < ends.slowest_tok_s_user then 'below_range'
            when grid.speed_tok_s_user > ends.speed_ceiling_tok_s_user then 'unreachable'
            else 'above_range'
        end as position,
        cast(null as double) as throughput_tok_s_gpu,
        cast(null as varchar) as below_point_id,
        cast(null as varchar) as above_point_id,
        cast(null as double) as bracket_speed_ratio,
        cast(null as double) as bracket_throughput_ratio,
        ends.oldest_measured_from,
        ends.passes_on as whole_passes_on,
    from ends
    inner join grid
        on grid.speed_tok_s_user < ends.slowest_tok_s_user
        or grid.speed_tok_s_user > ends.fastest_tok_s_user
    where grid.is_tier
        or grid.speed_tok_s_user > ends.speed_ceiling_tok_s_user
),

read_off as (
    select * from inside
    union all
    select * from outside
),

eligibility as (
    select * from core.benchmark_eligibility
),

disclosure as (
    select * from core.benchmark_disclosure
),

-- A figure between two points is as good as the worse of them.
judged as (
    select
        read_off.*,
        below_verdict.eligible and above_verdict.eligible as eligible,
        case
            when not below_verdict.eligible then below_verdict.eligibility_reason
            else above_verdict.eligibility_reason
        end as eligibility_reason,
        case
            when below_points.ttft_p50_ms is not null and above_points.ttft_p50_ms is not null
                then greatest(below_points.ttft_p50_ms, above_points.ttft_p50_ms)
        end as ttft_p50_ms,
        least(below_score.disclosure_score, above_score.disclosure_score) as disclosure_score,
        coalesce(read_off.whole_passes_on, below_points.passes_on and above_points.passes_on) as passes_on,
    from read_off
    left join eligibility as below_verdict on read_off.below_point_id = below_verdict.benchmark_point_id
    left join eligibility as above_verdict on read_off.above_point_id = above_verdict.benchmark_point_id
    left join points as below_points on read_off.below_point_id = below_points.benchmark_point_id
    left join points as above_points on read_off.above_point_id = above_points.benchmark_point_id
    left join disclosure as below_score on read_off.below_point_id = below_score.benchmark_point_id
    left join disclosure as above_score on read_off.above_point_id = above_score.benchmark_point_id
),

lines as (
    select distinct
        frontier_id,
        valid_from,
        valid_to,
        family_id,
        serving_line_id,
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
        live_traffic_factor,
    from knots
)

select
    lines.frontier_id,
    lines.family_id,
    lines.serving_line_id,
    lines.chip_id,
    lines.model_id,
    lines.precision,
    lines.workload_id,
    lines.engine,
    lines.traffic_basis,
    lines.speed_percentile,
    lines.token_kind,
    lines.gpu_scope,
    lines.cost_allocation,
    lines.evidence,
    lines.live_traffic_factor,
    judged.speed_tok_s_user,
    judged.is_tier,
    judged.throughput_tok_s_gpu,
    judged.position,
    case when judged.eligible then lines.evidence = 'measured' else judged.eligible end as eligible,
    case
        when judged.eligible and lines.evidence <> 'measured' then concat('evidence_is_', lines.evidence)
        else judged.eligibility_reason
    end as eligibility_reason,
    judged.ttft_p50_ms,
    judged.disclosure_score,
    judged.passes_on,
    judged.below_point_id,
    judged.above_point_id,
    judged.bracket_speed_ratio,
    judged.bracket_throughput_ratio,
    judged.bracket_speed_ratio > parameters.max_bracket_speed_ratio
    or judged.bracket_throughput_ratio > parameters.max_bracket_throughput_ratio as wide_bracket,
    'frontier-v1' as method_version,
    judged.oldest_measured_from,
    lines.valid_from,
    lines.valid_to,
from judged
inner join lines
    on judged.frontier_id = lines.frontier_id
    and judged.valid_from = lines.valid_from
cross join parameters
