-- One move of the price or the throughput behind a cost of output tokens, all GPUs and the whole bill: what stood
-- before and what stands after; one row per line, chip, price series beside the headline and event. A line's first
-- cost has no before. What the move did to the cost is computed in mart.cost_change.
-- grain: line_id, chip_id, price_series_id, kind, before_point_id, after_point_id, moved_on, known_at
-- column: kind | standing, or what was in the record alone: withdrawn_change, retraction, correction, price_correction
-- column: before_priced_on | day of the observation of the price before
-- column: before_until | last day of what stood before; null: nothing did
-- column: moved_on | first day of what stands after
-- column: known_at | of what was in the record alone: when the world could know it
with

series as (
    select * from core.price_series where headline_order is not null
),

points as (
    select * from core.benchmark_point
),

views as (
    select *
    from core.benchmark_view
    where token_kind = 'output'
        and gpu_scope = 'all'
        and cost_allocation = 'whole_bill'
        and throughput_tok_s_gpu is not null
),

segments as (
    select segments.*
    from core.price_segment as segments
    inner join series on segments.price_series_id = series.price_series_id
),

record_moves as (
    select * from core.record_move
),

price_revisions as (
    select * from core.price_revision
),

-- A point stands in its line until the next one; two of one day leave the first no day to stand on.
spans as (
    select
        views.line_id,
        views.chip_id,
        segments.price_series_id,
        views.benchmark_point_id,
        views.throughput_tok_s_gpu,
        segments.usd_per_gpu_hour,
        segments.price_fact_id,
        segments.priced_on,
        case when points.measured_from > segments.valid_from then points.measured_from else segments.valid_from end
            as valid_from,
        case
            when segments.valid_to is null or points.superseded_on < segments.valid_to then points.superseded_on
            else segments.valid_to
        end as valid_to,
    from views
    inner join points on views.benchmark_point_id = points.benchmark_point_id
    inner join segments
        on views.chip_id = segments.chip_id
        and (segments.valid_to is null or segments.valid_to > points.measured_from)
        and (points.superseded_on is null or points.superseded_on > segments.valid_from)
        and (points.superseded_on is null or points.superseded_on > points.measured_from)
),

standing as (
    select
        line_id,
        chip_id,
        price_series_id,
        lag(benchmark_point_id) over line as before_point_id,
        benchmark_point_id as after_point_id,
        lag(throughput_tok_s_gpu) over line as before_tok_s_gpu,
        throughput_tok_s_gpu as after_tok_s_gpu,
        lag(usd_per_gpu_hour) over line as before_usd_per_gpu_hour,
        usd_per_gpu_hour as after_usd_per_gpu_hour,
        lag(price_fact_id) over line as before_price_fact_id,
        price_fact_id as after_price_fact_id,
        lag(priced_on) over line as before_priced_on,
        priced_on as after_priced_on,
        lag(valid_to) over line - 1 as before_until,
        valid_from as moved_on,
    from spans
    window line as (partition by line_id, chip_id, price_series_id order by valid_from, benchmark_point_id)
)

select
    line_id,
    chip_id,
    price_series_id,
    'standing' as kind,
    before_point_id,
    after_point_id,
    before_tok_s_gpu,
    after_tok_s_gpu,
    before_usd_per_gpu_hour,
    after_usd_per_gpu_hour,
    before_price_fact_id,
    after_price_fact_id,
    before_priced_on,
    after_priced_on,
    before_until,
    moved_on,
    cast(null as timestamptz) as known_at,
from standing
where before_point_id is null
    or before_tok_s_gpu <> after_tok_s_gpu
    or before_usd_per_gpu_hour <> after_usd_per_gpu_hour

union all

-- A mended or withdrawn figure moves no price: both sides stand on that of the day. A change that was published is
-- priced as it was then, on both its days.
select
    record_moves.line_id,
    record_moves.chip_id,
    later.price_series_id,
    record_moves.kind,
    record_moves.before_point_id,
    record_moves.after_point_id,
    record_moves.before_tok_s_gpu,
    record_moves.after_tok_s_gpu,
    earlier.usd_per_gpu_hour as before_usd_per_gpu_hour,
    later.usd_per_gpu_hour as after_usd_per_gpu_hour,
    earlier.price_fact_id as before_price_fact_id,
    later.price_fact_id as after_price_fact_id,
    earlier.priced_on as before_priced_on,
    later.priced_on as after_priced_on,
    record_moves.moved_on - 1 as before_until,
    record_moves.moved_on,
    record_moves.known_at,
from record_moves
inner join segments as later
    on record_moves.chip_id = later.chip_id
    and record_moves.moved_on >= later.valid_from
    and (later.valid_to is null or record_moves.moved_on < later.valid_to)
inner join segments as earlier
    on later.price_series_id = earlier.price_series_id
    and later.chip_id = earlier.chip_id
    and record_moves.moved_on - case when record_moves.kind = 'withdrawn_change' then 1 else 0 end >= earlier.valid_from
    and (
        earlier.valid_to is null
        or record_moves.moved_on - case when record_moves.kind = 'withdrawn_change' then 1 else 0 end < earlier.valid_to
    )

union all

select
    spans.line_id,
    spans.chip_id,
    spans.price_series_id,
    'price_correction' as kind,
    spans.benchmark_point_id as before_point_id,
    spans.benchmark_point_id as after_point_id,
    spans.throughput_tok_s_gpu as before_tok_s_gpu,
    spans.throughput_tok_s_gpu as after_tok_s_gpu,
    price_revisions.before_usd_per_gpu_hour,
    price_revisions.after_usd_per_gpu_hour,
    price_revisions.before_price_fact_id,
    price_revisions.after_price_fact_id,
    price_revisions.value_date as before_priced_on,
    price_revisions.value_date as after_priced_on,
    cast(price_revisions.revised_known_at at time zone 'UTC' as date) - 1 as before_until,
    cast(price_revisions.revised_known_at at time zone 'UTC' as date) as moved_on,
    price_revisions.revised_known_at as known_at,
from price_revisions
-- A value that no longer stood when it was mended moved the cost of days past alone.
inner join spans
    on price_revisions.price_series_id = spans.price_series_id
    and price_revisions.chip_id = spans.chip_id
    and price_revisions.value_date = spans.priced_on
    and cast(price_revisions.revised_known_at at time zone 'UTC' as date) >= spans.valid_from
    and (spans.valid_to is null or cast(price_revisions.revised_known_at at time zone 'UTC' as date) < spans.valid_to)
