-- One accepted quote of a known chip by a known provider, as a fact with its three times; one row per
-- quote of a snapshot and version of it. Valid: from effective_from, seen at observed_at and at the snapshot's sightings.
-- grain: quote_id
-- column: quote_id | key: source, snapshot and row, and the version where it is not the row as stated
-- column: usd_per_gpu_hour | listed price in US dollars per GPU-hour, DECIMAL(18,6)
-- column: derivation | null: listed as it is; else how the figure came about: it is shown here, and is no price, vote or offer
--    anywhere: ask_statistic, or list_price_less_saving (spot: a list price less a stated saving in whole percent)
-- column: price | as the source lists it, in `currency` for one `price_unit`
-- column: fx_usd_per_unit | US dollars that one unit of `currency` was worth on the day of the look
-- column: full_node | the quote rents a whole node, or is a price per GPU whatever the machine
-- column: recorded_to | moment that a newer version of a seed or a correction replaced it; null: in force
-- check: usd_per_gpu_hour > 0
with

quotes as (
    select * from clean.rental_quote
),

snapshots as (
    select * from clean.snapshot
),

versions as (
    select * from clean.corrected_row where row_kind = 'rental_quote'
)

select
    concat(
        quotes.source,
        '/',
        quotes.snapshot_id,
        '/',
        quotes.row_number,
        case when versions.version > 0 then concat('/version-', versions.version) else '' end
    ) as quote_id,
    quotes.source,
    quotes.snapshot_id,
    snapshots.slice,
    quotes.row_number,
    coalesce(versions.version, 0) as version,
    quotes.provider_id,
    quotes.chip_id,
    quotes.offer_key,
    quotes.raw_gpu_name,
    quotes.region,
    quotes.price_type,
    quotes.commitment_months,
    quotes.availability,
    quotes.derivation,
    quotes.machine_key,
    quotes.host_key,
    quotes.full_node,
    quotes.gpu_count,
    coalesce(versions.price, quotes.price) as price,
    quotes.currency,
    quotes.price_unit,
    quotes.term_hours,
    quotes.fx_usd_per_unit,
    quotes.fx_rate_on,
    coalesce(
        cast(round(versions.price / quotes.gpu_hours * quotes.fx_usd_per_unit, 6) as decimal(18, 6)),
        quotes.price_usd_per_gpu_hour
    ) as usd_per_gpu_hour,
    snapshots.source_rank,
    snapshots.max_age_days,
    snapshots.passes_on,
    snapshots.is_seed,
    quotes.date_precision,
    quotes.url,
    quotes.note,
    quotes.observed_at,
    quotes.effective_from,
    coalesce(versions.known_at, quotes.known_at) as known_at,
    greatest(
        coalesce(versions.recorded_at, snapshots.recorded_at),
        coalesce(quotes.fx_recorded_at, snapshots.recorded_at)
    ) as recorded_at,
    case when versions.source is null then snapshots.recorded_to else versions.recorded_to end as recorded_to,
from quotes
inner join snapshots
    on quotes.source = snapshots.source
    and quotes.snapshot_id = snapshots.snapshot_id
left join versions
    on quotes.source = versions.source
    and quotes.snapshot_id = versions.snapshot_id
    and quotes.row_number = versions.row_number
where quotes.reject_reason is null
    and quotes.chip_id is not null
    and quotes.provider_id is not null
