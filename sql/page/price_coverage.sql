-- Which chips have a price today, on which series, and how old is it?
-- Chips that were measured, on indices, cost models and own contracts; the percentage is of the days of the last year.
with

chips as (
    select distinct chip_id from mart.benchmark_point
),

series as (
    select * from mart.price_series where price_basis <> 'provider_price'
),

coverage as (
    select * from mart.price_coverage
),

run as (
    select cast(as_of at time zone 'UTC' as date) as today from core.run
)

select
    coverage.chip_id,
    coverage.price_series_id,
    max(series.title) as title,
    max(coverage.price_type) as price_type,
    max(case when coverage.date = run.today then coverage.status end) as status,
    max(case when coverage.date = run.today then cast(coverage.usd_per_gpu_hour as double) end) as usd_per_gpu_hour,
    max(case when coverage.date = run.today then coverage.price_age_days end) as price_age_days,
    max(
        case
            when coverage.date = run.today
                then case coverage.status
                    when 'priced' then cast(coverage.price_age_days as varchar)
                    when 'stale_price' then 'old'
                    else '–'
                end
        end
    ) as age_or_lack,
    100 * avg(case when coverage.status = 'priced' then 1.0 else 0.0 end) as priced_days_percent,
from coverage
inner join chips on coverage.chip_id = chips.chip_id
inner join series on coverage.price_series_id = series.price_series_id
cross join run
where coverage.date > run.today - 365
group by coverage.chip_id, coverage.price_series_id
order by coverage.chip_id, min(series.headline_order) nulls last, coverage.price_series_id
