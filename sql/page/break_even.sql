-- How fast may every user be served before output tokens cost more to make than they sell for?
-- On the price series beside the headline; decode rent alone is not the whole cost, and the scope says which it is.
with

break_evens as (
    select * from mart.break_even_speed
),

series as (
    select * from mart.price_series where headline_order is not null
),

providers as (
    select * from mart.provider
)

select
    break_evens.model_id,
    break_evens.workload_id,
    break_evens.chip_id,
    break_evens.precision,
    break_evens.engine,
    break_evens.gpu_scope,
    break_evens.traffic,
    break_evens.price_series_id,
    coalesce(providers.provider_name, break_evens.provider_id) as sold_by,
    break_evens.tier,
    break_evens.usd_per_gpu_hour,
    break_evens.output_usd_per_million_tokens,
    break_evens.needed_tok_s_gpu,
    break_evens.break_even_speed_tok_s_user,
    break_evens.null_reason,
    break_evens.evidence,
from break_evens
inner join series on break_evens.price_series_id = series.price_series_id
left join providers on break_evens.provider_id = providers.provider_id
order by
    break_evens.model_id,
    break_evens.workload_id,
    break_evens.chip_id,
    series.headline_order,
    break_evens.frontier_id,
    break_evens.traffic,
    sold_by,
    break_evens.tier
