-- What one unit of a currency was worth in US dollars on the day of a reference rate; one row per currency and day.
-- The first statement of a day stands: a reference rate is not restated, and a price that was recorded on it stays.
-- grain: currency, rate_on
-- column: currency | ISO 4217 code
-- column: usd_per_unit | US dollars for one unit of it
-- column: rate_on | day of the rate
-- column: recorded_at | moment that it was stored
-- check: usd_per_unit > 0
with

rates as (
    select * from raw.fx_rate
),

snapshots as (
    select * from clean.snapshot
),

standing as (
    select
        rates.base_currency,
        rates.currency,
        rates.rate_date,
        rates.rate,
        snapshots.recorded_at,
    from rates
    inner join snapshots
        on rates.source = snapshots.source
        and rates.snapshot_id = snapshots.snapshot_id
    qualify row_number() over (
        partition by rates.base_currency, rates.currency, rates.rate_date
        order by snapshots.recorded_at, rates.source, rates.snapshot_id, rates.row_number
    ) = 1
),

dollars as (
    select
        base_currency,
        rate_date,
        rate as usd_per_base,
        recorded_at,
    from standing
    where currency = 'USD'
),

in_dollars as (
    select
        standing.currency,
        dollars.usd_per_base / standing.rate as usd_per_unit,
        standing.rate_date as rate_on,
        greatest(standing.recorded_at, dollars.recorded_at) as recorded_at,
    from standing
    inner join dollars
        on standing.base_currency = dollars.base_currency
        and standing.rate_date = dollars.rate_date
    where standing.currency not in ('USD', standing.base_currency)

    union all

    select
        base_currency as currency,
        usd_per_base as usd_per_unit,
        rate_date as rate_on,
        recorded_at,
    from dollars
)

select
    currency,
    usd_per_unit,
    rate_on,
    recorded_at,
from in_dollars
qualify row_number() over (partition by currency, rate_on order by recorded_at, usd_per_unit) = 1
