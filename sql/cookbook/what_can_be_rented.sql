-- Which offer is the cheapest that can really be rented, chip by chip?
-- Offers that stood on the last day on which any offer was seen. What its provider says is not available is listed
-- without a rank; `listed` means that the provider says nothing of stock.
with

asked as (
    select
        'on_demand' as price_type,
        (select max(last_seen_at) from mart.rental_price) as moment
),

offers as (
    select
        prices.*,
        prices.availability <> 'unavailable' as is_rentable,
    from mart.rental_price as prices
    inner join asked
        on prices.price_type = asked.price_type
        and prices.valid_from <= asked.moment
        and (prices.valid_to is null or prices.valid_to > asked.moment)
)

select
    chip_id,
    case
        when is_rentable then rank() over (partition by chip_id, is_rentable order by usd_per_gpu_hour)
    end as rank,
    provider_id,
    region,
    usd_per_gpu_hour,
    gpu_count,
    availability,
    last_seen_at,
    source,
from offers
order by chip_id, is_rentable desc, usd_per_gpu_hour, provider_id, offer_key
