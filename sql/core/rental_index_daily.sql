-- The rental index as it is published, segment by segment and without the blend; one row per UTC day, chip, price
-- type, commitment and segment. Price series stand on this table, and so on no diagnostic.
-- grain: date, chip_id, price_type, commitment_months, segment
-- column: index_id | key of the series, e.g. tokenyield:on_demand:specialist
-- column: usd_per_gpu_hour | the index, rounded to 6 decimals; null: see null_reason
-- column: band_usd_per_gpu_hour | larger distance from the index to the first and third quartile of the votes
-- column: provider_count | fresh votes counted
-- column: matched_panel_change | index of the providers present on both days, today / the day before - 1
-- column: exchange_rate_change | part of it that is exchange rates; null where a currency is not known
-- column: null_reason | too_few_providers
-- check: segment <> 'blend'
with

levels as (
    select * from core.rental_index_level where not is_diagnostic
)

select
    date,
    chip_id,
    price_type,
    commitment_months,
    segment,
    index_id,
    usd_per_gpu_hour,
    band_usd_per_gpu_hour,
    provider_count,
    matched_panel_change,
    exchange_rate_change,
    null_reason,
from levels
