-- One accepted token price of a known model, as a fact with its three times; one row per price of a snapshot.
-- grain: token_price_id
-- column: token_price_id | key: source, snapshot and row
-- column: usd_per_million_tokens | DECIMAL(18,6)
-- column: recorded_to | moment that a newer version of a seed replaced it; null: in force
with

prices as (
    select * from clean.token_price
),

snapshots as (
    select * from clean.snapshot
)

select
    concat(prices.source, '/', prices.snapshot_id, '/', prices.row_number) as token_price_id,
    prices.source,
    prices.snapshot_id,
    prices.row_number,
    prices.provider_id,
    prices.model_id,
    prices.tier,
    prices.token_kind,
    prices.usd_per_million_tokens,
    snapshots.source_rank,
    snapshots.passes_on,
    prices.date_precision,
    prices.url,
    prices.note,
    prices.effective_from,
    prices.known_at,
    snapshots.recorded_at,
    snapshots.recorded_to,
from prices
inner join snapshots
    on prices.source = snapshots.source
    and prices.snapshot_id = snapshots.snapshot_id
where prices.reject_reason is null
    and prices.model_id is not null
    and prices.provider_id is not null
