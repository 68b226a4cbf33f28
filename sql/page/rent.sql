-- What does a GPU-hour of a chip rent for, by index and by provider?
-- Chips that were measured. Our own index with its band, published indices and cost models, and what each provider
-- asked; only days on which a value moved, began or ended, and of the own index a day a week beyond 90 days.
with

chips as (
    select distinct chip_id from mart.benchmark_point
),

run as (
    select cast(as_of at time zone 'UTC' as date) as today from core.run
),

series as (
    select * from mart.price_series where price_basis <> 'provider_price'
),

coverage as (
    select * from mart.price_coverage where usd_per_gpu_hour is not null
),

indices as (
    select * from mart.rental_index_daily where usd_per_gpu_hour is not null
),

asked as (
    select * from mart.rental_price_daily
),

providers as (
    select * from mart.provider
),

known as (
    select
        coverage.chip_id,
        coverage.date,
        'index' as kind,
        coverage.price_series_id as series_key,
        series.title as name,
        series.price_type,
        series.commitment_months,
        series.segment,
        cast(coverage.usd_per_gpu_hour as double) as usd_per_gpu_hour,
        indices.band_usd_per_gpu_hour,
        indices.provider_count,
        coverage.price_age_days as age_days,
        indices.index_id is not null as is_own,
    from coverage
    inner join series on coverage.price_series_id = series.price_series_id
    left join indices
        on coverage.price_series_id = concat(
            'index:',
            indices.index_id
        )
        and coverage.chip_id = indices.chip_id
        and coverage.date = indices.date

    union all

    select
        asked.chip_id,
        asked.date,
        'provider' as kind,
        asked.provider_id as series_key,
        coalesce(providers.provider_name, asked.provider_id) as name,
        asked.price_type,
        asked.commitment_months,
        asked.segment,
        cast(asked.usd_per_gpu_hour as double) as usd_per_gpu_hour,
        cast(null as double) as band_usd_per_gpu_hour,
        cast(null as bigint) as provider_count,
        asked.age_days,
        false as is_own,
    from asked
    left join providers on asked.provider_id = providers.provider_id
),

beside as (
    select
        known.*,
        lag(known.date) over along as date_before,
        lag(known.usd_per_gpu_hour) over along as usd_before,
        lead(known.date) over along as date_after,
    from known
    inner join chips on known.chip_id = chips.chip_id
    window along as (
        partition by known.chip_id, known.kind, known.series_key, known.price_type, known.commitment_months
        order by known.date
    )
),

stretches as (
    select
        *,
        sum(case when date_before = date - 1 then 0 else 1 end) over (
            partition by chip_id, kind, series_key, price_type, commitment_months
            order by date
        ) as stretch,
    from beside
)

select
    stretches.chip_id,
    stretches.price_type,
    stretches.commitment_months,
    stretches.kind,
    stretches.name,
    stretches.segment,
    stretches.date,
    stretches.usd_per_gpu_hour,
    stretches.usd_per_gpu_hour - stretches.band_usd_per_gpu_hour as low_usd_per_gpu_hour,
    stretches.usd_per_gpu_hour + stretches.band_usd_per_gpu_hour as high_usd_per_gpu_hour,
    stretches.provider_count,
    stretches.age_days,
    case when stretches.is_own then 'derived' else 'listed' end as evidence,
    concat(stretches.name, ' ', cast(stretches.stretch as varchar)) as stretch,
from stretches
cross join run
where (
    stretches.usd_before is null
    or stretches.date_before <> stretches.date - 1
    or stretches.usd_before <> stretches.usd_per_gpu_hour
    or stretches.date_after is null
    or stretches.date_after <> stretches.date + 1
)
and (
    not stretches.is_own
    or date_diff('day', stretches.date, run.today) <= 90
    or date_diff('day', stretches.date, run.today) % 7 = 0
)
order by
    stretches.chip_id,
    stretches.price_type,
    stretches.commitment_months,
    stretches.kind,
    stretches.name,
    stretches.date
