-- What a correction in force came to: whether its facts are there, and whether their newest statement is what it expects;
-- one row per correction.
-- grain: correction_id
-- column: fact_count | facts that its locator finds, each in its newest statement; of a retraction the points
-- column: status | applied; no_such_fact: nothing stored fits its locator; no_longer_needed: the source itself says the new
--    value now; set_aside: what the source states is rejected or of no known chip, model or provider, so that nothing of it
--    counts, corrected or not; not_as_expected: the source says a third value, and what is right must be looked up
-- column: value_stated | the figure as the source states it last, the contrary one where there is one; null: no such fact
-- check: (status = 'no_such_fact') = (fact_count = 0)
with

corrections as (
    select * from core.known_correction
),

figures as (
    select * from core.known_correctable_figure
),

results as (
    select * from core.known_benchmark_result
),

quotes as (
    select * from core.known_rental_quote
),

published as (
    select * from core.known_rental_index_value
),

prices as (
    select * from core.known_token_price
),

points as (
    select distinct
        source,
        snapshot_id,
        row_number,
        benchmark_point_id,
    from results
),

-- Rows that count, in some version of them: a rule that sets a row aside reads it as stated.
accepted as (
    select 'benchmark_result' as row_kind, source, snapshot_id, row_number, from results

    union

    select 'rental_quote' as row_kind, source, snapshot_id, row_number, from quotes

    union

    select 'rental_index_value' as row_kind, source, snapshot_id, row_number, from published

    union

    select 'token_price' as row_kind, source, snapshot_id, row_number, from prices
),

-- The point that the locator means, of a run with many.
located as (
    select
        figures.*,
        coalesce(points.benchmark_point_id, '-') as point,
        accepted.row_kind is not null as is_accepted,
    from figures
    left join accepted
        on figures.row_kind = accepted.row_kind
        and figures.source = accepted.source
        and figures.snapshot_id = accepted.snapshot_id
        and figures.row_number = accepted.row_number
    left join points
        on figures.row_kind = 'benchmark_result'
        and figures.source = points.source
        and figures.snapshot_id = points.snapshot_id
        and figures.row_number = points.row_number
    where figures.benchmark_point_id is null
        or figures.benchmark_point_id = points.benchmark_point_id
),

-- All rows of the newest payload: two that say different things are no statement to correct.
newest as (
    select *
    from located
    qualify rank() over (
        partition by row_kind, locator, field, source, point
        order by known_at desc, recorded_at desc, snapshot_id desc
    ) = 1
),

retracted as (
    select
        corrections.correction_id,
        count(distinct results.benchmark_point_id) as fact_count,
    from corrections
    inner join results
        on corrections.action = 'retract'
        and corrections.locator in (
            results.benchmark_point_id,
            concat(results.publisher, '/run/', results.run_id),
            concat(results.publisher, '/result/', results.result_id)
        )
    group by corrections.correction_id
),

compared as (
    select
        corrections.correction_id,
        newest.stated_value,
        newest.is_accepted,
        newest.stated_value = cast(corrections.value_expected as double) as is_expected,
        newest.stated_value <> cast(corrections.value_expected as double)
        and newest.stated_value <> cast(corrections.value_new as double) as is_contrary,
    from corrections
    inner join newest
        on corrections.action = 'correct'
        and corrections.row_kind = newest.row_kind
        and corrections.locator = newest.locator
        and corrections.field = newest.field
),

corrected as (
    select
        correction_id,
        count(*) as fact_count,
        max(case when is_expected then 1 else 0 end) = 1 as finds_expected,
        max(case when is_expected and is_accepted then 1 else 0 end) = 1 as is_applied,
        max(case when is_contrary then 1 else 0 end) = 1 as finds_contrary,
        coalesce(
            max(case when is_contrary then stated_value end),
            max(case when is_expected then stated_value end),
            max(stated_value)
        ) as value_stated,
    from compared
    group by correction_id
)

select
    corrections.correction_id,
    coalesce(corrected.fact_count, retracted.fact_count, 0) as fact_count,
    case
        when coalesce(corrected.fact_count, retracted.fact_count, 0) = 0 then 'no_such_fact'
        when corrected.finds_contrary then 'not_as_expected'
        when retracted.fact_count > 0 or corrected.is_applied then 'applied'
        when corrected.finds_expected then 'set_aside'
        else 'no_longer_needed'
    end as status,
    corrected.value_stated,
from corrections
left join corrected on corrections.correction_id = corrected.correction_id
left join retracted on corrections.correction_id = retracted.correction_id
