-- Where one chip overtakes another: the speeds per user at which the best servers of two chips make tokens at equal
-- cost today, and which side is cheaper; one row per comparison, price series, pair of chips and crossing. A pair
-- that never meets has one row with the reason. Within a step of the grid the crossing is solved on the logarithm of
-- the cost ratio; where a speed between lies in no common range, that they changed places is said and no speed.
-- grain: comparison_id, price_series_id, chip_id, other_chip_id, crossing
-- column: comparison_id | model, workload, token kind, GPU scope, allocation, evidence, traffic and speed percentile
-- column: model_id | the model
-- column: workload_id | the workload
-- column: token_kind | output, input or total
-- column: gpu_scope | all, decode or prefill
-- column: cost_allocation | total, by_role or whole_bill
-- column: evidence | evidence class of both; only measured ones are ranked elsewhere
-- column: speed_percentile | which user the speed is of
-- column: price_series_id | the price series of both
-- column: price_type | its price type
-- column: chip_id | one chip
-- column: other_chip_id | the other
-- column: crossing | 1 is the slowest; 0: they never meet
-- column: crossover_speed_tok_s_user | speed at which both cost the same; null: see null_reason
-- column: usd_per_million_tokens | cost of both there; null where the speed is
-- column: cheaper_below_chip_id | the cheaper chip at slower speeds; of a pair that never meets, at every common speed
-- column: cheaper_above_chip_id | the cheaper chip at faster speeds
-- column: slowest_common_tok_s_user | slowest speed of the grid at which both have a cost
-- column: fastest_common_tok_s_user | fastest such speed
-- column: null_reason | no_common_speed; never_equal or always_equal at the common speeds; crossed_unmeasured: they change
--    places between two common speeds with others between them at which one has no cost
-- column: passes_on | the terms of all points' publishers let us pass it on
-- column: method_version | version of the curve
-- check: (crossover_speed_tok_s_user is null) = (null_reason is not null)
-- check: (usd_per_million_tokens is null) = (crossover_speed_tok_s_user is null)
with

chips as (
    select * from core.chip_at_speed
),

grid as (
    select
        speed_tok_s_user,
        row_number() over (order by speed_tok_s_user) as step,
    from core.speed_grid
),

pairs as (
    select
        one.comparison_id,
        one.model_id,
        one.workload_id,
        one.token_kind,
        one.gpu_scope,
        one.cost_allocation,
        one.evidence,
        one.speed_percentile,
        one.price_series_id,
        one.price_type,
        one.chip_id,
        other.chip_id as other_chip_id,
        one.speed_tok_s_user,
        grid.step,
        one.usd_per_million_tokens as usd,
        ln(one.usd_per_million_tokens / other.usd_per_million_tokens) as log_ratio,
        one.passes_on and other.passes_on as passes_on,
    from chips as one
    inner join chips as other
        on one.comparison_id = other.comparison_id
        and one.price_series_id = other.price_series_id
        and one.speed_tok_s_user = other.speed_tok_s_user
        and one.chip_id < other.chip_id
    inner join grid on one.speed_tok_s_user = grid.speed_tok_s_user
),

common as (
    select
        *,
        lag(log_ratio) over along as ratio_before,
        lag(speed_tok_s_user) over along as speed_before,
        lag(usd) over along as usd_before,
        step - lag(step) over along as steps,
    from pairs
    where log_ratio is not null
    window along as (
        partition by comparison_id, price_series_id, chip_id, other_chip_id
        order by speed_tok_s_user
    )
),

crossed as (
    select
        *,
        -- What happens between speeds that are not neighbours was not measured, and no line through it is drawn.
        case when steps = 1 then ratio_before / (ratio_before - log_ratio) end as share,
        row_number() over (
            partition by comparison_id, price_series_id, chip_id, other_chip_id
            order by speed_tok_s_user
        ) as crossing,
    from common
    where ratio_before < 0 and log_ratio >= 0
        or ratio_before > 0 and log_ratio <= 0
),

ranges as (
    select
        comparison_id,
        model_id,
        workload_id,
        token_kind,
        gpu_scope,
        cost_allocation,
        evidence,
        speed_percentile,
        price_series_id,
        price_type,
        chip_id,
        other_chip_id,
        min(case when log_ratio is not null then speed_tok_s_user end) as slowest_common_tok_s_user,
        max(case when log_ratio is not null then speed_tok_s_user end) as fastest_common_tok_s_user,
        min(case when passes_on then 1 else 0 end) = 1 as passes_on,
        max(case when log_ratio < 0 then 1 when log_ratio > 0 then 0 end) as one_is_cheaper,
    from pairs
    group by
        comparison_id,
        model_id,
        workload_id,
        token_kind,
        gpu_scope,
        cost_allocation,
        evidence,
        speed_percentile,
        price_series_id,
        price_type,
        chip_id,
        other_chip_id
)

select
    ranges.comparison_id,
    ranges.model_id,
    ranges.workload_id,
    ranges.token_kind,
    ranges.gpu_scope,
    ranges.cost_allocation,
    ranges.evidence,
    ranges.speed_percentile,
    ranges.price_series_id,
    ranges.price_type,
    ranges.chip_id,
    ranges.other_chip_id,
    coalesce(crossed.crossing, 0) as crossing,
    crossed.speed_before + crossed.share * (crossed.speed_tok_s_user - crossed.speed_before)
        as crossover_speed_tok_s_user,
    exp(ln(crossed.usd_before) + crossed.share * (ln(crossed.usd) - ln(crossed.usd_before))) as usd_per_million_tokens,
    case
        when crossed.crossing is not null
            then case when crossed.ratio_before < 0 then ranges.chip_id else ranges.other_chip_id end
        when ranges.one_is_cheaper = 1 then ranges.chip_id
        when ranges.one_is_cheaper = 0 then ranges.other_chip_id
    end as cheaper_below_chip_id,
    case
        when crossed.crossing is not null
            then case when crossed.ratio_before < 0 then ranges.other_chip_id else ranges.chip_id end
        when ranges.one_is_cheaper = 1 then ranges.chip_id
        when ranges.one_is_cheaper = 0 then ranges.other_chip_id
    end as cheaper_above_chip_id,
    ranges.slowest_common_tok_s_user,
    ranges.fastest_common_tok_s_user,
    case
        when crossed.share is not null then null
        when crossed.crossing is not null then 'crossed_unmeasured'
        when ranges.slowest_common_tok_s_user is null then 'no_common_speed'
        when ranges.one_is_cheaper is null then 'always_equal'
        else 'never_equal'
    end as null_reason,
    ranges.passes_on,
    'frontier-v1' as method_version,
from ranges
left join crossed
    on ranges.comparison_id = crossed.comparison_id
    and ranges.price_series_id = crossed.price_series_id
    and ranges.chip_id = crossed.chip_id
    and ranges.other_chip_id = crossed.other_chip_id
