-- Whether a chip has a price on a day, and how old it is; one row per chip, UTC day and price series that has
-- ever priced the chip or stands beside the headline. Starts with the first benchmark.
-- grain: date, chip_id, price_series_id
-- column: date | UTC day
-- column: chip_id | the chip
-- column: price_series_id | the price basis
-- column: price_type | its price type
-- column: status | priced, stale_price, not_offered or no_price
-- column: usd_per_gpu_hour | price in US dollars per GPU-hour; null: see status
-- column: price_age_days | days since it was observed
-- check: (price_age_days is null) = (usd_per_gpu_hour is null)
-- check: (status = 'priced') = (usd_per_gpu_hour is not null)
with

timeline as (
    select * from core.price_timeline
),

segments as (
    select * from core.price_segment
),

series as (
    select * from core.price_series
),

run as (
    select * from core.run
),

benchmarked as (
    select
        views.chip_id,
        min(points.measured_from) as first_on,
    from core.benchmark_view as views
    inner join core.benchmark_point as points on views.benchmark_point_id = points.benchmark_point_id
    group by views.chip_id
),

days as (
    select
        benchmarked.chip_id,
        cast(
            unnest(
                generate_series(
                    benchmarked.first_on,
                    cast(run.as_of at time zone 'UTC' as date),
                    interval 1 day
                )
            ) as date
        ) as date,
    from benchmarked
    cross join run
),

priced_chips as (
    select distinct
        price_series_id,
        chip_id,
    from segments
)

select
    days.date,
    days.chip_id,
    timeline.price_series_id,
    series.price_type,
    coalesce(timeline.null_reason, 'priced') as status,
    timeline.usd_per_gpu_hour,
    -- A price that reaches back to its stated start is not older than its day; no price has no age.
    case
        when segments.priced_on > days.date then 0
        else date_diff('day', segments.priced_on, days.date)
    end as price_age_days,
from days
inner join timeline
    on days.chip_id = timeline.chip_id
    and (timeline.valid_from is null or days.date >= timeline.valid_from)
    and (timeline.valid_to is null or days.date < timeline.valid_to)
inner join series on timeline.price_series_id = series.price_series_id
left join priced_chips
    on timeline.price_series_id = priced_chips.price_series_id
    and timeline.chip_id = priced_chips.chip_id
left join segments
    on timeline.price_series_id = segments.price_series_id
    and timeline.chip_id = segments.chip_id
    and days.date >= segments.valid_from
    and (segments.valid_to is null or days.date < segments.valid_to)
where series.headline_order is not null or priced_chips.chip_id is not null
