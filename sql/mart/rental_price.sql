-- One listed price of one offer for as long as it was seen unchanged; one row per offer, region, price type
-- and stretch. Every region and machine size, for procurement; the index and the costs use rental_price_daily.
-- grain: source, provider_id, offer_key, region, price_type, commitment_months, chip_id, valid_from
-- column: chip_id | the chip
-- column: provider_id | who rents it out
-- column: segment | specialist or hyperscaler
-- column: offer_key | the provider's own key of the product
-- column: region | region as the provider names it; null: one price everywhere
-- column: price_type | how the capacity is bought; never blended
-- column: commitment_months | months of commitment of a reserved price
-- column: gpu_count | GPUs of the rented unit; null where the price is per GPU
-- column: usd_per_gpu_hour | US dollars per GPU-hour, DECIMAL(18,6)
-- column: availability | available, or listed where the source says nothing of stock
-- column: quote_id | the first quote of the stretch
-- column: source | slug of the source
-- column: valid_from | moment since which the offer shows this price
-- column: last_seen_at | last moment at which it was seen so
-- column: valid_to | moment at which it was first seen otherwise, or the source without it, or its source's age limit was over; null: not yet
-- check: usd_per_gpu_hour > 0
-- check: valid_to is null or valid_to > valid_from
with

providers as (
    select * from raw.provider
),

run as (
    select * from core.run
),

-- Two products of one name at one moment are one line here; the lowest price and id stand for it.
observations as (
    select *
    from core.quote_observation
    where derivation is null
    qualify row_number() over (
        partition by
            source,
            provider_id,
            offer_key,
            region,
            price_type,
            commitment_months,
            chip_id,
            looked_at
        order by usd_per_gpu_hour, quote_id
    ) = 1
),

-- A stretch goes on while price and stock stay and no look at the source came in between without the offer.
marked as (
    select
        *,
        case
            when lag(usd_per_gpu_hour) over offers = usd_per_gpu_hour
                and lag(availability) over offers = availability
                and coalesce(lag(next_look_at) over offers, looked_at) = looked_at
                then 0
            else 1
        end as starts_stretch,
        lead(looked_at) over offers as next_offer_at,
    from observations
    window offers as (
        partition by source, provider_id, offer_key, region, price_type, commitment_months, chip_id
        order by looked_at
    )
),

numbered as (
    select
        *,
        sum(starts_stretch) over (
            partition by source, provider_id, offer_key, region, price_type, commitment_months, chip_id
            order by looked_at
            rows between unbounded preceding and current row
        ) as stretch,
    from marked
),

stretches as (
    select
        source,
        provider_id,
        offer_key,
        region,
        price_type,
        commitment_months,
        chip_id,
        stretch,
        usd_per_gpu_hour,
        availability,
        min(gpu_count) as gpu_count,
        max(max_age_days) as max_age_days,
        min(quote_id) as quote_id,
        least(min(effective_from), min(looked_at)) as starts_at,
        max(looked_at) as last_seen_at,
        case
            when count(*) = count(coalesce(next_look_at, next_offer_at))
                then max(coalesce(next_look_at, next_offer_at))
        end as valid_to,
    from numbered
    group by
        source,
        provider_id,
        offer_key,
        region,
        price_type,
        commitment_months,
        chip_id,
        stretch,
        usd_per_gpu_hour,
        availability
)

select
    stretches.chip_id,
    stretches.provider_id,
    providers.segment,
    stretches.offer_key,
    stretches.region,
    stretches.price_type,
    stretches.commitment_months,
    stretches.gpu_count,
    stretches.usd_per_gpu_hour,
    stretches.availability,
    stretches.quote_id,
    stretches.source,
    -- What a source says of the time before is believed back to the end of the stretch before it.
    greatest(
        stretches.starts_at,
        coalesce(
            lag(stretches.valid_to) over (
                partition by
                    stretches.source,
                    stretches.provider_id,
                    stretches.offer_key,
                    stretches.region,
                    stretches.price_type,
                    stretches.commitment_months,
                    stretches.chip_id
                order by stretches.stretch
            ),
            stretches.starts_at
        )
    ) as valid_from,
    stretches.last_seen_at,
    case
        when stretches.valid_to is null
            and date_diff('day', stretches.last_seen_at at time zone 'UTC', run.as_of at time zone 'UTC')
            > stretches.max_age_days
            -- Hours: what a day is, where the clocks change, is the reader's time zone's to say.
            then stretches.last_seen_at + 24 * cast(stretches.max_age_days as integer) * interval '1' hour
        else stretches.valid_to
    end as valid_to,
from stretches
inner join providers on stretches.provider_id = providers.provider_id
cross join run
