-- What a provider asked for a GPU-hour of a chip on a day, in its reference region; one row per UTC day, chip,
-- provider, price type and commitment. Carried from the last look for as long as the source's limit allows.
-- grain: date, chip_id, provider_id, price_type, commitment_months
-- column: date | UTC day
-- column: chip_id | the chip
-- column: provider_id | who rents it out
-- column: segment | specialist or hyperscaler
-- column: region | the provider's reference region; null: one price everywhere
-- column: price_type | how the capacity is bought; never blended
-- column: commitment_months | months of commitment of a reserved price
-- column: usd_per_gpu_hour | lowest full-node quote, US dollars per GPU-hour, DECIMAL(18,6)
-- column: lowest_any_region_usd_per_gpu_hour | lowest quote in any region and of any size that day
-- column: quote_count | quotes behind it, all regions
-- column: partial_node | no full node was offered; the lowest quote of any size stands
-- column: quote_id | the quote that stands
-- column: source | slug of the source
-- column: observed_at | the look that shows it; after the day where the source says that it held already
-- column: age_days | days from that look to the day, 0 where the look came after
-- check: usd_per_gpu_hour > 0
-- check: age_days >= 0
with

prices as (
    select * from core.provider_price
),

series as (
    select * from core.price_series where provider_id is not null
),

segments as (
    select * from core.price_segment
),

providers as (
    select * from raw.provider
),

run as (
    select * from core.run
),

days as (
    select
        segments.*,
        cast(
            unnest(
                generate_series(
                    segments.valid_from,
                    least(
                        coalesce(segments.valid_to - 1, cast(run.as_of at time zone 'UTC' as date)),
                        cast(run.as_of at time zone 'UTC' as date)
                    ),
                    interval 1 day
                )
            ) as date
        ) as date,
    from segments
    cross join run
)

select
    days.date,
    days.chip_id,
    series.provider_id,
    series.segment,
    prices.region,
    series.price_type,
    series.commitment_months,
    days.usd_per_gpu_hour,
    prices.lowest_any_region_usd_per_gpu_hour,
    prices.quote_count,
    prices.partial_node,
    prices.quote_id,
    prices.source,
    prices.observed_at,
    case when days.priced_on > days.date then 0 else date_diff('day', days.priced_on, days.date) end as age_days,
from days
inner join series on days.price_series_id = series.price_series_id
inner join prices
    on series.provider_id = prices.provider_id
    and series.price_type = prices.price_type
    and series.commitment_months is not distinct from prices.commitment_months
    and days.chip_id = prices.chip_id
    and days.priced_on = prices.priced_on
    and days.source = prices.source
