-- What is shown before anybody chooses?
-- The headline's workload and price series, at the speed at which most chips can be ranked, the slower one of equals.
with

cheapest as (
    select * from mart.cheapest_at_speed where traffic_basis = 'benchmark'
),

workloads as (
    select * from mart.workload
),

series as (
    select * from mart.price_series where headline_order is not null
)

select
    cheapest.model_id,
    cheapest.workload_id,
    coalesce(cheapest.speed_percentile, 'not stated') as speed_percentile,
    cast(cast(cheapest.speed_tok_s_user as integer) as varchar) as speed,
    cheapest.price_series_id,
    count(cheapest.rank) as ranked_count,
from cheapest
inner join workloads on cheapest.workload_id = workloads.workload_id
inner join series on cheapest.price_series_id = series.price_series_id
group by
    cheapest.model_id,
    cheapest.workload_id,
    workloads.ranked,
    cheapest.speed_percentile,
    cheapest.speed_tok_s_user,
    cheapest.price_series_id,
    series.headline_order
order by
    workloads.ranked desc,
    ranked_count > 0 desc,
    series.headline_order,
    ranked_count desc,
    cheapest.speed_tok_s_user,
    cheapest.model_id,
    cheapest.workload_id
limit 1
