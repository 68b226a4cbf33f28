-- What does a GPU-hour earn at list prices of tokens, and what is left after rent?
-- On a day that is set below; all GPUs or one role, as gpu_scope says. A text's own figure stands beside, with its class.
with

asked as (
    select
        'index:savrn_ai_index:on_demand' as price_series_id,
        date '2026-10-31' as date
)

select
    earned.model_id,
    earned.workload_id,
    earned.point_label,
    earned.chip_id,
    earned.gpu_scope,
    earned.provider_id,
    earned.tier,
    earned.mix_class,
    earned.cached_share,
    earned.revenue_usd_per_gpu_hour,
    earned.revenue_usd_per_gpu_hour_live,
    earned.usd_per_gpu_hour as rent_usd_per_gpu_hour,
    earned.margin_usd_per_gpu_hour,
    earned.margin_usd_per_gpu_hour_live,
    earned.stated_revenue_usd_per_gpu_hour,
    earned.stated_value_class,
    earned.evidence,
from asked
inner join mart.revenue_per_gpu_hour as earned
    on asked.price_series_id = earned.price_series_id
    and earned.valid_from <= asked.date
    and (earned.valid_to is null or earned.valid_to > asked.date)
inner join mart.benchmark_point as points on earned.benchmark_point_id = points.benchmark_point_id
where earned.usd_per_gpu_hour is not null
    and earned.revenue_usd_per_gpu_hour is not null
    and (points.superseded_on is null or points.superseded_on > asked.date)
order by
    earned.model_id,
    earned.workload_id,
    earned.gpu_scope,
    earned.tier,
    earned.margin_usd_per_gpu_hour desc,
    earned.chip_id,
    earned.revenue_id
