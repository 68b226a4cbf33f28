-- Is a request cheaper made on rented GPUs or bought at list price?
-- On a day that is set below: the cheapest point of each chip, by the way that rent is charged, beside every deck. Made
-- alone is GPU rent: nothing else of a service.
with

asked as (
    select
        'index:savrn_ai_index:on_demand' as price_series_id,
        date '2026-10-31' as date
),

ways as (
    select
        requests.*,
        coalesce(requests.chip_id, requests.provider_id) as from_whom,
        coalesce(requests.price_series_id, requests.tier) as on_price,
    from asked
    inner join mart.cost_per_request as requests
        on requests.valid_from <= asked.date
        and (requests.valid_to is null or requests.valid_to > asked.date)
        and coalesce(requests.price_series_id, asked.price_series_id) = asked.price_series_id
    left join mart.benchmark_point as points on requests.benchmark_point_id = points.benchmark_point_id
    where requests.usd_per_request is not null
        and (points.superseded_on is null or points.superseded_on > asked.date)
)

select
    model_id,
    workload_id,
    supply,
    from_whom,
    on_price,
    cost_allocation,
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
order by model_id, workload_id, usd_per_request, supply, from_whom, on_price, cost_allocation
