-- What a chip costs on the run's day on each series that is no single provider's, or why that is not known; one row
-- per series and chip.
-- grain: price_series_id, chip_id
-- column: usd_per_gpu_hour | DECIMAL(18,6); null: see null_reason
-- column: price_age_days | days since it was observed; null: there is none
-- column: priced_on | day of the observation
-- column: null_reason | no_price, stale_price or not_offered
-- check: (usd_per_gpu_hour is null) = (null_reason is not null)
with

timeline as (
    select * from core.price_timeline
),

segments as (
    select * from core.price_segment
),

series as (
    select * from core.price_series where price_basis <> 'provider_price'
),

run as (
    select cast(as_of at time zone 'UTC' as date) as today
    from core.run
)

select
    series.price_series_id,
    timeline.chip_id,
    series.price_type,
    series.headline_order,
    series.index_name,
    timeline.usd_per_gpu_hour,
    -- A price that reaches back to its stated start is not older than its day.
    case
        when segments.priced_on > run.today then 0
        else date_diff('day', segments.priced_on, run.today)
    end as price_age_days,
    segments.priced_on,
    timeline.null_reason,
from timeline
cross join run
inner join series on timeline.price_series_id = series.price_series_id
left join segments
    on timeline.price_series_id = segments.price_series_id
    and timeline.chip_id = segments.chip_id
    and segments.valid_from <= run.today
    and (segments.valid_to is null or segments.valid_to > run.today)
where (timeline.valid_from is null or timeline.valid_from <= run.today)
    and (timeline.valid_to is null or timeline.valid_to > run.today)
