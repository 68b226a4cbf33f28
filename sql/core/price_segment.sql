-- The price that stands on a series and chip: where several sources hold one for the same days, the best-ranked
-- stands, and the others fill only what it leaves open; one row per series, chip and stretch of days.
-- grain: price_series_id, chip_id, valid_from
-- column: usd_per_gpu_hour | DECIMAL(18,6)
-- column: price_fact_id | the quote or index value behind it
-- column: source | the source that stands
-- column: priced_on | day of the observation; a price's age counts from here
-- column: valid_from | first day on which it holds
-- column: valid_to | first day on which it no longer holds; null: until superseded
-- column: ends_as | what follows when no price does: stale_price or not_offered
-- check: valid_to is null or valid_to > valid_from
-- check: usd_per_gpu_hour > 0
with

intervals as (
    select * from core.price_interval
),

edges as (
    select price_series_id, chip_id, valid_from as edge from intervals
    union
    select price_series_id, chip_id, valid_to as edge from intervals where valid_to is not null
),

pieces as (
    select
        price_series_id,
        chip_id,
        edge as valid_from,
        lead(edge) over (partition by price_series_id, chip_id order by edge) as valid_to,
    from edges
)

select
    pieces.price_series_id,
    pieces.chip_id,
    intervals.source,
    intervals.price_fact_id,
    intervals.usd_per_gpu_hour,
    intervals.ends_as,
    intervals.priced_on,
    pieces.valid_from,
    pieces.valid_to,
from pieces
inner join intervals
    on pieces.price_series_id = intervals.price_series_id
    and pieces.chip_id = intervals.chip_id
    and pieces.valid_from >= intervals.valid_from
    and (intervals.valid_to is null or pieces.valid_from < intervals.valid_to)
qualify row_number() over (
    partition by pieces.price_series_id, pieces.chip_id, pieces.valid_from
    order by intervals.source_rank, intervals.priced_on desc, intervals.source
) = 1
