-- What an offer costs by the hour, for one year and for three, side by side, as last seen; one row per offer and region.
-- For procurement: prices that stand now, with stock and node size. An offer that its source no longer lists is gone.
-- grain: source, provider_id, offer_key, region, chip_id
-- column: chip_id | the chip
-- column: provider_id | who rents it out
-- column: segment | specialist or hyperscaler
-- column: offer_key | the provider's own key of the product
-- column: region | region as the provider names it; null: one price everywhere
-- column: gpu_count | GPUs of the rented unit; null where the price is per GPU
-- column: availability | available, or listed where the source says nothing of stock
-- column: on_demand_usd_per_gpu_hour | on demand; null: not offered
-- column: spot_usd_per_gpu_hour | spot; null: not offered
-- column: reserved_12m_usd_per_gpu_hour | one year committed; null: not offered
-- column: reserved_36m_usd_per_gpu_hour | three years committed; null: not offered
-- column: reserved_12m_discount | 1 - one year / on demand
-- column: reserved_36m_discount | 1 - three years / on demand
-- column: source | slug of the source
-- column: last_seen_at | last moment at which the offer was seen
with

prices as (
    select * from mart.rental_price where valid_to is null
),

offers as (
    select
        chip_id,
        provider_id,
        segment,
        offer_key,
        region,
        max(gpu_count) as gpu_count,
        min(availability) as availability,
        min(case when price_type = 'on_demand' then usd_per_gpu_hour end) as on_demand_usd_per_gpu_hour,
        min(case when price_type = 'spot' then usd_per_gpu_hour end) as spot_usd_per_gpu_hour,
        min(case when commitment_months = 12 then usd_per_gpu_hour end) as reserved_12m_usd_per_gpu_hour,
        min(case when commitment_months = 36 then usd_per_gpu_hour end) as reserved_36m_usd_per_gpu_hour,
        source,
        max(last_seen_at) as last_seen_at,
    from prices
    group by source, provider_id, segment, offer_key, region, chip_id
)

select
    chip_id,
    provider_id,
    segment,
    offer_key,
    region,
    gpu_count,
    availability,
    on_demand_usd_per_gpu_hour,
    spot_usd_per_gpu_hour,
    reserved_12m_usd_per_gpu_hour,
    reserved_36m_usd_per_gpu_hour,
    1 - cast(reserved_12m_usd_per_gpu_hour as double)
    / cast(on_demand_usd_per_gpu_hour as double) as reserved_12m_discount,
    1 - cast(reserved_36m_usd_per_gpu_hour as double)
    / cast(on_demand_usd_per_gpu_hour as double) as reserved_36m_discount,
    source,
    last_seen_at,
from offers
