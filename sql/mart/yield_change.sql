-- One change of a benchmark line: what a chip made before, what it makes now, and what is known of the cause;
-- one row per pair of consecutive points and way of reading them, and one per figure that its publisher mended.
-- Carrying a value never makes a change. What was published and then withdrawn stays, marked.
-- grain: change_id
-- column: change_id | key
-- column: line_id | the line of the later point, with token kind and GPU scope
-- column: before_point_id | the earlier point
-- column: after_point_id | the later point; of a correction the same one
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
-- column: cause | software, configuration, operating_point, correction (the record was mended, the chip did not move), unattributed (the publisher claims one, or nothing that is stated changed) or unknown (image, version or ranks not stated)
-- column: claimed_cause | what the publisher says
-- column: throughput_effect_usd | part of a cost change that is throughput; null, see null_reason: a benchmark has no price of its own, mart.cost_change has the parts on each price series
-- column: price_effect_usd | part that is price; null likewise
-- column: other_effect_usd | part that is neither; null likewise
-- column: beyond_noise | |ln(ratio)| is more than twice noise_spread_percent / 100; null: no band is known, of a speed or a mended record there is none
-- column: noise_spread_percent | 100 x sample standard deviation of ln(ratio) between repeat runs of one configuration: of this publisher, chip and engine, else of the publisher
-- column: noise_repeat_count | repeats behind it, three at least; null: no band
-- column: change_note_id | key of the one note in mart.change_note on this configuration and run, or else day; null: none fits, or several do
-- column: change_note_url | the change that it names
-- column: change_note_count | notes that fit: of several none is chosen
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
    select * from core.benchmark_statement
),

revisions as (
    select * from core.benchmark_revision
),

views as (
    select * from core.benchmark_view
),

steps as (
    select * from core.benchmark_step
),

-- Below three repeats a spread is no band, nor is one of runs that agree to the last digit.
bands as (
    select * from core.benchmark_noise where repeat_count >= 3 and log_ratio_sd > 0
),

notes as (
    select * from core.point_note
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
        steps.before_point_id,
        steps.after_point_id,
        after_reading.token_kind,
        after_reading.gpu_scope,
        after_reading.metric,
        before_reading.value as before_value,
        after_reading.value as after_value,
        case
            when after_reading.gpu_scope = 'none' then steps.stated_cause
            else steps.throughput_cause
        end as cause,
        steps.withdrawn,
        cast(null as timestamptz) as revised_known_at,
    from steps
    inner join readings as after_reading on steps.after_point_id = after_reading.benchmark_point_id
    inner join readings as before_reading
        on steps.before_point_id = before_reading.benchmark_point_id
        and after_reading.token_kind = before_reading.token_kind
        and after_reading.gpu_scope = before_reading.gpu_scope
        and after_reading.cost_allocation = before_reading.cost_allocation
    where after_reading.value <> before_reading.value
),

corrected as (
    select
        case revisions.metric
            when 'output_tok_s_gpu' then concat(points.line_id, '/output/all')
            when 'total_tok_s_gpu' then concat(points.line_id, '/total/all')
            else concat(points.line_id, '/output/none')
        end as line_id,
        revisions.benchmark_point_id as before_point_id,
        revisions.benchmark_point_id as after_point_id,
        case revisions.metric when 'total_tok_s_gpu' then 'total' else 'output' end as token_kind,
        case revisions.metric when 'interactivity_tok_s_user' then 'none' else 'all' end as gpu_scope,
        case revisions.metric
            when 'interactivity_tok_s_user' then 'interactivity_tok_s_user'
            else 'throughput_tok_s_gpu'
        end as metric,
        revisions.before_value,
        revisions.after_value,
        'correction' as cause,
        points.retracted_on is not null as withdrawn,
        revisions.revised_known_at,
    from revisions
    inner join points on revisions.benchmark_point_id = points.benchmark_point_id
),

changes as (
    select * from compared
    union all
    select * from corrected
)

select
    substr(
        md5(
            concat_ws(
                '|',
                changes.before_point_id,
                changes.after_point_id,
                changes.token_kind,
                changes.gpu_scope,
                changes.metric,
                changes.revised_known_at
            )
        ),
        1,
        16
    ) as change_id,
    changes.line_id,
    changes.before_point_id,
    changes.after_point_id,
    later.chip_id,
    later.model_id,
    changes.token_kind,
    changes.gpu_scope,
    changes.metric,
    changes.before_value,
    changes.after_value,
    changes.after_value / changes.before_value as ratio,
    (changes.after_value / changes.before_value - 1) * 100 as percent,
    (changes.before_value / changes.after_value - 1) * 100 as conditional_cost_percent,
    case
        when changes.metric = 'interactivity_tok_s_user' then changes.before_value / changes.after_value
    end as kept_sessions_share_for_cheaper,
    changes.cause,
    later.claimed_cause,
    cast(null as double) as throughput_effect_usd,
    cast(null as double) as price_effect_usd,
    cast(null as double) as other_effect_usd,
    abs(ln(changes.after_value / changes.before_value)) > 2 * coalesce(own_band.log_ratio_sd, publisher_band.log_ratio_sd)
        as beyond_noise,
    100 * coalesce(own_band.log_ratio_sd, publisher_band.log_ratio_sd) as noise_spread_percent,
    case
        when own_band.log_ratio_sd is not null then own_band.repeat_count
        else publisher_band.repeat_count
    end as noise_repeat_count,
    notes.change_note_id,
    notes.change_note_url,
    coalesce(notes.change_note_count, 0) as change_note_count,
    changes.withdrawn,
    case
        when changes.metric = 'interactivity_tok_s_user' then 'speed_is_not_throughput'
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
from changes
inner join points as later on changes.after_point_id = later.benchmark_point_id
inner join points as earlier on changes.before_point_id = earlier.benchmark_point_id
left join bands as own_band
    on later.publisher = own_band.publisher
    and later.chip_id = own_band.chip_id
    and later.engine = own_band.engine
    and changes.metric = 'throughput_tok_s_gpu'
    and changes.cause <> 'correction'
left join bands as publisher_band
    on later.publisher = publisher_band.publisher
    and publisher_band.chip_id is null
    and changes.metric = 'throughput_tok_s_gpu'
    and changes.cause <> 'correction'
left join notes
    on changes.after_point_id = notes.benchmark_point_id
    and changes.cause <> 'correction'
