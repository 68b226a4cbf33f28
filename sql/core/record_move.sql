-- A move of a line's throughput that was in the record and not in the chip: a figure that was mended, a point that was
-- withdrawn, and the change that the withdrawn point had been published with; one row per line, chip and event. Output
-- tokens over all GPUs.
-- grain: line_id, chip_id, kind, before_point_id, after_point_id, known_at
-- column: line_id | of the view: with token kind and GPU scope
-- column: kind | withdrawn_change, retraction or correction
-- column: before_tok_s_gpu | throughput before, hardware factor applied
-- column: after_tok_s_gpu | throughput after; null: nothing stood in the line once the point was gone
-- column: after_point_id | of a retraction the point that stood in its place; of a correction the same point
-- column: moved_on | day on which the line moved
-- column: known_at | when the world could know it
-- check: before_tok_s_gpu > 0
-- check: after_tok_s_gpu is null or after_tok_s_gpu > 0
with

points as (
    select * from core.benchmark_statement
),

views as (
    select *
    from core.benchmark_view
    where token_kind = 'output'
        and gpu_scope = 'all'
        and cost_allocation = 'whole_bill'
        and throughput_tok_s_gpu is not null
),

steps as (
    select * from core.benchmark_step where withdrawn
),

revisions as (
    select * from core.benchmark_revision
),

readings as (
    select
        views.benchmark_point_id,
        views.chip_id,
        views.line_id,
        views.throughput_tok_s_gpu,
        points.output_tok_s_gpu,
        points.total_tok_s_gpu,
        points.measured_from,
        points.retracted_on,
        points.retraction_known_at,
        points.known_at,
        row_number() over (
            partition by views.line_id, views.chip_id
            order by
                points.measured_from,
                try_cast(points.run_id as bigint) nulls first,
                points.known_at,
                points.benchmark_point_id
        ) as place,
    from views
    inner join points on views.benchmark_point_id = points.benchmark_point_id
),

withdrawn_changes as (
    select
        later.line_id,
        later.chip_id,
        earlier.benchmark_point_id as before_point_id,
        later.benchmark_point_id as after_point_id,
        earlier.throughput_tok_s_gpu as before_tok_s_gpu,
        later.throughput_tok_s_gpu as after_tok_s_gpu,
        later.measured_from as moved_on,
        later.known_at,
    from steps
    inner join readings as later on steps.after_point_id = later.benchmark_point_id
    inner join readings as earlier
        on steps.before_point_id = earlier.benchmark_point_id
        and later.chip_id = earlier.chip_id
),

-- What stood when the point went: the newest of its line that was there before it and was not gone itself.
retracted as (
    select
        gone.line_id,
        gone.chip_id,
        gone.benchmark_point_id as before_point_id,
        gone.throughput_tok_s_gpu as before_tok_s_gpu,
        gone.retracted_on as moved_on,
        gone.retraction_known_at as known_at,
        max(others.place) as standing_place,
        max(case when others.place > gone.place then 1 else 0 end) = 1 as was_superseded,
    from readings as gone
    left join readings as others
        on gone.line_id = others.line_id
        and gone.chip_id = others.chip_id
        and gone.place <> others.place
        and others.measured_from <= gone.retracted_on
        and (others.retracted_on is null or others.retracted_on > gone.retracted_on)
    where gone.retracted_on is not null
    group by
        gone.line_id,
        gone.chip_id,
        gone.benchmark_point_id,
        gone.throughput_tok_s_gpu,
        gone.retracted_on,
        gone.retraction_known_at
),

-- A figure that was superseded when it was mended moved nothing on that day.
corrected as (
    select
        readings.line_id,
        readings.chip_id,
        readings.benchmark_point_id,
        revisions.before_value * readings.throughput_tok_s_gpu
        / coalesce(readings.output_tok_s_gpu, readings.total_tok_s_gpu) as before_tok_s_gpu,
        revisions.after_value * readings.throughput_tok_s_gpu
        / coalesce(readings.output_tok_s_gpu, readings.total_tok_s_gpu) as after_tok_s_gpu,
        cast(revisions.revised_known_at at time zone 'UTC' as date) as moved_on,
        revisions.revised_known_at as known_at,
    from revisions
    inner join readings
        on revisions.benchmark_point_id = readings.benchmark_point_id
        and revisions.metric
        = case when readings.output_tok_s_gpu is null then 'total_tok_s_gpu' else 'output_tok_s_gpu' end
    where readings.retracted_on is null
        or readings.retracted_on > cast(revisions.revised_known_at at time zone 'UTC' as date)
),

standing_corrected as (
    select
        corrected.line_id,
        corrected.chip_id,
        corrected.benchmark_point_id,
        corrected.before_tok_s_gpu,
        corrected.after_tok_s_gpu,
        corrected.moved_on,
        corrected.known_at,
    from corrected
    inner join readings
        on corrected.line_id = readings.line_id
        and corrected.chip_id = readings.chip_id
        and readings.measured_from <= corrected.moved_on
        and (readings.retracted_on is null or readings.retracted_on > corrected.moved_on)
    group by
        corrected.line_id,
        corrected.chip_id,
        corrected.benchmark_point_id,
        corrected.before_tok_s_gpu,
        corrected.after_tok_s_gpu,
        corrected.moved_on,
        corrected.known_at
    having arg_max(readings.benchmark_point_id, readings.place) = corrected.benchmark_point_id
)

select
    line_id,
    chip_id,
    'withdrawn_change' as kind,
    before_point_id,
    after_point_id,
    before_tok_s_gpu,
    after_tok_s_gpu,
    moved_on,
    known_at,
from withdrawn_changes

union all

select
    retracted.line_id,
    retracted.chip_id,
    'retraction' as kind,
    retracted.before_point_id,
    readings.benchmark_point_id as after_point_id,
    retracted.before_tok_s_gpu,
    readings.throughput_tok_s_gpu as after_tok_s_gpu,
    retracted.moved_on,
    retracted.known_at,
from retracted
left join readings
    on retracted.line_id = readings.line_id
    and retracted.chip_id = readings.chip_id
    and retracted.standing_place = readings.place
where not retracted.was_superseded

union all

select
    line_id,
    chip_id,
    'correction' as kind,
    benchmark_point_id as before_point_id,
    benchmark_point_id as after_point_id,
    before_tok_s_gpu,
    after_tok_s_gpu,
    moved_on,
    known_at,
from standing_corrected
