-- What does a GPU-hour earn at list prices of tokens, and what is left after rent?
-- All GPUs or one role, as gpu_scope says. A text's own figure stands beside, with its class.
select
    model_id,
    workload_id,
    point_label,
    chip_id,
    gpu_scope,
    provider_id,
    tier,
    mix_class,
    cached_share,
    revenue_usd_per_gpu_hour,
    revenue_usd_per_gpu_hour_live,
    usd_per_gpu_hour as rent_usd_per_gpu_hour,
    margin_usd_per_gpu_hour,
    margin_usd_per_gpu_hour_live,
    stated_revenue_usd_per_gpu_hour,
    stated_value_class,
    evidence,
from mart.revenue_per_gpu_hour
where price_series_id = 'index:savrn_ai_index:on_demand'
    and usd_per_gpu_hour is not null
    and revenue_usd_per_gpu_hour is not null
order by model_id, workload_id, gpu_scope, tier, margin_usd_per_gpu_hour desc, chip_id, revenue_id
