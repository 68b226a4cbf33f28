-- How fast a million output tokens became cheaper at a fixed speed: first and last day with a cost, and the change per
-- year that leads from one to the other; one row per chip, model, workload, speed percentile, speed tier and price
-- series. The best server of the day that may be ranked counts, whatever its precision; all GPUs, the whole bill.
-- grain: chip_id, model_id, workload_id, speed_percentile, speed_tier, price_series_id
-- column: chip_id | the chip
-- column: model_id | the model
-- column: workload_id | the workload
-- column: speed_percentile | which user the speed is of
-- column: speed_tier | speed in tokens per second per user, or max_throughput
-- column: price_series_id | the price series
-- column: price_type | its price type
-- column: first_usd_per_million_tokens | cost on the first day
-- column: last_usd_per_million_tokens | cost on the last day
-- column: throughput_ratio | throughput on the last day / on the first
-- column: price_ratio | price per GPU-hour on the last day / on the first
-- column: change_per_year | (last / first) ^ (365 / days) - 1; negative: it became cheaper; null: see null_reason
-- column: days | days between the two
-- column: null_reason | too_short: fewer than 30 days are no trend
-- column: first_point_id | the point of the first day; of a tier the slower of its bracket
-- column: last_point_id | the point of the last day
-- column: first_on | first day with a cost
-- column: last_on | last day with a cost
-- check: (change_per_year is null) = (null_reason is not null)
with

daily as (
    select *
    from mart.cost_per_million_tokens_daily
    where token_kind = 'output'
        and gpu_scope = 'all'
        and cost_allocation = 'whole_bill'
        and evidence = 'measured'
        and eligible
        and usd_per_million_tokens is not null
),

best as (
    select *
    from daily
    qualify row_number() over (
        partition by date, chip_id, model_id, workload_id, speed_percentile, speed_tier, price_series_id
        order by usd_per_million_tokens, precision, serving_line_id
    ) = 1
),

ends as (
    select
        chip_id,
        model_id,
        workload_id,
        speed_percentile,
        speed_tier,
        price_series_id,
        price_type,
        arg_min(usd_per_million_tokens, date) as first_usd,
        arg_max(usd_per_million_tokens, date) as last_usd,
        arg_max(throughput_tok_s_gpu, date) / arg_min(throughput_tok_s_gpu, date) as throughput_ratio,
        cast(arg_max(usd_per_gpu_hour, date) as double) / cast(arg_min(usd_per_gpu_hour, date) as double) as price_ratio,
        arg_min(benchmark_point_id, date) as first_point_id,
        arg_max(benchmark_point_id, date) as last_point_id,
        min(date) as first_on,
        max(date) as last_on,
    from best
    group by chip_id, model_id, workload_id, speed_percentile, speed_tier, price_series_id, price_type
)

select
    chip_id,
    model_id,
    workload_id,
    speed_percentile,
    speed_tier,
    price_series_id,
    price_type,
    first_usd as first_usd_per_million_tokens,
    last_usd as last_usd_per_million_tokens,
    throughput_ratio,
    price_ratio,
    case
        when date_diff('day', first_on, last_on) >= 30
            then power(last_usd / first_usd, 365.0 / date_diff('day', first_on, last_on)) - 1
    end as change_per_year,
    date_diff('day', first_on, last_on) as days,
    case when date_diff('day', first_on, last_on) < 30 then 'too_short' end as null_reason,
    first_point_id,
    last_point_id,
    first_on,
    last_on,
from ends
