-- Which chip makes output tokens cheapest at the speed that I want to sell?
-- Set the speed below. Ranked among what can be compared; a chip that cannot is listed with the reason.
with

asked as (
    select 30 as speed_tok_s_user
)

select
    cheapest.model_id,
    cheapest.workload_id,
    cheapest.price_series_id,
    cheapest.speed_tok_s_user,
    cheapest.rank,
    cheapest.chip_id,
    cheapest.precision,
    cheapest.usd_per_million_tokens,
    cheapest.distinguishable,
    cheapest.uncertainty_share,
    cheapest.usd_per_gpu_hour,
    cheapest.throughput_tok_s_gpu,
    cheapest.position,
    cheapest.ttft_p50_ms,
    cheapest.benchmark_age_days,
    cheapest.unranked_reason,
from mart.cheapest_at_speed as cheapest
inner join asked on cheapest.speed_tok_s_user = asked.speed_tok_s_user
where cheapest.headline_order is not null
order by
    cheapest.model_id,
    cheapest.workload_id,
    cheapest.headline_order,
    cheapest.rank nulls last,
    cheapest.chip_id,
    cheapest.precision
