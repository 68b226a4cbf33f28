-- What do a million output tokens cost on each chip at each speed, on every price series?
-- One row per comparison, speed, price series, chip and precision; no speed means the point of greatest throughput.
-- Ranks of a speed are those of the mart; those of the greatest throughput follow the rule of the headline.
with

cheapest as (
    select * from mart.cheapest_at_speed where traffic_basis = 'benchmark'
),

daily as (
    select *
    from mart.cost_per_million_tokens_daily
    where token_kind = 'output'
        and gpu_scope = 'all'
        and cost_allocation = 'whole_bill'
        and evidence = 'measured'
        and traffic_basis = 'benchmark'
        and speed_tier = 'max_throughput'
),

series as (
    select * from mart.price_series where price_basis <> 'provider_price'
),

points as (
    select * from mart.benchmark_point
),

run as (
    select cast(as_of at time zone 'UTC' as date) as today from core.run
),

at_most as (
    select
        daily.*,
        coalesce(
            daily.null_reason,
            case when not daily.eligible then daily.eligibility_reason end
        ) as unranked_reason,
    from daily
    inner join series on daily.price_series_id = series.price_series_id
    inner join run on daily.date = run.today
),

answers as (
    select
        model_id,
        workload_id,
        speed_percentile,
        cast(cast(speed_tok_s_user as integer) as varchar) as speed,
        price_series_id,
        chip_id,
        precision,
        rank,
        unranked_reason,
        distinguishable,
        usd_per_million_tokens,
        uncertainty_share,
        price_band_share,
        usd_per_gpu_hour,
        price_age_days,
        throughput_tok_s_gpu,
        speed_tok_s_user as interactivity_tok_s_user,
        position,
        ttft_p50_ms,
        engine,
        benchmark_age_days,
        disclosure_score,
        below_point_id as point_id,
        above_point_id,
        method_version,
    from cheapest

    union all

    select
        model_id,
        workload_id,
        speed_percentile,
        'max_throughput' as speed,
        price_series_id,
        chip_id,
        precision,
        case
            when unranked_reason is null then rank() over (
                partition by model_id, workload_id, speed_percentile, price_series_id, unranked_reason
                order by usd_per_million_tokens
            )
        end as rank,
        unranked_reason,
        cast(null as boolean) as distinguishable,
        usd_per_million_tokens,
        cast(null as double) as uncertainty_share,
        cast(null as double) as price_band_share,
        usd_per_gpu_hour,
        price_age_days,
        throughput_tok_s_gpu,
        interactivity_tok_s_user,
        position,
        ttft_p50_ms,
        engine,
        benchmark_age_days,
        disclosure_score,
        benchmark_point_id as point_id,
        above_point_id,
        method_version,
    from at_most
)

select
    answers.model_id,
    answers.workload_id,
    coalesce(answers.speed_percentile, 'not stated') as speed_percentile,
    answers.speed,
    answers.price_series_id,
    answers.chip_id,
    answers.precision,
    answers.rank,
    answers.unranked_reason,
    answers.distinguishable,
    answers.usd_per_million_tokens,
    answers.uncertainty_share,
    answers.price_band_share,
    answers.usd_per_gpu_hour,
    run.today - cast(answers.price_age_days as integer) as priced_on,
    answers.price_age_days,
    answers.throughput_tok_s_gpu,
    answers.interactivity_tok_s_user,
    answers.ttft_p50_ms / 1000 as ttft_p50_s,
    answers.position,
    answers.engine,
    run.today - cast(answers.benchmark_age_days as integer) as measured_on,
    answers.benchmark_age_days,
    coalesce(points.evidence, 'measured') as evidence,
    answers.disclosure_score,
    answers.point_id,
    answers.above_point_id,
    answers.method_version,
from answers
cross join run
left join points on answers.point_id = points.benchmark_point_id
order by
    answers.model_id,
    answers.workload_id,
    answers.speed_percentile,
    answers.interactivity_tok_s_user,
    answers.speed,
    answers.price_series_id,
    answers.rank nulls last,
    answers.chip_id,
    answers.precision
