-- Figures of one fact are corrected together: one locator, one file, one known_at, each figure once. Otherwise the order
-- of rows would decide. And a locator names one fact: of two that one payload states under it, a person meant one.
with

in_force as (
    select * from core.correction where action = 'correct' and recorded_to is null
),

results as (
    select * from core.benchmark_result where corrected_by is not null and recorded_to is null
),

figures as (
    select * from clean.correctable_figure where recorded_to is null
),

quotes as (
    select * from raw.rental_quote
),

facts as (
    select distinct
        figures.row_kind,
        figures.locator,
        figures.source,
        figures.snapshot_id,
        concat_ws(
            '|',
            quotes.provider,
            quotes.offer_key,
            quotes.raw_gpu_name,
            coalesce(quotes.region, '-'),
            coalesce(cast(quotes.gpu_count as varchar), '-'),
            quotes.price_unit,
            quotes.currency
        ) as fact,
    from figures
    inner join quotes
        on figures.row_kind = 'rental_quote'
        and figures.source = quotes.source
        and figures.snapshot_id = quotes.snapshot_id
        and figures.row_number = quotes.row_number

    union all

    select distinct
        'benchmark_result' as row_kind,
        corrected_by as locator,
        source,
        snapshot_id,
        benchmark_point_id as fact,
    from results
)

select
    concat(
        'seeds/correction: ',
        locator,
        ' stands with a figure twice, in two files or with two known_at: state its figures once each, with one known_at'
    ) as message,
from in_force
group by row_kind, locator
having count(*) > count(distinct field)
    or count(distinct known_at) > 1
    or count(distinct source) > 1

union all

select
    concat(
        'seeds/correction: ',
        min(corrected_by),
        ' and ',
        max(corrected_by),
        ' name the same result: keep one of the two locators'
    ) as message,
from results
group by source, snapshot_id, row_number
having count(distinct corrected_by) > 1

union all

select
    concat(
        'seeds/correction: ',
        facts.locator,
        ' is the name of ',
        count(distinct facts.fact),
        ' facts in one payload of ',
        facts.source,
        ', and a correction is of one: take the row out, or name a benchmark point by its run and id'
    ) as message,
from facts
inner join in_force
    on facts.row_kind = in_force.row_kind
    and facts.locator = in_force.locator
group by facts.locator, facts.source, facts.snapshot_id
having count(distinct facts.fact) > 1
