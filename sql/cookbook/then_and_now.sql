-- What did a decode GPU make then, what does it make now, and what do its tokens sell for?
-- V3 and R1 on H800 in February 2025 against V4.1-Flash on DeepInfer at its production point, under live traffic.
-- Revenue averages all GPUs, throughput decode GPUs: they are never multiplied. Prices are the developer's own.
with

asked as (
    select
        'v3-fleet-2025' as then_label,
        'ep64-241' as now_label,
        'v3-revenue-per-gpu-hour' as then_revenue,
        'v41-revenue-per-gpu-hour' as now_revenue,
        'deepseek-v3' as then_model,
        'standard' as then_tier,
        date '2025-02-28' as then_date,
        'deepseek-v4.1-flash' as now_model,
        'off_peak' as now_tier,
        date '2026-10-20' as now_date
),

points as (
    select distinct
        points.point_label,
        costs.throughput_live_tok_s_gpu,
        costs.interactivity_tok_s_user,
        costs.gpu_hours_per_billion_tokens_live,
    from mart.cost_per_million_tokens as costs
    inner join mart.benchmark_point as points
        on costs.benchmark_point_id = points.benchmark_point_id
        and costs.chip_id = points.chip_id
    where costs.gpu_scope = 'decode' and costs.token_kind = 'output'
),

measures as (
    select 1 as measure_order, 'output tokens/s per decode GPU' as measure, 'tokens/s' as unit,
        earlier.throughput_live_tok_s_gpu as then_value, later.throughput_live_tok_s_gpu as now_value,
    from asked
    inner join points as earlier on asked.then_label = earlier.point_label
    inner join points as later on asked.now_label = later.point_label

    union all

    select 2, 'output speed per user', 'tokens/s', earlier.interactivity_tok_s_user, later.interactivity_tok_s_user,
    from asked
    inner join points as earlier on asked.then_label = earlier.point_label
    inner join points as later on asked.now_label = later.point_label

    union all

    select 3, 'decode-GPU-hours per billion output tokens', 'GPU-hours',
        earlier.gpu_hours_per_billion_tokens_live, later.gpu_hours_per_billion_tokens_live,
    from asked
    inner join points as earlier on asked.then_label = earlier.point_label
    inner join points as later on asked.now_label = later.point_label

    union all

    select 4, 'revenue per GPU-hour, all GPUs', earlier.unit, earlier.value, later.value,
    from asked
    inner join mart.stated_value as earlier on asked.then_revenue = earlier.stated_value_id
    inner join mart.stated_value as later on asked.now_revenue = later.stated_value_id

    union all

    select 5, concat('price of ', later.token_kind), 'USD per million tokens',
        cast(earlier.usd_per_million_tokens as double), cast(later.usd_per_million_tokens as double),
    from asked
    inner join mart.token_price_daily as earlier
        on asked.then_model = earlier.model_id
        and asked.then_tier = earlier.tier
        and asked.then_date = earlier.date
    inner join mart.token_price_daily as later
        on asked.now_model = later.model_id
        and asked.now_tier = later.tier
        and asked.now_date = later.date
        and earlier.provider_id = later.provider_id
        and earlier.token_kind = later.token_kind
    inner join mart.provider as sellers on later.provider_id = sellers.provider_id
    where sellers.provider_class = 'model_developer'
)

select
    measure,
    unit,
    then_value,
    now_value,
    now_value / then_value as now_over_then_ratio,
    (now_value / then_value - 1) * 100 as change_percent,
from measures
order by measure_order, measure desc
