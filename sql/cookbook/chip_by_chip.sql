-- What is each chip, and what did it rent for on a day?
-- Change the day and the price series below. Per GPU; a rent that is not known is empty, with the reason.
with

asked as (
    select
        date '2026-10-20' as date,
        'index:savrn_ai_index:on_demand' as price_series_id
)

select
    chips.chip_name,
    chips.vendor,
    chips.fp4_dense_tflops,
    chips.memory_gb,
    chips.scale_up_domain as scale_up_gpu_count,
    coverage.usd_per_gpu_hour,
    coverage.status as rent_status,
    chips.source,
from mart.chip as chips
cross join asked
left join mart.price_coverage as coverage
    on chips.chip_id = coverage.chip_id
    and asked.date = coverage.date
    and asked.price_series_id = coverage.price_series_id
where coverage.usd_per_gpu_hour is not null or chips.scale_up_domain > 1
order by coverage.usd_per_gpu_hour desc nulls last, chips.chip_name
