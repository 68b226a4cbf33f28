-- How fast may every user be served before output tokens cost more than they sell for?
-- Where gpu_scope is decode, decode rent alone: the whole cost breaks even sooner.
select
    chip_id,
    model_id,
    engine,
    gpu_scope,
    traffic,
    price_series_id,
    usd_per_gpu_hour,
    provider_id,
    tier,
    output_usd_per_million_tokens,
    needed_tok_s_gpu,
    break_even_speed_tok_s_user,
    null_reason,
    evidence,
from mart.break_even_speed
where usd_per_gpu_hour is not null and coalesce(null_reason, '') <> 'no_factor'
order by model_id, price_series_id, provider_id, tier, traffic, gpu_scope, chip_id, frontier_id
