-- The whole time line of a price series for a chip, without holes: what it cost, or why that is not known;
-- one row per series, chip and stretch. Equal neighbouring prices are one stretch.
-- grain: price_series_id, chip_id, valid_from
-- column: usd_per_gpu_hour | DECIMAL(18,6); null: see null_reason
-- column: price_fact_id | the first observation of the stretch
-- column: null_reason | no_price (before the first one, or none at all), stale_price or not_offered
-- column: valid_from | first day of the stretch; null: since ever
-- column: valid_to | first day after it; null: open
-- check: (usd_per_gpu_hour is null) = (null_reason is not null)
with

segments as (
    select * from core.price_segment
),

series as (
    select * from core.price_series
),

chips as (
    select * from raw.chip
),

marked as (
    select
        *,
        case
            when lag(usd_per_gpu_hour) over (partition by price_series_id, chip_id order by valid_from)
                = usd_per_gpu_hour
                and lag(valid_to) over (partition by price_series_id, chip_id order by valid_from) = valid_from
                then 0
            else 1
        end as starts_stretch,
    from segments
),

numbered as (
    select
        *,
        sum(starts_stretch) over (
            partition by price_series_id, chip_id
            order by valid_from
            rows between unbounded preceding and current row
        ) as stretch,
    from marked
),

stretches as (
    select
        price_series_id,
        chip_id,
        stretch,
        usd_per_gpu_hour,
        arg_min(price_fact_id, valid_from) as price_fact_id,
        min(valid_from) as valid_from,
        case when count(*) = count(valid_to) then max(valid_to) end as valid_to,
        arg_max(ends_as, valid_from) as ends_as,
    from numbered
    group by price_series_id, chip_id, stretch, usd_per_gpu_hour
),

followed as (
    select
        *,
        lead(valid_from) over (partition by price_series_id, chip_id order by valid_from) as next_from,
    from stretches
),

gaps as (
    select
        price_series_id,
        chip_id,
        cast(null as decimal(18, 6)) as usd_per_gpu_hour,
        cast(null as varchar) as price_fact_id,
        ends_as as null_reason,
        valid_to as valid_from,
        next_from as valid_to,
    from followed
    where valid_to is not null
        and (next_from is null or next_from > valid_to)
),

firsts as (
    select
        series.price_series_id,
        chips.chip_id,
        min(stretches.valid_from) as first_from,
    from series
    cross join chips
    left join stretches
        on series.price_series_id = stretches.price_series_id
        and chips.chip_id = stretches.chip_id
    group by series.price_series_id, chips.chip_id
)

select
    price_series_id,
    chip_id,
    usd_per_gpu_hour,
    price_fact_id,
    cast(null as varchar) as null_reason,
    valid_from,
    valid_to,
from stretches

union all

select
    price_series_id,
    chip_id,
    usd_per_gpu_hour,
    price_fact_id,
    null_reason,
    valid_from,
    valid_to,
from gaps

union all

select
    price_series_id,
    chip_id,
    cast(null as decimal(18, 6)) as usd_per_gpu_hour,
    cast(null as varchar) as price_fact_id,
    'no_price' as null_reason,
    cast(null as date) as valid_from,
    first_from as valid_to,
from firsts
