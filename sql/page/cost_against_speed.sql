-- What does a million output tokens cost at each speed that a user sees?
-- The cheapest server of a chip that may be ranked and keeps the headline's limits, on the grid of speeds; a speed at
-- which none does is left out, and no line is drawn across it.
with

curves as (
    select *
    from mart.cost_at_speed
    where token_kind = 'output'
        and gpu_scope = 'all'
        and cost_allocation = 'whole_bill'
        and evidence = 'measured'
        and traffic_basis = 'benchmark'
        and eligible
        and not wide_bracket
        and usd_per_million_tokens is not null
),

parameters as (
    select
        max(case when parameter = 'max_ttft_p50_ms' then value end) as max_ttft_p50_ms,
        max(case when parameter = 'max_point_age_days' then value end) as max_point_age_days,
    from raw.method_parameter
    where method = 'headline' and version = 'v1'
),

grid as (
    select
        speed_tok_s_user,
        row_number() over (order by speed_tok_s_user) as step,
    from core.speed_grid
),

best as (
    select curves.*
    from curves
    cross join parameters
    where curves.ttft_p50_ms <= parameters.max_ttft_p50_ms
        and curves.benchmark_age_days <= parameters.max_point_age_days
    qualify row_number() over (
        partition by
            curves.model_id,
            curves.workload_id,
            curves.speed_percentile,
            curves.price_series_id,
            curves.chip_id,
            curves.speed_tok_s_user
        order by curves.usd_per_million_tokens, curves.frontier_id
    ) = 1
),

-- Neighbours on the grid share step minus place; what does not is another stretch.
stretches as (
    select
        best.*,
        grid.step - row_number() over (
            partition by
                best.model_id,
                best.workload_id,
                best.speed_percentile,
                best.price_series_id,
                best.chip_id
            order by best.speed_tok_s_user
        ) as stretch,
    from best
    inner join grid on best.speed_tok_s_user = grid.speed_tok_s_user
)

select
    model_id,
    workload_id,
    coalesce(speed_percentile, 'not stated') as speed_percentile,
    price_series_id,
    chip_id,
    speed_tok_s_user,
    precision,
    usd_per_million_tokens,
    usd_per_gpu_hour,
    price_age_days,
    throughput_tok_s_gpu,
    ttft_p50_ms / 1000 as ttft_p50_s,
    engine,
    position,
    benchmark_age_days,
    evidence,
    disclosure_score,
    concat(chip_id, ' ', cast(stretch as varchar)) as stretch,
from stretches
order by model_id, workload_id, speed_percentile, price_series_id, chip_id, speed_tok_s_user
