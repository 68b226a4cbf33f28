-- One accepted token price of a known model, as a fact with its three times; one row per price of a snapshot
-- and version of it.
-- grain: token_price_id
-- column: token_price_id | key: source, snapshot and row, and the version where it is not the row as stated
-- column: usd_per_million_tokens | DECIMAL(18,6)
-- column: recorded_to | moment that a newer version of a seed or a correction replaced it; null: in force
with

prices as (
    select * from clean.token_price
),

snapshots as (
    select * from clean.snapshot
),

versions as (
    select * from clean.corrected_row where row_kind = 'token_price'
)

select
    concat(
        prices.source,
        '/',
        prices.snapshot_id,
        '/',
        prices.row_number,
        case when versions.version > 0 then concat('/version-', versions.version) else '' end
    ) as token_price_id,
    prices.source,
    prices.snapshot_id,
    prices.row_number,
    coalesce(versions.version, 0) as version,
    prices.provider_id,
    prices.model_id,
    prices.tier,
    prices.token_kind,
    coalesce(cast(round(versions.price, 6) as decimal(18, 6)), prices.usd_per_million_tokens)
        as usd_per_million_tokens,
    snapshots.source_rank,
    snapshots.passes_on,
    prices.date_precision,
    prices.url,
    prices.note,
    prices.effective_from,
    coalesce(versions.known_at, prices.known_at) as known_at,
    coalesce(versions.recorded_at, snapshots.recorded_at) as recorded_at,
    case when versions.source is null then snapshots.recorded_to else versions.recorded_to end as recorded_to,
from prices
inner join snapshots
    on prices.source = snapshots.source
    and prices.snapshot_id = snapshots.snapshot_id
left join versions
    on prices.source = versions.source
    and prices.snapshot_id = versions.snapshot_id
    and prices.row_number = versions.row_number
where prices.reject_reason is null
    and prices.model_id is not null
    and prices.provider_id is not null
