-- The notes of a publisher on what it changed that fit a benchmark point: on its configuration, and with its run as the
-- first or, where no note names that run, with its day; one row per point that any note fits. A note is what its
-- publisher claims, and several that fit are not weighed against each other.
-- grain: benchmark_point_id
-- column: change_note_count | notes that fit
-- column: change_note_id | the note, as mart.change_note has it; null: several fit
-- column: change_note_url | the change that it names; null: several fit, or it names none
-- check: change_note_count > 0
with

points as (
    select * from core.benchmark_statement
),

notes as (
    select * from core.known_change_note
),

-- A configuration's name is model-precision-chip-engine, then what is special of it. A pattern names no one.
fitting as (
    select
        points.benchmark_point_id,
        notes.note_id,
        notes.url,
        case when notes.run_id = points.run_id then 1 else 2 end as fit_rank,
    from points
    inner join notes
        on points.publisher = notes.publisher
        and points.chip_id = notes.chip_id
        and points.model_id = notes.model_id
        and contains(
            concat('-', notes.config_key, '-'),
            concat('-', points.weight_precision, '-', notes.raw_chip_name, '-', points.engine, '-')
        )
        and contains(concat(notes.config_key, '-'), '-mtp-') = (coalesce(points.speculative_method, 'none') = 'mtp')
        and (points.disaggregated or not contains(concat(notes.config_key, '-'), '-disagg-'))
        and contains(concat(notes.config_key, '-'), '-agentic-') = (points.workload_id = 'agentx')
        and (notes.run_id = points.run_id or notes.changed_on = points.measured_on)
),

-- The same note stands in several payloads.
told as (
    select
        benchmark_point_id,
        note_id,
        min(url) as url,
        min(fit_rank) as fit_rank,
    from fitting
    group by benchmark_point_id, note_id
),

nearest as (
    select *
    from told
    qualify fit_rank = min(fit_rank) over (partition by benchmark_point_id)
)

select
    benchmark_point_id,
    count(*) as change_note_count,
    case when count(*) = 1 then min(note_id) end as change_note_id,
    case when count(*) = 1 then min(url) end as change_note_url,
from nearest
group by benchmark_point_id
