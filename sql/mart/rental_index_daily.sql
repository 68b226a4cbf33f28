-- One number for what a GPU-hour of a chip rents for on a day, by a published method; one row per UTC day, chip, price
-- type, commitment, segment and index. Below five fresh providers there is none, and the reason.
-- grain: date, chip_id, price_type, commitment_months, segment, index_id
-- column: date | UTC day
-- column: chip_id | the chip
-- column: price_type | on_demand, spot or reserved; never blended
-- column: commitment_months | months of commitment of a reserved price
-- column: segment | specialist or hyperscaler; published apart
-- column: index_id | the index, e.g. tokenyield:on_demand:specialist
-- column: method_version | method that made the value; a changed parameter is a new version
-- column: usd_per_gpu_hour | the index, US dollars per GPU-hour; null: see null_reason
-- column: band_usd_per_gpu_hour | larger distance from the index to the quartiles of the votes
-- column: provider_count | fresh votes counted
-- column: matched_panel_change | change against the day before, over the providers of both days: composition is not movement
-- column: null_reason | too_few_providers
-- check: (usd_per_gpu_hour is null) = (null_reason is not null)
-- check: usd_per_gpu_hour is null or usd_per_gpu_hour > 0
with

indices as (
    select * from core.rental_index_daily
)

select
    date,
    chip_id,
    price_type,
    commitment_months,
    segment,
    index_id,
    'index-v1' as method_version,
    usd_per_gpu_hour,
    band_usd_per_gpu_hour,
    provider_count,
    matched_panel_change,
    null_reason,
from indices
