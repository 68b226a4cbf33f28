-- One accepted value of a published series, as a fact with its three times; one row per value of a snapshot and
-- version of it.
-- grain: index_value_id
-- column: index_value_id | key: source, snapshot and row, and the version where it is not the row as stated
-- column: value | as it was published, in `currency` per GPU-hour
-- column: usd_per_gpu_hour | the value in US dollars per GPU-hour, DECIMAL(18,6)
-- column: recorded_to | moment that a newer version of a seed or a correction replaced it; null: in force
-- check: usd_per_gpu_hour > 0
with

published as (
    select * from clean.rental_index_value
),

snapshots as (
    select * from clean.snapshot
),

series as (
    select * from raw.price_series
),

versions as (
    select * from clean.corrected_row where row_kind = 'rental_index_value'
)

select
    concat(
        published.source,
        '/',
        published.snapshot_id,
        '/',
        published.row_number,
        case when versions.version > 0 then concat('/version-', versions.version) else '' end
    ) as index_value_id,
    published.source,
    published.snapshot_id,
    published.row_number,
    coalesce(versions.version, 0) as version,
    published.index_name,
    published.method_version,
    published.chip_id,
    published.price_type,
    published.commitment_months,
    case when versions.is_corrected then 'correction' else published.revision end as revision,
    published.raw_gpu_name,
    coalesce(versions.price, published.value) as value,
    published.currency,
    coalesce(cast(round(versions.price, 6) as decimal(18, 6)), published.usd_per_gpu_hour) as usd_per_gpu_hour,
    published.provider_count,
    snapshots.source_rank,
    snapshots.passes_on and series.passes_on as passes_on,
    published.date_precision,
    published.url,
    published.note,
    published.value_date,
    coalesce(versions.known_at, published.known_at) as known_at,
    coalesce(versions.recorded_at, snapshots.recorded_at) as recorded_at,
    case when versions.source is null then snapshots.recorded_to else versions.recorded_to end as recorded_to,
from published
inner join snapshots
    on published.source = snapshots.source
    and published.snapshot_id = snapshots.snapshot_id
inner join series on published.index_name = series.index_name
left join versions
    on published.source = versions.source
    and published.snapshot_id = versions.snapshot_id
    and published.row_number = versions.row_number
where published.reject_reason is null
    and published.chip_id is not null
