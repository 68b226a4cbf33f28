-- What one unit of a currency is worth in US dollars, from one reference rate until the next; one row per
-- currency and day of a rate. Rates are taken at the day of a price, walking back at most seven days.
-- grain: currency, rate_on
-- column: currency | ISO 4217 code
-- column: usd_per_unit | US dollars for one unit of it
-- column: rate_on | day of the rate; it holds from here
-- column: holds_to | first day on which it no longer holds: the next rate, or eight days on
-- check: usd_per_unit > 0
-- check: holds_to > rate_on
with

rates as (
    select * from raw.fx_rate
),

snapshots as (
    select * from clean.snapshot
),

-- The same day stated twice: the later statement stands.
standing as (
    select
        rates.base_currency,
        rates.currency,
        rates.rate_date,
        rates.rate,
    from rates
    inner join snapshots
        on rates.source = snapshots.source
        and rates.snapshot_id = snapshots.snapshot_id
    qualify row_number() over (
        partition by rates.base_currency, rates.currency, rates.rate_date
        order by snapshots.observed_at desc, rates.source, rates.snapshot_id, rates.row_number
    ) = 1
),

dollars as (
    select
        base_currency,
        rate_date,
        rate as usd_per_base,
    from standing
    where currency = 'USD'
),

in_dollars as (
    select
        standing.currency,
        dollars.usd_per_base / standing.rate as usd_per_unit,
        standing.rate_date as rate_on,
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
    from dollars
)

select
    currency,
    usd_per_unit,
    rate_on,
    least(
        coalesce(lead(rate_on) over (partition by currency order by rate_on), rate_on + 8),
        rate_on + 8
    ) as holds_to,
from in_dollars
qualify row_number() over (partition by currency, rate_on order by usd_per_unit) = 1
