-- A value of a published price series that its publisher stated differently later, for the same day: the record was
-- mended and no price moved; one row per series, chip, day and later statement. Equal statements are no revision.
-- grain: price_series_id, chip_id, value_date, revised_known_at
-- column: before_usd_per_gpu_hour | value as it was stated, DECIMAL(18,6)
-- column: after_usd_per_gpu_hour | value as it was stated next
-- column: before_price_fact_id | the earlier statement
-- column: after_price_fact_id | the later one
-- column: value_date | day from which the value holds
-- column: revised_known_at | when the later statement could be known
-- check: before_usd_per_gpu_hour <> after_usd_per_gpu_hour
with

published as (
    select * from core.known_rental_index_value
),

series as (
    select * from core.price_series
),

sequenced as (
    select
        series.price_series_id,
        published.chip_id,
        lag(published.usd_per_gpu_hour) over statements as before_usd_per_gpu_hour,
        published.usd_per_gpu_hour as after_usd_per_gpu_hour,
        lag(published.index_value_id) over statements as before_price_fact_id,
        published.index_value_id as after_price_fact_id,
        published.value_date,
        published.known_at as revised_known_at,
        lag(published.known_at) over statements as stated_known_at,
    from published
    inner join series
        on series.price_basis <> 'own_index'
        and published.index_name = series.index_name
        and published.price_type = series.price_type
        and published.commitment_months is not distinct from series.commitment_months
    -- As the standing value is chosen: the latest known one, and of one moment that of the best source.
    window statements as (
        partition by series.price_series_id, published.chip_id, published.value_date
        order by published.known_at, published.source_rank desc, published.recorded_at, published.index_value_id
    )
)

select
    price_series_id,
    chip_id,
    before_usd_per_gpu_hour,
    after_usd_per_gpu_hour,
    before_price_fact_id,
    after_price_fact_id,
    value_date,
    revised_known_at,
from sequenced
where before_usd_per_gpu_hour <> after_usd_per_gpu_hour
    -- Two statements of one moment contradict each other; neither mends the other.
    and stated_known_at < revised_known_at
