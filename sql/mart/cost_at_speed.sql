-- What a million tokens cost on one server at a speed that its users see, today; one row per serving line's frontier,
-- speed of the grid and price series (indices, cost models and own contracts). Cost is derived from throughput and
-- never interpolated itself. Rows of whole_bill each carry the whole rent: never add them.
-- grain: frontier_id, speed_tok_s_user, price_series_id
-- column: frontier_id | the serving line's frontier
-- column: serving_line_id | one deployable server in one run
-- column: chip_id | the chip
-- column: model_id | the model
-- column: precision | precision of the weights; null: not stated
-- column: workload_id | the workload
-- column: engine | serving engine
-- column: token_kind | output, input or total
-- column: gpu_scope | all, decode or prefill
-- column: cost_allocation | total, by_role (additive) or whole_bill (never additive)
-- column: evidence | measured, vendor_claim, read_off_chart, derived or assumed
-- column: traffic_basis | benchmark, replay or live
-- column: speed_percentile | which user the speed is of
-- column: speed_tok_s_user | output speed that one user sees
-- column: is_tier | one of the speeds that headlines compare
-- column: throughput_tok_s_gpu | tokens per second per GPU of the scope; null: see null_reason
-- column: position | measured, interpolated, below_range, above_range (unmeasured) or unreachable (beyond a stated ceiling)
-- column: below_point_id | slower point of the bracket
-- column: above_point_id | faster point of the bracket
-- column: below_measured_on | day of the slower point
-- column: above_measured_on | day of the faster point
-- column: bracket_speed_ratio | speed of the faster / of the slower
-- column: bracket_throughput_ratio | throughput of the slower / of the faster
-- column: wide_bracket | either ratio is above what the method trusts
-- column: benchmark_age_days | days since the older of the two was measured
-- column: ttft_p50_ms | time to first token, median, the longer of the two; null: not stated
-- column: price_series_id | the price series
-- column: price_type | its price type
-- column: usd_per_gpu_hour | price in US dollars per GPU-hour today
-- column: price_age_days | days since that price was observed
-- column: usd_per_million_tokens | usd_per_gpu_hour / (throughput x 3600 / 10^6)
-- column: usd_per_million_tokens_live | the same under live traffic; null: no factor is sourced
-- column: null_reason | why usd_per_million_tokens is null
-- column: disclosure_score | the lower of the two points', 0 to 100
-- column: eligible | both points may be ranked; null: there is no bracket
-- column: eligibility_reason | eligible, or the gate that one of them fails
-- column: passes_on | the terms of the points' publishers let us pass it on
-- column: method_version | version of the curve
-- check: (usd_per_million_tokens is null) = (null_reason is not null)
-- check: usd_per_million_tokens is null or usd_per_million_tokens > 0
with

curves as (
    select * from core.throughput_at_speed
),

points as (
    select * from core.benchmark_point
),

timeline as (
    select * from core.price_timeline
),

segments as (
    select * from core.price_segment
),

series as (
    select * from core.price_series where price_basis <> 'provider_price'
),

run as (
    select
        as_of,
        cast(as_of at time zone 'UTC' as date) as today,
    from core.run
)

select
    curves.frontier_id,
    curves.serving_line_id,
    curves.chip_id,
    curves.model_id,
    curves.precision,
    curves.workload_id,
    curves.engine,
    curves.token_kind,
    curves.gpu_scope,
    curves.cost_allocation,
    curves.evidence,
    curves.traffic_basis,
    curves.speed_percentile,
    curves.speed_tok_s_user,
    curves.is_tier,
    curves.throughput_tok_s_gpu,
    curves.position,
    curves.below_point_id,
    curves.above_point_id,
    below_points.measured_on as below_measured_on,
    above_points.measured_on as above_measured_on,
    curves.bracket_speed_ratio,
    curves.bracket_throughput_ratio,
    curves.wide_bracket,
    date_diff('day', curves.oldest_measured_from, run.today) as benchmark_age_days,
    curves.ttft_p50_ms,
    series.price_series_id,
    series.price_type,
    timeline.usd_per_gpu_hour,
    case
        when segments.priced_on > run.today then 0
        else date_diff('day', segments.priced_on, run.today)
    end as price_age_days,
    cast(timeline.usd_per_gpu_hour as double) / (curves.throughput_tok_s_gpu * 3600 / 1e6) as usd_per_million_tokens,
    cast(timeline.usd_per_gpu_hour as double)
    / (curves.throughput_tok_s_gpu * curves.live_traffic_factor * 3600 / 1e6) as usd_per_million_tokens_live,
    case
        when curves.throughput_tok_s_gpu is null then curves.position
        else timeline.null_reason
    end as null_reason,
    curves.disclosure_score,
    curves.eligible,
    curves.eligibility_reason,
    curves.passes_on,
    curves.method_version,
from curves
cross join run
inner join timeline
    on curves.chip_id = timeline.chip_id
    and (timeline.valid_from is null or timeline.valid_from <= run.today)
    and (timeline.valid_to is null or timeline.valid_to > run.today)
inner join series on timeline.price_series_id = series.price_series_id
left join segments
    on timeline.price_series_id = segments.price_series_id
    and timeline.chip_id = segments.chip_id
    and segments.valid_from <= run.today
    and (segments.valid_to is null or segments.valid_to > run.today)
left join points as below_points on curves.below_point_id = below_points.benchmark_point_id
left join points as above_points on curves.above_point_id = above_points.benchmark_point_id
where curves.valid_from <= run.today
    and (curves.valid_to is null or curves.valid_to > run.today)
