-- One correction or retraction of stored facts, as a fact with its three times; one row per correction of a
-- snapshot.
-- grain: correction_id
-- column: correction_id | key: source, snapshot and row
-- column: locator | which facts it speaks of; see pipelines/corrections.py
-- column: action | retract: they leave current views; correct: a figure of them is another one
-- column: field | the figure; null: retracted as a whole
-- column: value_expected | the figure as its source states it
-- column: value_new | the figure that takes its place
-- column: passes_on | the terms of every source of these facts let them be published
-- column: recorded_to | moment that a newer version of a seed replaced it; null: in force
with

corrections as (
    select * from raw.correction
),

snapshots as (
    select * from clean.snapshot
),

sources as (
    select * from raw.source where not passes_on
),

series as (
    select * from raw.price_series where not passes_on
),

figures as (
    select * from clean.correctable_figure where not passes_on
),

results as (
    select * from core.benchmark_result where not passes_on
),

-- What names a withheld source or series tells of it, whether it found anything or not.
withheld as (
    select
        row_kind,
        locator,
    from figures

    union

    select
        'benchmark_result' as row_kind,
        benchmark_point_id as locator,
    from results

    union

    select
        'benchmark_result' as row_kind,
        concat(publisher, '/run/', run_id) as locator,
    from results

    union

    select
        'benchmark_result' as row_kind,
        concat(publisher, '/result/', result_id) as locator,
    from results

    union

    select
        corrections.row_kind,
        corrections.locator,
    from corrections
    inner join sources
        on corrections.row_kind <> 'benchmark_result'
        and split_part(corrections.locator, '/', 1) = sources.source

    union

    select
        corrections.row_kind,
        corrections.locator,
    from corrections
    inner join series
        on corrections.row_kind = 'rental_index_value'
        and split_part(corrections.locator, '/', 2) = series.index_name
)

select
    concat(corrections.source, '/', corrections.snapshot_id, '/', corrections.row_number) as correction_id,
    corrections.source,
    corrections.snapshot_id,
    corrections.row_number,
    corrections.row_kind,
    corrections.locator,
    corrections.action,
    corrections.field,
    corrections.value_expected,
    corrections.value_new,
    corrections.reason,
    corrections.url,
    withheld.locator is null as passes_on,
    corrections.decided_on,
    coalesce(corrections.known_at, snapshots.observed_at) as known_at,
    snapshots.recorded_at,
    snapshots.recorded_to,
from corrections
inner join snapshots
    on corrections.source = snapshots.source
    and corrections.snapshot_id = snapshots.snapshot_id
left join withheld
    on corrections.row_kind = withheld.row_kind
    and corrections.locator = withheld.locator
