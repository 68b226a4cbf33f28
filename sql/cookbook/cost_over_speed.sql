-- How does the cost of a million output tokens rise with the speed sold, on rack and box?
-- The curve between published points, decode rent alone after the live-traffic factor, at market rental.
with

asked as (
    select
        'deepinfer' as engine,
        'index:savrn_ai_index:on_demand' as price_series_id
)

select
    costs.chip_id,
    costs.speed_tok_s_user,
    costs.throughput_tok_s_gpu,
    costs.usd_per_gpu_hour,
    costs.usd_per_million_tokens_live as decode_rent_usd_per_million_tokens_live,
    costs.position,
    costs.null_reason,
    costs.evidence,
from asked
inner join mart.cost_at_speed as costs
    on asked.engine = costs.engine
    and asked.price_series_id = costs.price_series_id
where costs.token_kind = 'output' and costs.gpu_scope = 'decode' and costs.usd_per_gpu_hour is not null
order by costs.chip_id, costs.evidence, costs.speed_tok_s_user
