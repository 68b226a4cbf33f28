-- One change of a benchmark line: what a chip made before, what it makes now, and what is known of the cause;
-- one row per pair of consecutive points and way of reading them. Carrying a value never makes a change.
-- grain: change_id
-- column: change_id | key
-- column: line_id | the line of the later point, with token kind and GPU scope
-- column: before_point_id | the earlier point
-- column: after_point_id | the later point
-- column: chip_id | chip of the later point
-- column: model_id | the model
-- column: token_kind | output, input or total
-- column: gpu_scope | all, decode, prefill; none for a speed
-- column: metric | throughput_tok_s_gpu, or interactivity_tok_s_user where only a speed is known
-- column: before_value | value before, tokens per second
-- column: after_value | value after, tokens per second
-- column: ratio | after / before, from unrounded values
-- column: percent | (ratio - 1) x 100; the base is the value before
-- column: conditional_cost_percent | (1 / ratio - 1) x 100: the change of cost at equal price and, for a speed, at equal sessions per GPU ONLY
-- column: kept_sessions_share_for_cheaper | for a speed: share of its former sessions per GPU that must stay for cost to fall at all
-- column: cause | software, configuration, operating_point, unattributed (the publisher claims one, or nothing that is stated changed) or unknown (image, version or ranks not stated)
-- column: claimed_cause | what the publisher says
-- column: throughput_effect_usd | part of a cost change that is throughput; null: see null_reason
-- column: price_effect_usd | part that is price; null: see null_reason
-- column: other_effect_usd | part that is neither; null: see null_reason
-- column: beyond_noise | larger than repeat runs of one configuration scatter; null: no band is known
-- column: withdrawn | one of its points was retracted later
-- column: null_reason | why the effects in money are null
-- column: evidence | evidence class of the later point
-- column: note | what a reader must know
-- column: before_on | day of the earlier point; null: not stated
-- column: after_on | day of the later point
-- column: date_precision | the weaker precision of the two days
-- check: ratio > 0
-- check: before_value <> after_value
with

points as (
    select * from core.benchmark_point
),

views as (
    select * from core.benchmark_view
),

ordered as (
    select
        benchmark_point_id,
        lag(benchmark_point_id) over (
            partition by line_id
            order by measured_from, try_cast(run_id as bigint) nulls first, known_at, benchmark_point_id
        ) as before_point_id,
    from points
    where supersedes_label is null
),

-- Where no date orders two points, their publisher does.
linked as (
    select
        later.benchmark_point_id,
        earlier.benchmark_point_id as before_point_id,
    from points as later
    inner join points as earlier
        on later.publisher = earlier.publisher
        and later.supersedes_label = earlier.point_label
),

pairs as (
    select * from ordered where before_point_id is not null
    union all
    select * from linked
),

readings as (
    select
        views.benchmark_point_id,
        views.token_kind,
        views.gpu_scope,
        views.cost_allocation,
        views.line_id,
        case when views.gpu_scope = 'none' then 'interactivity_tok_s_user' else 'throughput_tok_s_gpu' end as metric,
        case
            when views.gpu_scope = 'none' then points.interactivity_tok_s_user
            else views.throughput_tok_s_gpu
        end as value,
    from views
    inner join points
        on views.benchmark_point_id = points.benchmark_point_id
        and views.chip_id = points.chip_id
),

compared as (
    select
        after_reading.line_id,
        pairs.before_point_id,
        pairs.benchmark_point_id as after_point_id,
        after_reading.token_kind,
        after_reading.gpu_scope,
        after_reading.metric,
        before_reading.value as before_value,
        after_reading.value as after_value,
    from pairs
    inner join readings as after_reading on pairs.benchmark_point_id = after_reading.benchmark_point_id
    inner join readings as before_reading
        on pairs.before_point_id = before_reading.benchmark_point_id
        and after_reading.token_kind = before_reading.token_kind
        and after_reading.gpu_scope = before_reading.gpu_scope
        and after_reading.cost_allocation = before_reading.cost_allocation
    where after_reading.value <> before_reading.value
)

select
    substr(
        md5(
            concat_ws(
                '|',
                compared.before_point_id,
                compared.after_point_id,
                compared.token_kind,
                compared.gpu_scope,
                compared.metric
            )
        ),
        1,
        16
    ) as change_id,
    compared.line_id,
    compared.before_point_id,
    compared.after_point_id,
    later.chip_id,
    later.model_id,
    compared.token_kind,
    compared.gpu_scope,
    compared.metric,
    compared.before_value,
    compared.after_value,
    compared.after_value / compared.before_value as ratio,
    (compared.after_value / compared.before_value - 1) * 100 as percent,
    (compared.before_value / compared.after_value - 1) * 100 as conditional_cost_percent,
    case
        when compared.metric = 'interactivity_tok_s_user' then compared.before_value / compared.after_value
    end as kept_sessions_share_for_cheaper,
    case
        -- Five per cent: a load point that serves each user at another speed is another operating point.
        when compared.metric = 'throughput_tok_s_gpu'
            and later.supersedes_label is not null
            and abs(later.interactivity_tok_s_user / earlier.interactivity_tok_s_user - 1) > 0.05
            then 'operating_point'
        when later.kv_precision <> earlier.kv_precision then 'configuration'
        when later.parallelism_stated and earlier.parallelism_stated and later.parallelism <> earlier.parallelism
            then 'configuration'
        when later.claimed_cause is not null then 'unattributed'
        when later.parallelism <> earlier.parallelism then 'unknown'
        when later.image <> earlier.image or later.engine_version <> earlier.engine_version then 'software'
        when later.image = earlier.image or later.engine_version = earlier.engine_version then 'unattributed'
        else 'unknown'
    end as cause,
    later.claimed_cause,
    cast(null as double) as throughput_effect_usd,
    cast(null as double) as price_effect_usd,
    cast(null as double) as other_effect_usd,
    cast(null as boolean) as beyond_noise,
    false as withdrawn,
    case
        when compared.metric = 'interactivity_tok_s_user' then 'speed_is_not_throughput'
        else 'no_price_basis'
    end as null_reason,
    later.evidence,
    later.note,
    earlier.measured_on as before_on,
    coalesce(later.measured_on, later.published_on) as after_on,
    case
        when 'unknown' in (earlier.date_precision, later.date_precision) then 'unknown'
        when 'month' in (earlier.date_precision, later.date_precision) then 'month'
        else 'day'
    end as date_precision,
from compared
inner join points as later on compared.after_point_id = later.benchmark_point_id
inner join points as earlier on compared.before_point_id = earlier.benchmark_point_id
