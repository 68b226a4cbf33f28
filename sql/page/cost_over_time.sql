-- How has the cost of a million output tokens moved on each chip?
-- The cheapest point or server of the day that may be ranked, whatever its precision; only the days on which the cost
-- moved, began or ended. A stretch is a run of days without a gap, and no line crosses a gap.
with

daily as (
    select *
    from mart.cost_per_million_tokens_daily
    where token_kind = 'output'
        and gpu_scope = 'all'
        and cost_allocation = 'whole_bill'
        and evidence = 'measured'
        and traffic_basis = 'benchmark'
        and eligible
        and usd_per_million_tokens is not null
),

series as (
    select * from mart.price_series where price_basis <> 'provider_price'
),

best as (
    select daily.*
    from daily
    inner join series on daily.price_series_id = series.price_series_id
    qualify row_number() over (
        partition by
            daily.date,
            daily.model_id,
            daily.workload_id,
            daily.speed_percentile,
            daily.speed_tier,
            daily.price_series_id,
            daily.chip_id
        order by daily.usd_per_million_tokens, daily.precision, daily.benchmark_point_id
    ) = 1
),

beside as (
    select
        *,
        lag(date) over along as date_before,
        lag(usd_per_million_tokens) over along as usd_before,
        lead(date) over along as date_after,
    from best
    window along as (
        partition by model_id, workload_id, speed_percentile, speed_tier, price_series_id, chip_id
        order by date
    )
),

stretches as (
    select
        *,
        sum(case when date_before = date - 1 then 0 else 1 end) over (
            partition by model_id, workload_id, speed_percentile, speed_tier, price_series_id, chip_id
            order by date
        ) as stretch,
    from beside
)

select
    model_id,
    workload_id,
    coalesce(speed_percentile, 'not stated') as speed_percentile,
    speed_tier as speed,
    price_series_id,
    chip_id,
    date,
    precision,
    usd_per_million_tokens,
    usd_per_gpu_hour,
    price_age_days,
    throughput_tok_s_gpu,
    benchmark_age_days,
    evidence,
    concat(chip_id, ' ', cast(stretch as varchar)) as stretch,
from stretches
where usd_before is null
    or date_before <> date - 1
    or usd_before <> usd_per_million_tokens
    or date_after is null
    or date_after <> date + 1
order by model_id, workload_id, speed_percentile, speed_tier, price_series_id, chip_id, date
