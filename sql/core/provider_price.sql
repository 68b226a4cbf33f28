-- What a source showed, on a day on which it was looked at, as a provider's price of a GPU-hour; one row per
-- source, provider, chip, price type, commitment and UTC day. The lowest full-node quote in the provider's
-- reference region, from the last payload of the day.
-- grain: source, provider_id, chip_id, price_type, commitment_months, priced_on
-- column: priced_on | UTC day of the observation
-- column: effective_on | day since when the source says the price holds
-- column: usd_per_gpu_hour | DECIMAL(18,6)
-- column: fx_usd_per_unit | US dollars that one unit of `currency` was worth that day
-- column: lowest_any_region_usd_per_gpu_hour | lowest quote of that day in any region
-- column: quote_count | quotes behind it, all regions
-- column: partial_node | no full node is offered; the lowest quote of any size stands
-- column: next_source_on | next day on which the same source was seen at all; null: not yet
-- check: usd_per_gpu_hour > 0
with

last_of_day as (
    select *
    from core.quote_observation
    where is_last_of_day
        and availability <> 'unavailable'
        and derivation is null
),

sightings as (
    select distinct
        source,
        slice,
        cast(observed_at at time zone 'UTC' as date) as seen_on,
    from core.known_sighting
),

providers as (
    select * from raw.provider
),

source_days as (
    select
        source,
        slice,
        seen_on as priced_on,
        lead(seen_on) over (partition by source, slice order by seen_on) as next_source_on,
    from sightings
),

all_regions as (
    select
        source,
        provider_id,
        chip_id,
        price_type,
        commitment_months,
        priced_on,
        min(usd_per_gpu_hour) as lowest_any_region_usd_per_gpu_hour,
        count(*) as quote_count,
    from last_of_day
    group by source, provider_id, chip_id, price_type, commitment_months, priced_on
),

standing as (
    select last_of_day.*
    from last_of_day
    inner join providers on last_of_day.provider_id = providers.provider_id
    where last_of_day.region is null
        or providers.reference_region is null
        or last_of_day.region = providers.reference_region
    qualify row_number() over (
        partition by
            last_of_day.source,
            last_of_day.provider_id,
            last_of_day.chip_id,
            last_of_day.price_type,
            last_of_day.commitment_months,
            last_of_day.priced_on
        order by last_of_day.full_node desc, last_of_day.usd_per_gpu_hour, last_of_day.quote_id
    ) = 1
)

select
    standing.provider_id,
    standing.chip_id,
    standing.price_type,
    standing.commitment_months,
    standing.quote_id,
    standing.source,
    standing.region,
    not standing.full_node as partial_node,
    standing.availability,
    standing.is_seed,
    standing.usd_per_gpu_hour,
    standing.currency,
    standing.fx_usd_per_unit,
    all_regions.lowest_any_region_usd_per_gpu_hour,
    all_regions.quote_count,
    standing.source_rank,
    standing.max_age_days,
    standing.passes_on,
    standing.priced_on,
    cast(standing.effective_from at time zone 'UTC' as date) as effective_on,
    case when not standing.is_seed then source_days.next_source_on end as next_source_on,
    standing.looked_at as observed_at,
    standing.known_at,
from standing
inner join all_regions
    on standing.source = all_regions.source
    and standing.provider_id = all_regions.provider_id
    and standing.chip_id = all_regions.chip_id
    and standing.price_type = all_regions.price_type
    and standing.commitment_months is not distinct from all_regions.commitment_months
    and standing.priced_on = all_regions.priced_on
left join source_days
    on standing.source = source_days.source
    and standing.slice = source_days.slice
    and standing.priced_on = source_days.priced_on
