-- How much cheaper is a three-year rent than renting on demand?
-- Two published series on one day; the base of the percent is on demand.
with

asked as (
    select
        date '2026-10-20' as date,
        'index:savrn_ai_index:on_demand' as on_demand_series_id,
        'index:inferencex_reserved_36m:reserved:36m' as reserved_series_id
)

select
    on_demand.chip_id,
    on_demand.usd_per_gpu_hour as on_demand_usd_per_gpu_hour,
    reserved.usd_per_gpu_hour as reserved_36m_usd_per_gpu_hour,
    (cast(reserved.usd_per_gpu_hour as double) / on_demand.usd_per_gpu_hour - 1) * 100 as change_percent,
from asked
inner join mart.price_coverage as on_demand
    on asked.date = on_demand.date
    and asked.on_demand_series_id = on_demand.price_series_id
inner join mart.price_coverage as reserved
    on asked.date = reserved.date
    and asked.reserved_series_id = reserved.price_series_id
    and on_demand.chip_id = reserved.chip_id
where on_demand.usd_per_gpu_hour is not null and reserved.usd_per_gpu_hour is not null
order by change_percent
