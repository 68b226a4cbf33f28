-- What a million tokens cost on a day, at the newest points of each family; one row per UTC day, chip, model,
-- precision, workload, token kind, GPU scope, allocation, evidence class, traffic, speed percentile, speed tier and
-- price series. A family without a price that day is there with its reason; a series that never priced the chip is listed
-- only beside the headline. Costs at a speed are given on indices, cost models and own contracts.
-- grain: date, chip_id, model_id, precision, workload_id, token_kind, gpu_scope, cost_allocation, evidence, traffic_basis, speed_percentile, speed_tier, price_series_id
-- column: date | UTC day
-- column: chip_id | the chip
-- column: model_id | the model
-- column: precision | precision of the weights; null: not stated
-- column: workload_id | the workload
-- column: token_kind | output, input or total
-- column: gpu_scope | all, decode or prefill
-- column: cost_allocation | total, by_role or whole_bill
-- column: evidence | measured, vendor_claim, read_off_chart, derived or assumed
-- column: traffic_basis | benchmark, replay or live
-- column: speed_percentile | which user the speed is of; null: no speed is stated
-- column: speed_tier | max_throughput: the point of the family that makes most, eligible ones first; 30, 50, 75, 100, 150, 200: its server that makes most at that speed per user, read off its frontier
-- column: price_series_id | the price series
-- column: price_type | its price type
-- column: segment | its segment
-- column: usd_per_gpu_hour | price in US dollars per GPU-hour, DECIMAL(18,6)
-- column: price_age_days | days since the price was observed
-- column: throughput_tok_s_gpu | tokens per second per GPU of the scope
-- column: benchmark_age_days | days since the point was measured
-- column: interactivity_tok_s_user | output speed that one user sees there; of a tier the tier itself
-- column: ttft_p50_ms | time to first token there, median
-- column: usd_per_million_tokens | cost in US dollars
-- column: usd_per_million_tokens_live | the same under live traffic
-- column: engine | serving engine
-- column: serving_line_id | one deployable server in one run
-- column: benchmark_point_id | the point; of a tier the slower point of the bracket
-- column: above_point_id | the faster point of the bracket; null: a point itself
-- column: position | measured, or interpolated between the two points
-- column: cost_id | the row of cost_per_million_tokens; null at a tier
-- column: price_fact_id | the quote or published value behind the price: the first observation of its stretch
-- column: null_reason | why usd_per_million_tokens is null
-- column: disclosure_score | 0 to 100
-- column: eligible | may be ranked on that day
-- column: eligibility_reason | eligible, or the first gate that it fails
-- column: method_version | versions of the methods behind throughput and price
-- check: (usd_per_million_tokens is null) = (null_reason is not null)
-- check: (price_age_days is null) = (usd_per_gpu_hour is null)
-- check: benchmark_age_days >= 0
-- check: price_age_days is null or price_age_days >= 0
with

costs as (
    select * from mart.cost_per_million_tokens
),

views as (
    select * from core.benchmark_view where throughput_tok_s_gpu is not null
),

points as (
    select * from core.benchmark_point
),

eligibility as (
    select * from core.benchmark_eligibility
),

segments as (
    select * from core.price_segment
),

series as (
    select * from core.price_series
),

run as (
    select * from core.run
),

parameters as (
    select max(value) as max_point_age_days
    from raw.method_parameter
    where method = 'headline' and version = 'v1' and parameter = 'max_point_age_days'
),

-- A point stands for its family from its day until the next one of its line.
active as (
    select
        views.benchmark_point_id,
        views.chip_id,
        points.model_id,
        points.weight_precision as precision,
        points.workload_id,
        views.token_kind,
        views.gpu_scope,
        views.cost_allocation,
        views.evidence,
        views.throughput_tok_s_gpu,
        points.traffic_basis,
        points.speed_percentile,
        points.measured_from,
        eligibility.eligible and views.evidence = points.evidence as eligible,
        cast(
            unnest(
                generate_series(
                    points.measured_from,
                    least(
                        coalesce(points.superseded_on - 1, cast(run.as_of at time zone 'UTC' as date)),
                        cast(run.as_of at time zone 'UTC' as date)
                    ),
                    interval 1 day
                )
            ) as date
        ) as date,
    from views
    inner join points on views.benchmark_point_id = points.benchmark_point_id
    inner join eligibility on views.benchmark_point_id = eligibility.benchmark_point_id
    cross join run
),

aged as (
    select
        active.*,
        date_diff('day', active.measured_from, active.date) as benchmark_age_days,
        date_diff('day', active.measured_from, active.date) > parameters.max_point_age_days as too_old,
    from active
    cross join parameters
),

best as (
    select *
    from aged
    qualify row_number() over (
        partition by
            date,
            chip_id,
            model_id,
            precision,
            workload_id,
            token_kind,
            gpu_scope,
            cost_allocation,
            evidence,
            traffic_basis,
            speed_percentile
        order by (eligible and not too_old) desc, throughput_tok_s_gpu desc, benchmark_point_id
    ) = 1
),

timeline as (
    select * from core.price_timeline
),

tiers as (
    select * from core.best_at_tier
),

tier_days as (
    select
        tiers.*,
        cast(
            unnest(
                generate_series(
                    tiers.valid_from,
                    least(
                        coalesce(tiers.valid_to - 1, cast(run.as_of at time zone 'UTC' as date)),
                        cast(run.as_of at time zone 'UTC' as date)
                    ),
                    interval 1 day
                )
            ) as date
        ) as date,
    from tiers
    cross join run
),

priced_chips as (
    select distinct
        price_series_id,
        chip_id,
    from segments
)

select
    best.date,
    best.chip_id,
    best.model_id,
    best.precision,
    best.workload_id,
    best.token_kind,
    best.gpu_scope,
    best.cost_allocation,
    best.evidence,
    best.traffic_basis,
    best.speed_percentile,
    'max_throughput' as speed_tier,
    costs.price_series_id,
    costs.price_type,
    costs.segment,
    costs.usd_per_gpu_hour,
    -- A price that reaches back to its stated start is not older than its day; no price has no age.
    case
        when segments.priced_on > best.date then 0
        else date_diff('day', segments.priced_on, best.date)
    end as price_age_days,
    costs.throughput_tok_s_gpu,
    best.benchmark_age_days,
    costs.interactivity_tok_s_user,
    costs.ttft_p50_ms,
    costs.usd_per_million_tokens,
    costs.usd_per_million_tokens_live,
    costs.engine,
    costs.serving_line_id,
    best.benchmark_point_id,
    cast(null as varchar) as above_point_id,
    'measured' as position,
    costs.cost_id,
    costs.price_fact_id,
    costs.null_reason,
    costs.disclosure_score,
    costs.eligible and not best.too_old as eligible,
    case when costs.eligible and best.too_old then 'point_too_old' else costs.eligibility_reason end as eligibility_reason,
    case when series.price_basis = 'own_index' then 'headline-v1, index-v1' else 'headline-v1, price-v1' end as method_version,
from best
inner join costs
    on best.benchmark_point_id = costs.benchmark_point_id
    and best.chip_id = costs.chip_id
    and best.token_kind = costs.token_kind
    and best.gpu_scope = costs.gpu_scope
    and best.cost_allocation = costs.cost_allocation
    and best.date >= costs.valid_from
    and (costs.valid_to is null or best.date < costs.valid_to)
inner join series on costs.price_series_id = series.price_series_id
left join priced_chips
    on costs.price_series_id = priced_chips.price_series_id
    and costs.chip_id = priced_chips.chip_id
left join segments
    on costs.price_series_id = segments.price_series_id
    and costs.chip_id = segments.chip_id
    and best.date >= segments.valid_from
    and (segments.valid_to is null or best.date < segments.valid_to)
where series.headline_order is not null or priced_chips.chip_id is not null

union all

select
    tier_days.date,
    tier_days.chip_id,
    tier_days.model_id,
    tier_days.precision,
    tier_days.workload_id,
    tier_days.token_kind,
    tier_days.gpu_scope,
    tier_days.cost_allocation,
    tier_days.evidence,
    tier_days.traffic_basis,
    tier_days.speed_percentile,
    cast(cast(tier_days.speed_tok_s_user as integer) as varchar) as speed_tier,
    series.price_series_id,
    series.price_type,
    series.segment,
    timeline.usd_per_gpu_hour,
    case
        when segments.priced_on > tier_days.date then 0
        else date_diff('day', segments.priced_on, tier_days.date)
    end as price_age_days,
    tier_days.throughput_tok_s_gpu,
    date_diff('day', tier_days.oldest_measured_from, tier_days.date) as benchmark_age_days,
    tier_days.speed_tok_s_user as interactivity_tok_s_user,
    tier_days.ttft_p50_ms,
    cast(timeline.usd_per_gpu_hour as double) / (tier_days.throughput_tok_s_gpu * 3600 / 1e6) as usd_per_million_tokens,
    cast(timeline.usd_per_gpu_hour as double)
    / (tier_days.throughput_tok_s_gpu * tier_days.live_traffic_factor * 3600 / 1e6) as usd_per_million_tokens_live,
    tier_days.engine,
    tier_days.serving_line_id,
    tier_days.below_point_id as benchmark_point_id,
    tier_days.above_point_id,
    tier_days.position,
    cast(null as varchar) as cost_id,
    timeline.price_fact_id,
    timeline.null_reason,
    tier_days.disclosure_score,
    tier_days.rankable as eligible,
    coalesce(tier_days.unranked_reason, 'eligible') as eligibility_reason,
    case when series.price_basis = 'own_index' then 'frontier-v1, index-v1' else 'frontier-v1, price-v1' end as method_version,
from tier_days
inner join timeline
    on tier_days.chip_id = timeline.chip_id
    and (timeline.valid_from is null or timeline.valid_from <= tier_days.date)
    and (timeline.valid_to is null or timeline.valid_to > tier_days.date)
inner join series
    on timeline.price_series_id = series.price_series_id
    and series.price_basis <> 'provider_price'
left join priced_chips
    on timeline.price_series_id = priced_chips.price_series_id
    and timeline.chip_id = priced_chips.chip_id
left join segments
    on timeline.price_series_id = segments.price_series_id
    and timeline.chip_id = segments.chip_id
    and tier_days.date >= segments.valid_from
    and (segments.valid_to is null or tier_days.date < segments.valid_to)
where series.headline_order is not null or priced_chips.chip_id is not null
