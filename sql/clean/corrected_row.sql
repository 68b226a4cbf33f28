-- A raw row that is corrected, for each stretch of time in which our own store held it so or otherwise: as stated, or
-- with figures in place of its own; one row per raw row, locator and version. Version 0 is the row as stated: it ends
-- where a correction was stored that was known before it, and comes back as a later version when that is taken out.
-- A correction known later stands beside it, known from its own day on. A figure is replaced where it is the expected one.
-- grain: row_kind, source, snapshot_id, row_number, locator, version
-- column: locator | of the correction
-- column: benchmark_point_id | the point that the locator means among those of its run; null: every row of the locator
-- column: version | 0: as stated; the others are counted for all locators of the row together
-- column: is_corrected | figures of it are replaced
-- column: price | price or value as corrected, in the units of the raw row; null: as stated
-- column: output_tok_s | as corrected; null: as stated, and so below
-- column: known_at | when the world could know this version
-- column: recorded_at | moment that we had stored both the row and its correction
-- column: recorded_to | moment that either was replaced, or the row was corrected; null: in force
-- check: version = 0 or recorded_to is null or recorded_to > recorded_at
with

spans as (
    select * from clean.correction_span
),

corrections as (
    select * from raw.correction where action = 'correct'
),

figures as (
    select * from clean.correctable_figure
),

-- Of two times the later, and of two ends the earlier, of which no end is the last.
replaced as (
    select
        figures.row_kind,
        figures.source,
        figures.snapshot_id,
        figures.row_number,
        figures.locator,
        figures.benchmark_point_id,
        figures.field,
        corrections.value_new,
        spans.known_at <= figures.known_at as was_known_before,
        case when spans.known_at > figures.known_at then spans.known_at else figures.known_at end as known_at,
        case when spans.recorded_at > figures.recorded_at then spans.recorded_at else figures.recorded_at end
            as recorded_at,
        case
            when figures.recorded_to is null or spans.recorded_to < figures.recorded_to then spans.recorded_to
            else figures.recorded_to
        end as recorded_to,
    from figures
    inner join spans
        on figures.row_kind = spans.row_kind
        and figures.locator = spans.locator
    inner join corrections
        on spans.source = corrections.source
        and spans.snapshot_id = corrections.snapshot_id
        and spans.row_kind = corrections.row_kind
        and spans.locator = corrections.locator
        and spans.known_at = corrections.known_at
        and figures.field = corrections.field
    where figures.stated_value = cast(corrections.value_expected as double)
),

corrected as (
    select
        row_kind,
        source,
        snapshot_id,
        row_number,
        locator,
        benchmark_point_id,
        was_known_before,
        true as is_corrected,
        cast(max(case when field in ('price', 'value') then value_new end) as decimal(28, 12)) as price,
        cast(max(case when field = 'output_tok_s' then value_new end) as double) as output_tok_s,
        cast(max(case when field = 'input_tok_s' then value_new end) as double) as input_tok_s,
        cast(max(case when field = 'total_tok_s' then value_new end) as double) as total_tok_s,
        cast(max(case when field = 'interactivity_tok_s_user' then value_new end) as double)
            as interactivity_tok_s_user,
        cast(max(case when field = 'ttft_p50_ms' then value_new end) as double) as ttft_p50_ms,
        cast(max(case when field = 'ttft_p99_ms' then value_new end) as double) as ttft_p99_ms,
        cast(max(case when field = 'tpot_p50_ms' then value_new end) as double) as tpot_p50_ms,
        cast(max(case when field = 'tpot_p99_ms' then value_new end) as double) as tpot_p99_ms,
        cast(max(case when field = 'accelerator_count' then value_new end) as bigint) as accelerator_count,
        cast(max(case when field = 'prefill_accelerator_count' then value_new end) as bigint)
            as prefill_accelerator_count,
        cast(max(case when field = 'decode_accelerator_count' then value_new end) as bigint)
            as decode_accelerator_count,
        cast(max(case when field = 'tp' then value_new end) as bigint) as tp,
        known_at,
        recorded_at,
        recorded_to,
    from replaced
    where recorded_to is null or recorded_to > recorded_at
    group by
        row_kind,
        source,
        snapshot_id,
        row_number,
        locator,
        benchmark_point_id,
        was_known_before,
        known_at,
        recorded_at,
        recorded_to
),

stated as (
    select distinct
        figures.row_kind,
        figures.source,
        figures.snapshot_id,
        figures.row_number,
        figures.locator,
        figures.benchmark_point_id,
        figures.known_at,
        figures.recorded_at,
        figures.recorded_to,
    from figures
    inner join corrected
        on figures.row_kind = corrected.row_kind
        and figures.source = corrected.source
        and figures.snapshot_id = corrected.snapshot_id
        and figures.row_number = corrected.row_number
        and figures.locator = corrected.locator
),

-- Since when a row stands as stated: from the first, and from the end of a correction that stood in its place.
starts as (
    select
        *,
        recorded_at as begins_at,
        true as is_first,
    from stated

    union all

    select
        stated.*,
        corrected.recorded_to as begins_at,
        false as is_first,
    from stated
    inner join corrected
        on stated.row_kind = corrected.row_kind
        and stated.source = corrected.source
        and stated.snapshot_id = corrected.snapshot_id
        and stated.row_number = corrected.row_number
        and stated.locator = corrected.locator
        and corrected.was_known_before
        and corrected.recorded_to is not null
        and (stated.recorded_to is null or corrected.recorded_to < stated.recorded_to)
),

as_stated as (
    select
        starts.row_kind,
        starts.source,
        starts.snapshot_id,
        starts.row_number,
        starts.locator,
        starts.benchmark_point_id,
        starts.is_first,
        starts.known_at,
        starts.begins_at as recorded_at,
        coalesce(min(corrected.recorded_at), starts.recorded_to) as recorded_to,
    from starts
    left join corrected
        on starts.row_kind = corrected.row_kind
        and starts.source = corrected.source
        and starts.snapshot_id = corrected.snapshot_id
        and starts.row_number = corrected.row_number
        and starts.locator = corrected.locator
        and corrected.was_known_before
        and corrected.recorded_at >= starts.begins_at
    group by
        starts.row_kind,
        starts.source,
        starts.snapshot_id,
        starts.row_number,
        starts.locator,
        starts.benchmark_point_id,
        starts.is_first,
        starts.known_at,
        starts.begins_at,
        starts.recorded_to
),

versions as (
    select
        row_kind,
        source,
        snapshot_id,
        row_number,
        locator,
        benchmark_point_id,
        is_first,
        false as is_corrected,
        cast(null as decimal(28, 12)) as price,
        cast(null as double) as output_tok_s,
        cast(null as double) as input_tok_s,
        cast(null as double) as total_tok_s,
        cast(null as double) as interactivity_tok_s_user,
        cast(null as double) as ttft_p50_ms,
        cast(null as double) as ttft_p99_ms,
        cast(null as double) as tpot_p50_ms,
        cast(null as double) as tpot_p99_ms,
        cast(null as bigint) as accelerator_count,
        cast(null as bigint) as prefill_accelerator_count,
        cast(null as bigint) as decode_accelerator_count,
        cast(null as bigint) as tp,
        known_at,
        recorded_at,
        recorded_to,
    from as_stated
    where is_first or recorded_to is null or recorded_to > recorded_at

    union all

    select
        row_kind,
        source,
        snapshot_id,
        row_number,
        locator,
        benchmark_point_id,
        false as is_first,
        is_corrected,
        price,
        output_tok_s,
        input_tok_s,
        total_tok_s,
        interactivity_tok_s_user,
        ttft_p50_ms,
        ttft_p99_ms,
        tpot_p50_ms,
        tpot_p99_ms,
        accelerator_count,
        prefill_accelerator_count,
        decode_accelerator_count,
        tp,
        known_at,
        recorded_at,
        recorded_to,
    from corrected
)

select
    row_kind,
    source,
    snapshot_id,
    row_number,
    locator,
    benchmark_point_id,
    case
        when is_first then 0
        else row_number() over (
            partition by row_kind, source, snapshot_id, row_number, is_first
            order by recorded_at, known_at, is_corrected, locator
        )
    end as version,
    is_corrected,
    price,
    output_tok_s,
    input_tok_s,
    total_tok_s,
    interactivity_tok_s_user,
    ttft_p50_ms,
    ttft_p99_ms,
    tpot_p50_ms,
    tpot_p99_ms,
    accelerator_count,
    prefill_accelerator_count,
    decode_accelerator_count,
    tp,
    known_at,
    recorded_at,
    recorded_to,
from versions
