-- A corrected figure obeys what every stated one obeys: the price bands of its chip, and the rules of a benchmark point.
-- A stated one that does not is set aside and shown; a corrected one was typed by a person who is there to mend it.
with

versions as (
    select * from clean.corrected_row where is_corrected and recorded_to is null
),

bands as (
    select * from raw.price_band
),

prices as (
    select 'rental_quote' as row_kind, source, snapshot_id, row_number, version, chip_id, price_type, usd_per_gpu_hour,
    from core.rental_quote

    union all

    select 'rental_index_value' as row_kind, source, snapshot_id, row_number, version, chip_id, price_type, usd_per_gpu_hour,
    from core.rental_index_value
),

results as (
    select * from clean.benchmark_result where version > 0 and reject_reason is not null
),

points as (
    select source, snapshot_id, row_number, benchmark_point_id,
    from core.benchmark_result
    where version = 0
)

select distinct
    concat('seeds/correction: ', versions.locator, ': ', prices.usd_per_gpu_hour, ' $ per GPU-hour is outside the band of its chip') as message,
from versions
inner join prices
    on versions.row_kind = prices.row_kind
    and versions.source = prices.source
    and versions.snapshot_id = prices.snapshot_id
    and versions.row_number = prices.row_number
    and versions.version = prices.version
inner join bands
    on prices.chip_id = bands.chip_id
    and (bands.price_type = prices.price_type or bands.price_type = '*')
-- The band of the price type stands before the one for all.
left join bands as own_bands
    on bands.price_type = '*'
    and prices.chip_id = own_bands.chip_id
    and prices.price_type = own_bands.price_type
where own_bands.chip_id is null
    and (
        prices.usd_per_gpu_hour < bands.low_usd_per_gpu_hour
        or prices.usd_per_gpu_hour > bands.high_usd_per_gpu_hour
    )

union

select concat('seeds/correction: ', versions.locator, ': the corrected point would be refused: ', results.reject_reason) as message,
from versions
inner join results
    on versions.row_kind = 'benchmark_result'
    and versions.source = results.source
    and versions.snapshot_id = results.snapshot_id
    and versions.row_number = results.row_number
    and versions.locator = results.corrected_by
    and versions.version = results.version
left join points
    on versions.source = points.source
    and versions.snapshot_id = points.snapshot_id
    and versions.row_number = points.row_number
where versions.benchmark_point_id is null
    or versions.benchmark_point_id = points.benchmark_point_id
