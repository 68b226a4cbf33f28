-- The server of a family that makes most at a headline speed, over time; one row per family, tier and stretch of days.
-- Servers that may be ranked come first, until their points are too old to be. A family that was not measured around
-- a tier has no row: what is out of range is told by the cost at speed.
-- grain: family_id, speed_tok_s_user, valid_from
-- column: rankable | both points of the bracket may be ranked, the bracket is narrow, the points are not too old
-- column: unranked_reason | why not; null: it may
-- column: valid_from | first day of the stretch
-- column: valid_to | first day after it; null: open
with

curves as (
    select * from core.throughput_at_speed where is_tier and throughput_tok_s_gpu is not null
),

parameters as (
    select max(value) as max_point_age_days
    from raw.method_parameter
    where method = 'headline' and version = 'v1' and parameter = 'max_point_age_days'
),

aged as (
    select
        curves.*,
        curves.oldest_measured_from + cast(parameters.max_point_age_days as integer) + 1 as too_old_from,
    from curves
    cross join parameters
),

edges as (
    select family_id, speed_tok_s_user, valid_from as edge from aged
    union
    select family_id, speed_tok_s_user, valid_to as edge from aged where valid_to is not null
    union
    select family_id, speed_tok_s_user, too_old_from as edge
    from aged
    where valid_to is null or too_old_from < valid_to
),

stretches as (
    select
        family_id,
        speed_tok_s_user,
        edge as stretch_from,
        lead(edge) over (partition by family_id, speed_tok_s_user order by edge) as stretch_to,
    from edges
),

standing as (
    select
        aged.*,
        stretches.stretch_from,
        stretches.stretch_to,
        case
            when not aged.eligible then aged.eligibility_reason
            when aged.wide_bracket then 'wide_bracket'
            when stretches.stretch_from >= aged.too_old_from then 'point_too_old'
        end as unranked_reason,
    from stretches
    inner join aged
        on stretches.family_id = aged.family_id
        and stretches.speed_tok_s_user = aged.speed_tok_s_user
        and stretches.stretch_from >= aged.valid_from
        and (aged.valid_to is null or stretches.stretch_from < aged.valid_to)
)

select
    family_id,
    frontier_id,
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
    speed_tok_s_user,
    throughput_tok_s_gpu,
    position,
    below_point_id,
    above_point_id,
    ttft_p50_ms,
    disclosure_score,
    unranked_reason is null as rankable,
    unranked_reason,
    oldest_measured_from,
    stretch_from as valid_from,
    stretch_to as valid_to,
from standing
qualify row_number() over (
    partition by family_id, speed_tok_s_user, stretch_from
    order by unranked_reason is null desc, throughput_tok_s_gpu desc, frontier_id
) = 1
