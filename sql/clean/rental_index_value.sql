-- One published index value or cost constant, resolved, with what is wrong with it; one row per raw row.
-- grain: source, snapshot_id, row_number
-- column: usd_per_gpu_hour | the value, DECIMAL(18,6)
-- column: reject_reason | why the value is not accepted; null: accepted
-- check: reject_reason is not null or usd_per_gpu_hour > 0
with

published as (
    select * from raw.rental_index_value
),

snapshots as (
    select * from clean.snapshot
),

names as (
    select * from clean.resolved_name
),

series as (
    select * from raw.price_series
),

bands as (
    select * from raw.price_band
),

resolved as (
    select
        published.*,
        names.canonical_id as chip_id,
        cast(round(published.value, 6) as decimal(18, 6)) as usd_per_gpu_hour,
        snapshots.observed_at,
        series.index_name is not null as is_known_series,
        snapshots.status as payload_status,
    from published
    inner join snapshots
        on published.source = snapshots.source
        and published.snapshot_id = snapshots.snapshot_id
    left join names
        on names.domain = 'chip'
        and published.source = names.source
        and published.raw_gpu_name = names.raw_name
    left join series on published.index_name = series.index_name
)

select
    resolved.source,
    resolved.snapshot_id,
    resolved.row_number,
    resolved.index_name,
    resolved.method_version,
    resolved.chip_id,
    resolved.raw_gpu_name,
    resolved.price_type,
    resolved.commitment_months,
    resolved.revision,
    resolved.value,
    resolved.currency,
    resolved.usd_per_gpu_hour,
    resolved.provider_count,
    case
        when resolved.payload_status = 'anomalous' then 'payload_anomalous'
        when resolved.currency <> 'USD' then 'currency_without_rate'
        when not resolved.is_known_series then 'unknown_price_series'
        when resolved.usd_per_gpu_hour < bands.low_usd_per_gpu_hour
            or resolved.usd_per_gpu_hour > bands.high_usd_per_gpu_hour
            then 'outside_plausible_band'
    end as reject_reason,
    resolved.date_precision,
    resolved.url,
    resolved.note,
    resolved.value_date,
    coalesce(resolved.known_at, resolved.observed_at) as known_at,
from resolved
left join bands
    on resolved.chip_id = bands.chip_id
    and (bands.price_type = resolved.price_type or bands.price_type = '*')
qualify row_number() over (
    partition by resolved.source, resolved.snapshot_id, resolved.row_number
    order by bands.price_type desc nulls last
) = 1
