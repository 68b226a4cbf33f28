-- One figure of a point that a source stated differently later: a correction of the record, and no movement of
-- the chip; one row per point, figure and later statement. Equal statements are no revision.
-- grain: benchmark_point_id, metric, revised_known_at
-- column: metric | which figure: output_tok_s_gpu, total_tok_s_gpu or interactivity_tok_s_user
-- column: before_value | value as it was stated, tokens per second
-- column: after_value | value as it was stated next
-- column: stated_known_at | when the earlier statement could be known
-- column: revised_known_at | when the later one could
-- check: before_value <> after_value
with

results as (
    select * from core.known_benchmark_result
),

figures as (
    select
        benchmark_point_id,
        source,
        attempt,
        'output_tok_s_gpu' as metric,
        output_tok_s_gpu as value,
        known_at,
        recorded_at,
        benchmark_result_id,
    from results

    union all

    select
        benchmark_point_id,
        source,
        attempt,
        'total_tok_s_gpu' as metric,
        total_tok_s_gpu as value,
        known_at,
        recorded_at,
        benchmark_result_id,
    from results

    union all

    select
        benchmark_point_id,
        source,
        attempt,
        'interactivity_tok_s_user' as metric,
        interactivity_tok_s_user as value,
        known_at,
        recorded_at,
        benchmark_result_id,
    from results
),

-- Two sources that round differently revise nothing, nor does the next attempt of a run.
sequenced as (
    select
        benchmark_point_id,
        metric,
        value as after_value,
        lag(value) over statements as before_value,
        lag(known_at) over statements as stated_known_at,
        known_at as revised_known_at,
        recorded_at,
        benchmark_result_id,
    from figures
    where value is not null
    window statements as (
        partition by benchmark_point_id, source, coalesce(attempt, 0), metric
        order by known_at, recorded_at, benchmark_result_id
    )
)

select
    benchmark_point_id,
    metric,
    before_value,
    after_value,
    stated_known_at,
    revised_known_at,
from sequenced
where before_value <> after_value
-- Two payloads of one moment that contradict each other are one revision, of the last of them.
qualify row_number() over (
    partition by benchmark_point_id, metric, revised_known_at
    order by recorded_at desc, benchmark_result_id desc
) = 1
