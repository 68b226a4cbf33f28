-- What did the headline say then, and what is the same point said to cost today?
-- Change the moment; `_as_known` takes only what the world could know by it, today's facts left out.
with

earlier as (
    select * from mart.headline_as_known(timestamptz '2026-10-01 00:00:00+00')
)

select
    earlier.model_id,
    earlier.workload_id,
    earlier.chip_id,
    earlier.precision,
    earlier.date as then_date,
    earlier.price_series_id as then_price_series_id,
    earlier.usd_per_gpu_hour as then_usd_per_gpu_hour,
    earlier.usd_per_million_tokens as then_usd_per_million_tokens,
    latest.date as now_date,
    latest.price_series_id as now_price_series_id,
    latest.usd_per_gpu_hour as now_usd_per_gpu_hour,
    latest.usd_per_million_tokens as now_usd_per_million_tokens,
from earlier
left join mart.headline as latest
    on earlier.model_id = latest.model_id
    and earlier.workload_id = latest.workload_id
    and earlier.chip_id = latest.chip_id
    and earlier.precision is not distinct from latest.precision
order by earlier.model_id, earlier.workload_id, earlier.usd_per_million_tokens nulls last, earlier.chip_id
