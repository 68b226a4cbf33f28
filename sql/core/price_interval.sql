-- One price of a series, as one source observed it, for as long as it may stand: until the source's next one,
-- until its age limit, or until the source was seen without it; one row per series, chip, source and
-- observation. Which source stands where several do is decided in core.price_segment.
-- grain: price_series_id, chip_id, source, valid_from
-- column: usd_per_gpu_hour | DECIMAL(18,6)
-- column: price_fact_id | the quote or index value behind it
-- column: priced_on | day of the observation; a price's age counts from here
-- column: valid_from | first day on which it holds
-- column: valid_to | first day on which it no longer holds; null: until superseded
-- column: ends_as | what follows when no price does: stale_price or not_offered
-- check: valid_to is null or valid_to > valid_from
-- check: usd_per_gpu_hour > 0
with

provider_prices as (
    select * from core.provider_price
),

published as (
    select * from core.known_rental_index_value
),

series as (
    select * from core.price_series
),

own_index as (
    select * from core.rental_index_daily where usd_per_gpu_hour is not null
),

-- A correction carries the date that it corrects: the latest known value of a date stands.
standing_values as (
    select *
    from published
    qualify row_number() over (
        partition by index_name, price_type, commitment_months, chip_id, value_date
        order by known_at desc, source_rank, recorded_at desc, index_value_id desc
    ) = 1
),

observations as (
    select
        series.price_series_id,
        provider_prices.chip_id,
        provider_prices.source,
        provider_prices.source_rank,
        provider_prices.quote_id as price_fact_id,
        provider_prices.usd_per_gpu_hour,
        provider_prices.max_age_days,
        provider_prices.priced_on,
        least(provider_prices.effective_on, provider_prices.priced_on) as effective_on,
        provider_prices.next_source_on,
    from provider_prices
    inner join series
        on provider_prices.provider_id = series.provider_id
        and provider_prices.price_type = series.price_type
        and provider_prices.commitment_months is not distinct from series.commitment_months

    union all

    select
        series.price_series_id,
        standing_values.chip_id,
        standing_values.index_name as source,
        cast(0 as bigint) as source_rank,
        standing_values.index_value_id as price_fact_id,
        standing_values.usd_per_gpu_hour,
        series.max_age_days,
        standing_values.value_date as priced_on,
        standing_values.value_date as effective_on,
        -- A series that its publisher dropped is a source that was looked at without it.
        series.withdrawn_on as next_source_on,
    from standing_values
    inner join series
        on series.price_basis <> 'own_index'
        and standing_values.index_name = series.index_name
        and standing_values.price_type = series.price_type
        and standing_values.commitment_months is not distinct from series.commitment_months
    where series.withdrawn_on is null or standing_values.value_date < series.withdrawn_on

    union all

    select
        series.price_series_id,
        own_index.chip_id,
        own_index.index_id as source,
        cast(0 as bigint) as source_rank,
        own_index.index_id || '/' || own_index.chip_id || '/' || cast(own_index.date as varchar) as price_fact_id,
        own_index.usd_per_gpu_hour,
        series.max_age_days,
        own_index.date as priced_on,
        own_index.date as effective_on,
        cast(null as date) as next_source_on,
    from own_index
    inner join series
        on series.price_basis = 'own_index'
        and own_index.index_id = series.index_name
),

-- A price that says since when it holds reaches back to that day, but never over an older observation.
started as (
    select
        *,
        greatest(
            effective_on,
            coalesce(
                lag(priced_on) over (partition by price_series_id, chip_id, source order by priced_on) + 1,
                effective_on
            )
        ) as valid_from,
    from observations
),

bounded as (
    select
        *,
        lead(valid_from) over (partition by price_series_id, chip_id, source order by priced_on) as next_from,
        priced_on + cast(max_age_days + 1 as integer) as too_old_on,
    from started
)

select
    price_series_id,
    chip_id,
    source,
    source_rank,
    price_fact_id,
    usd_per_gpu_hour,
    case
        when next_source_on < too_old_on or (next_source_on is not null and too_old_on is null) then 'not_offered'
        else 'stale_price'
    end as ends_as,
    priced_on,
    valid_from,
    nullif(
        least(
            coalesce(next_from, date '9999-12-31'),
            coalesce(next_source_on, date '9999-12-31'),
            coalesce(too_old_on, date '9999-12-31')
        ),
        date '9999-12-31'
    ) as valid_to,
from bounded
