-- What do a million output tokens cost at market rental, by the speed that one user sees?
-- Decode GPUs alone after the live-traffic factor: prefill, cache storage and the rest of the stack are extra. Beside
-- it the developer's off-peak price of output; above a share of 1 decode rent alone is dearer.
with

asked as (
    select
        'deepinfer' as publisher,
        'index:savrn_ai_index:on_demand' as price_series_id,
        'off_peak' as tier,
        date '2026-10-20' as date
),

prices as (
    select
        token_prices.model_id,
        token_prices.usd_per_million_tokens,
    from asked
    inner join mart.token_price_daily as token_prices
        on asked.tier = token_prices.tier
        and asked.date = token_prices.date
    inner join mart.provider as sellers on token_prices.provider_id = sellers.provider_id
    where token_prices.token_kind = 'output' and sellers.provider_class = 'model_developer'
)

select
    costs.chip_id,
    points.point_label,
    points.interactivity_tok_s_user,
    costs.usd_per_gpu_hour,
    costs.hardware_factor as hardware_factor_ratio,
    costs.live_traffic_factor as live_traffic_factor_share,
    costs.throughput_live_tok_s_gpu,
    costs.usd_per_million_tokens_live as decode_rent_usd_per_million_tokens_live,
    prices.usd_per_million_tokens as off_peak_usd_per_million_tokens,
    costs.usd_per_million_tokens_live / cast(prices.usd_per_million_tokens as double) as rent_over_price_share,
    costs.evidence,
from asked
inner join mart.benchmark_point as points on asked.publisher = points.publisher
inner join mart.cost_per_million_tokens as costs
    on points.benchmark_point_id = costs.benchmark_point_id
    and asked.price_series_id = costs.price_series_id
    and costs.valid_from <= asked.date
    and (costs.valid_to is null or costs.valid_to > asked.date)
left join prices on points.model_id = prices.model_id
where costs.gpu_scope = 'decode' and costs.usd_per_million_tokens_live is not null
order by costs.chip_id, points.interactivity_tok_s_user
