-- One accepted value of a published series, as a fact with its three times; one row per value of a snapshot.
-- grain: index_value_id
-- column: index_value_id | key: source, snapshot and row
-- column: value | as it was published, in `currency` per GPU-hour
-- column: usd_per_gpu_hour | the value in US dollars per GPU-hour, DECIMAL(18,6)
-- column: recorded_to | moment that a newer version of a seed replaced it; null: in force
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
)

select
    concat(published.source, '/', published.snapshot_id, '/', published.row_number) as index_value_id,
    published.source,
    published.snapshot_id,
    published.row_number,
    published.index_name,
    published.method_version,
    published.chip_id,
    published.price_type,
    published.commitment_months,
    published.revision,
    published.raw_gpu_name,
    published.value,
    published.currency,
    published.usd_per_gpu_hour,
    published.provider_count,
    snapshots.source_rank,
    snapshots.passes_on and series.passes_on as passes_on,
    published.date_precision,
    published.url,
    published.note,
    published.value_date,
    published.known_at,
    snapshots.recorded_at,
    snapshots.recorded_to,
from published
inner join snapshots
    on published.source = snapshots.source
    and published.snapshot_id = snapshots.snapshot_id
inner join series on published.index_name = series.index_name
where published.reject_reason is null
    and published.chip_id is not null
