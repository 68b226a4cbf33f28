-- One dated price of one kind of token, resolved, with what is wrong with it; one row per raw row.
-- grain: source, snapshot_id, row_number
-- column: usd_per_million_tokens | the price, DECIMAL(18,6)
-- column: reject_reason | why the price is not accepted; null: accepted
-- check: reject_reason is not null or usd_per_million_tokens >= 0
with

prices as (
    select * from raw.token_price
),

snapshots as (
    select * from clean.snapshot
),

names as (
    select * from clean.resolved_name
)

select
    prices.source,
    prices.snapshot_id,
    prices.row_number,
    provider_names.canonical_id as provider_id,
    model_names.canonical_id as model_id,
    prices.tier,
    prices.token_kind,
    cast(round(prices.price, 6) as decimal(18, 6)) as usd_per_million_tokens,
    case
        when snapshots.status = 'anomalous' then 'payload_anomalous'
        when prices.currency <> 'USD' then 'currency_without_rate'
        when prices.price < 0 then 'negative_price'
    end as reject_reason,
    prices.date_precision,
    prices.url,
    prices.note,
    prices.effective_from,
    coalesce(prices.known_at, snapshots.observed_at) as known_at,
from prices
inner join snapshots
    on prices.source = snapshots.source
    and prices.snapshot_id = snapshots.snapshot_id
left join names as provider_names
    on provider_names.domain = 'provider'
    and prices.source = provider_names.source
    and prices.provider = provider_names.raw_name
left join names as model_names
    on model_names.domain = 'model'
    and prices.source = model_names.source
    and prices.raw_model_name = model_names.raw_name
