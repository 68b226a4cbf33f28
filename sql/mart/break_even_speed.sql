-- How fast every user may be served before output tokens cost more to make than they sell for, today; one row per
-- serving line's frontier, traffic, price series, and price at which the model's output is sold. On a curve cost rises
-- with speed, so there is one such speed, or a reason why there is none.
-- grain: frontier_id, traffic, price_series_id, provider_id, tier
-- column: frontier_id | the serving line's frontier
-- column: serving_line_id | one deployable server in one run
-- column: chip_id | the chip
-- column: model_id | the model
-- column: precision | precision of the weights; null: not stated
-- column: workload_id | the workload
-- column: engine | serving engine
-- column: gpu_scope | all (whole bill) or decode (decode rent alone: not the whole cost)
-- column: cost_allocation | whole_bill or by_role
-- column: evidence | evidence class of the frontier
-- column: speed_percentile | which user the speed is of
-- column: traffic | benchmark, or live: the benchmark's throughput x the live-traffic factor
-- column: price_series_id | the price series
-- column: price_type | its price type
-- column: usd_per_gpu_hour | price in US dollars per GPU-hour today
-- column: provider_id | who sells the model's output tokens
-- column: tier | standard, peak or off_peak
-- column: output_usd_per_million_tokens | price of output tokens today
-- column: needed_tok_s_gpu | throughput per GPU of the scope at which cost and price are equal
-- column: break_even_speed_tok_s_user | speed at which the curve makes that; null: see null_reason
-- column: null_reason | dearer_at_every_speed, cheaper_at_every_speed (measured), one_point_has_no_curve, no_factor, or why there is no price
-- column: passes_on | the terms of the publishers of the deck and of all points of the curve let us pass it on
-- column: method_version | version of the curve; solved by bisection to a millionth of a token per second
-- check: (break_even_speed_tok_s_user is null) = (null_reason is not null)
with recursive

knots as (
    select * from core.frontier_knot
    where frontier_kind = 'serving_line'
        and token_kind = 'output'
),

points as (
    select * from core.benchmark_point
),

timeline as (
    select * from core.price_timeline
),

series as (
    select * from core.price_series where price_basis <> 'provider_price'
),

run as (
    select cast(as_of at time zone 'UTC' as date) as today
    from core.run
),

decks as (
    select
        decks.model_id,
        decks.provider_id,
        decks.tier,
        decks.passes_on,
        cast(decks.output_usd_per_million_tokens as double) as output_usd_per_million_tokens,
    from core.token_deck as decks
    cross join run
    where decks.valid_from <= run.today
        and (decks.valid_to is null or decks.valid_to > run.today)
        and decks.output_usd_per_million_tokens > 0
),

standing as (
    select
        knots.*,
        lead(knots.log_throughput) over along as next_log_throughput,
        lead(knots.log_slope) over along as next_log_slope,
        max(knots.log_throughput) over curve as greatest_log_throughput,
        min(knots.log_throughput) over curve as least_log_throughput,
        min(case when points.passes_on then 1 else 0 end) over curve = 1 as curve_passes_on,
    from knots
    inner join points on knots.benchmark_point_id = points.benchmark_point_id
    cross join run
    where knots.valid_from <= run.today
        and (knots.valid_to is null or knots.valid_to > run.today)
    window
        along as (partition by knots.frontier_id order by knots.knot),
        curve as (partition by knots.frontier_id)
),

traffics as (
    select
        frontier_id,
        'benchmark' as traffic,
        cast(1 as double) as factor,
    from standing
    where knot = 1

    union all

    select
        frontier_id,
        'live' as traffic,
        live_traffic_factor as factor,
    from standing
    where knot = 1
),

wanted as (
    select
        standing.frontier_id,
        standing.serving_line_id,
        standing.chip_id,
        standing.model_id,
        standing.precision,
        standing.workload_id,
        standing.engine,
        standing.gpu_scope,
        standing.cost_allocation,
        standing.evidence,
        standing.speed_percentile,
        standing.knots,
        standing.greatest_log_throughput,
        standing.least_log_throughput,
        traffics.traffic,
        series.price_series_id,
        series.price_type,
        timeline.usd_per_gpu_hour,
        decks.provider_id,
        decks.tier,
        decks.output_usd_per_million_tokens,
        standing.curve_passes_on and decks.passes_on as passes_on,
        cast(timeline.usd_per_gpu_hour as double)
        / (decks.output_usd_per_million_tokens * 0.0036 * traffics.factor) as needed_tok_s_gpu,
        case
            when timeline.usd_per_gpu_hour is null then timeline.null_reason
            when traffics.factor is null then 'no_factor'
            when standing.knots = 1 then 'one_point_has_no_curve'
        end as missing_reason,
    from standing
    cross join run
    inner join traffics on standing.frontier_id = traffics.frontier_id
    inner join timeline
        on standing.chip_id = timeline.chip_id
        and (timeline.valid_from is null or timeline.valid_from <= run.today)
        and (timeline.valid_to is null or timeline.valid_to > run.today)
    inner join series on timeline.price_series_id = series.price_series_id
    inner join decks on standing.model_id = decks.model_id
    where standing.knot = 1
),

judged as (
    select
        *,
        coalesce(
            missing_reason,
            case
                when ln(needed_tok_s_gpu) > greatest_log_throughput then 'dearer_at_every_speed'
                when ln(needed_tok_s_gpu) < least_log_throughput then 'cheaper_at_every_speed'
            end
        ) as null_reason,
    from wanted
),

-- The bracket in which the curve falls through the throughput that is needed.
brackets as (
    select
        judged.frontier_id,
        judged.traffic,
        judged.price_series_id,
        judged.provider_id,
        judged.tier,
        ln(judged.needed_tok_s_gpu) as needed_log,
        standing.interactivity_tok_s_user as slower,
        standing.next_interactivity_tok_s_user - standing.interactivity_tok_s_user as step,
        standing.log_throughput as log_slower,
        standing.log_slope as slope_slower,
        standing.next_log_throughput as log_faster,
        standing.next_log_slope as slope_faster,
    from judged
    inner join standing
        on judged.frontier_id = standing.frontier_id
        and ln(judged.needed_tok_s_gpu) <= standing.log_throughput
        and ln(judged.needed_tok_s_gpu) >= standing.next_log_throughput
    where judged.null_reason is null
    qualify row_number() over (
        partition by judged.frontier_id, judged.traffic, judged.price_series_id, judged.provider_id, judged.tier
        order by standing.knot
    ) = 1
),

halvings as (
    select
        brackets.*,
        0 as halving,
        cast(0 as double) as low,
        cast(1 as double) as high,
    from brackets

    union all

    select
        frontier_id,
        traffic,
        price_series_id,
        provider_id,
        tier,
        needed_log,
        slower,
        step,
        log_slower,
        slope_slower,
        log_faster,
        slope_faster,
        halving + 1 as halving,
        case
            when (1 + (low + high)) * (1 - (low + high) / 2) * (1 - (low + high) / 2) * log_slower
                + (low + high) / 2 * (1 - (low + high) / 2) * (1 - (low + high) / 2) * step * slope_slower
                + (low + high) / 2 * (low + high) / 2 * (3 - (low + high)) * log_faster
                + (low + high) / 2 * (low + high) / 2 * ((low + high) / 2 - 1) * step * slope_faster
                > needed_log
                then (low + high) / 2
            else low
        end as low,
        case
            when (1 + (low + high)) * (1 - (low + high) / 2) * (1 - (low + high) / 2) * log_slower
                + (low + high) / 2 * (1 - (low + high) / 2) * (1 - (low + high) / 2) * step * slope_slower
                + (low + high) / 2 * (low + high) / 2 * (3 - (low + high)) * log_faster
                + (low + high) / 2 * (low + high) / 2 * ((low + high) / 2 - 1) * step * slope_faster
                > needed_log
                then high
            else (low + high) / 2
        end as high,
    from halvings
    where halving < 34
),

roots as (
    select
        frontier_id,
        traffic,
        price_series_id,
        provider_id,
        tier,
        slower + (low + high) / 2 * step as speed_tok_s_user,
    from halvings
    where halving = 34
)

select
    judged.frontier_id,
    judged.serving_line_id,
    judged.chip_id,
    judged.model_id,
    judged.precision,
    judged.workload_id,
    judged.engine,
    judged.gpu_scope,
    judged.cost_allocation,
    judged.evidence,
    judged.speed_percentile,
    judged.traffic,
    judged.price_series_id,
    judged.price_type,
    judged.usd_per_gpu_hour,
    judged.provider_id,
    judged.tier,
    judged.output_usd_per_million_tokens,
    judged.needed_tok_s_gpu,
    roots.speed_tok_s_user as break_even_speed_tok_s_user,
    judged.null_reason,
    judged.passes_on,
    'frontier-v1' as method_version,
from judged
left join roots
    on judged.frontier_id = roots.frontier_id
    and judged.traffic = roots.traffic
    and judged.price_series_id = roots.price_series_id
    and judged.provider_id = roots.provider_id
    and judged.tier = roots.tier
