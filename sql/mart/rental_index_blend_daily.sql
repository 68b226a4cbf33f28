-- A diagnostic and no index: what the method makes of the votes of all segments together. Specialists and hyperscalers
-- sell different things, so the blend moves with who is in it; it is no price series, stands beside no headline and
-- has a table of its own, so that no sum over rental_index_daily meets it. One row per UTC day, chip, price type and
-- commitment.
-- grain: date, chip_id, price_type, commitment_months
-- column: date | UTC day
-- column: chip_id | the chip
-- column: price_type | on_demand, spot or reserved; never blended
-- column: commitment_months | months of commitment of a reserved price
-- column: index_id | e.g. tokenyield:on_demand:blend; a key of no price series
-- column: method_version | method that made the value; its votes and parameters are those of the index
-- column: is_diagnostic | always true: to be looked at beside the index, and not to be quoted as one
-- column: usd_per_gpu_hour | US dollars per GPU-hour, every provider weighing the same unless the method's weights say otherwise; null: see null_reason
-- column: band_usd_per_gpu_hour | larger distance from it to the quartiles of the votes
-- column: provider_count | fresh votes counted, of all segments
-- column: matched_panel_change | change against the day before, over the providers of both days
-- column: null_reason | too_few_providers
-- check: is_diagnostic
-- check: (usd_per_gpu_hour is null) = (null_reason is not null)
-- check: usd_per_gpu_hour is null or usd_per_gpu_hour > 0
with

levels as (
    select * from core.rental_index_level where is_diagnostic
)

select
    date,
    chip_id,
    price_type,
    commitment_months,
    index_id,
    'index-v1' as method_version,
    is_diagnostic,
    usd_per_gpu_hour,
    band_usd_per_gpu_hour,
    provider_count,
    matched_panel_change,
    null_reason,
from levels
