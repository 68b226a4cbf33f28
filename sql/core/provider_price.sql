-- What a provider asked for a GPU-hour of a chip on a day on which it was looked at; one row per provider,
-- chip, price type, commitment and UTC day. The lowest full-node quote in the provider's reference region,
-- from the last payload of the day and the best-ranked source.
-- grain: provider_id, chip_id, price_type, commitment_months, priced_on
-- column: priced_on | UTC day of the observation
-- column: effective_on | day since when the source says the price holds
-- column: usd_per_gpu_hour | DECIMAL(18,6)
-- column: lowest_any_region_usd_per_gpu_hour | lowest quote of that day in any region
-- column: quote_count | quotes behind it, all regions
-- column: partial_node | no full node is offered; the lowest quote of any size stands
-- column: next_source_on | next day on which the same source was seen at all; null: not yet
-- check: usd_per_gpu_hour > 0
with

quotes as (
    select * from core.known_rental_quote where availability <> 'unavailable'
),

sightings as (
    select
        source,
        snapshot_id,
        slice,
        cast(observed_at at time zone 'UTC' as date) as seen_on,
        max(observed_at) as observed_at,
    from core.known_sighting
    group by source, snapshot_id, slice, cast(observed_at at time zone 'UTC' as date)
),

providers as (
    select * from raw.provider
),

-- A typed fact was observed when its row says so; a payload's quotes at every look at the payload.
observations as (
    select
        quotes.*,
        case when quotes.is_seed then quotes.observed_at else sightings.observed_at end as looked_at,
        case
            when quotes.is_seed then cast(quotes.observed_at at time zone 'UTC' as date)
            else sightings.seen_on
        end as priced_on,
    from quotes
    inner join sightings
        on quotes.source = sightings.source
        and quotes.snapshot_id = sightings.snapshot_id
),

-- Two payloads of one day: the later one is the day, and what it no longer lists is gone.
last_of_day as (
    select *
    from observations
    qualify looked_at = max(looked_at) over (partition by source, slice, priced_on)
),

best_source as (
    select *
    from last_of_day
    qualify source_rank = min(source_rank) over (
        partition by provider_id, chip_id, price_type, commitment_months, priced_on
    )
),

source_days as (
    select
        source,
        slice,
        priced_on,
        lead(priced_on) over (partition by source, slice order by priced_on) as next_source_on,
    from (
        select distinct
            source,
            slice,
            seen_on as priced_on,
        from sightings
    ) as days
),

all_regions as (
    select
        provider_id,
        chip_id,
        price_type,
        commitment_months,
        priced_on,
        min(usd_per_gpu_hour) as lowest_any_region_usd_per_gpu_hour,
        count(*) as quote_count,
    from best_source
    group by provider_id, chip_id, price_type, commitment_months, priced_on
),

standing as (
    select best_source.*
    from best_source
    inner join providers on best_source.provider_id = providers.provider_id
    where best_source.region is null
        or providers.reference_region is null
        or best_source.region = providers.reference_region
    qualify row_number() over (
        partition by
            best_source.provider_id,
            best_source.chip_id,
            best_source.price_type,
            best_source.commitment_months,
            best_source.priced_on
        order by best_source.full_node desc, best_source.usd_per_gpu_hour, best_source.quote_id
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
    standing.usd_per_gpu_hour,
    all_regions.lowest_any_region_usd_per_gpu_hour,
    all_regions.quote_count,
    standing.max_age_days,
    standing.passes_on,
    standing.priced_on,
    cast(standing.effective_from at time zone 'UTC' as date) as effective_on,
    case when not standing.is_seed then source_days.next_source_on end as next_source_on,
    standing.looked_at as observed_at,
    standing.known_at,
from standing
inner join all_regions
    on standing.provider_id = all_regions.provider_id
    and standing.chip_id = all_regions.chip_id
    and standing.price_type = all_regions.price_type
    and standing.commitment_months is not distinct from all_regions.commitment_months
    and standing.priced_on = all_regions.priced_on
left join source_days
    on standing.source = source_days.source
    and standing.slice = source_days.slice
    and standing.priced_on = source_days.priced_on
