-- Is a request cheaper made on rented GPUs or bought at list price?
-- The cheapest point of each chip on each price series beside every deck. Made alone is GPU rent: nothing else of a service.
with

ways as (
    select
        *,
        coalesce(chip_id, provider_id) as from_whom,
        coalesce(price_series_id, tier) as on_price,
    from mart.cost_per_request
    where usd_per_request is not null
        and (price_series_id is null or price_series_id = 'index:savrn_ai_index:on_demand')
)

select
    model_id,
    workload_id,
    supply,
    from_whom,
    on_price,
    point_label,
    input_tokens,
    cached_input_tokens,
    output_tokens,
    usd_per_request,
    usd_per_request_live,
    live_null_reason,
    mix_class,
    evidence,
from ways
qualify row_number() over (
    partition by model_id, workload_id, supply, from_whom, on_price, cost_allocation, evidence
    order by usd_per_request, cost_per_request_id
) = 1
order by model_id, workload_id, usd_per_request, supply, from_whom, on_price
