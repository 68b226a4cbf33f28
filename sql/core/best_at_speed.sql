-- The server of a chip that makes most at a speed today, which is the cheapest at any price of the chip; one row per
-- chip, precision, what is compared, and speed of the grid. Servers that may be ranked come first; where none may,
-- the nearest to it is listed with the reason.
-- grain: chip_id, model_id, precision, workload_id, token_kind, gpu_scope, cost_allocation, evidence, traffic_basis, speed_percentile, speed_tok_s_user
-- column: comparison_id | what two rows must share to be compared: all of the grain but chip, precision and speed
-- column: unranked_reason | why it may not be ranked; null: it may
-- check: (throughput_tok_s_gpu is null) = (position in ('below_range', 'above_range', 'unreachable'))
with

curves as (
    select * from core.throughput_at_speed
),

run as (
    select cast(as_of at time zone 'UTC' as date) as today from core.run
),

parameters as (
    select
        max(case when parameter = 'max_ttft_p50_ms' then value end) as max_ttft_p50_ms,
        max(case when parameter = 'max_point_age_days' then value end) as max_point_age_days,
    from raw.method_parameter
    where method = 'headline' and version = 'v1'
),

judged as (
    select
        curves.*,
        date_diff('day', curves.oldest_measured_from, run.today) as benchmark_age_days,
        concat_ws(
            '/',
            curves.model_id,
            curves.workload_id,
            curves.token_kind,
            curves.gpu_scope,
            curves.cost_allocation,
            curves.evidence,
            curves.traffic_basis,
            coalesce(curves.speed_percentile, '-')
        ) as comparison_id,
        case
            when curves.throughput_tok_s_gpu is null then curves.position
            when not curves.eligible then curves.eligibility_reason
            when curves.wide_bracket then 'wide_bracket'
            when date_diff('day', curves.oldest_measured_from, run.today) > parameters.max_point_age_days
                then 'point_too_old'
            when curves.ttft_p50_ms is null then 'ttft_unknown'
            when curves.ttft_p50_ms > parameters.max_ttft_p50_ms then 'ttft_above_limit'
        end as unranked_reason,
    from curves
    cross join run
    cross join parameters
    where curves.valid_from <= run.today
        and (curves.valid_to is null or curves.valid_to > run.today)
)

select *
from judged
-- What is out of range on one server may be in range on another: a figure comes before none.
qualify row_number() over (
    partition by comparison_id, chip_id, precision, speed_tok_s_user
    order by
        unranked_reason is null desc,
        throughput_tok_s_gpu is null,
        eligible desc nulls last,
        throughput_tok_s_gpu desc,
        position <> 'unreachable',
        frontier_id
) = 1
