-- What a million tokens cost on a day, at the newest points of each family; one row per UTC day, chip, model,
-- precision, workload, token kind, GPU scope, allocation, evidence class, speed tier and price series. A
-- family without a price that day is there with its reason; a series that never priced the chip is listed
-- only beside the headline.
-- grain: date, chip_id, model_id, precision, workload_id, token_kind, gpu_scope, cost_allocation, evidence, speed_tier, price_series_id
-- column: date | UTC day
-- column: chip_id | the chip
-- column: model_id | the model
-- column: precision | precision of the weights; null: not stated
-- column: workload_id | the workload
-- column: token_kind | output, input or total
-- column: gpu_scope | all, decode or prefill
-- column: cost_allocation | total, by_role or whole_bill
-- column: evidence | measured, vendor_claim, read_off_chart, derived or assumed
-- column: speed_tier | max_throughput: the point of the family that makes most, eligible ones first
-- column: price_series_id | the price series
-- column: price_type | its price type
-- column: segment | its segment
-- column: usd_per_gpu_hour | price in US dollars per GPU-hour, DECIMAL(18,6)
-- column: price_age_days | days since the price was observed
-- column: throughput_tok_s_gpu | tokens per second per GPU of the scope
-- column: benchmark_age_days | days since the point was measured
-- column: interactivity_tok_s_user | output speed that one user sees there
-- column: ttft_p50_ms | time to first token there, median
-- column: usd_per_million_tokens | cost in US dollars
-- column: usd_per_million_tokens_live | the same under live traffic
-- column: engine | serving engine
-- column: serving_line_id | one deployable server in one run
-- column: benchmark_point_id | the point
-- column: cost_id | the row of cost_per_million_tokens
-- column: null_reason | why usd_per_million_tokens is null
-- column: disclosure_score | 0 to 100
-- column: eligible | may be ranked on that day
-- column: eligibility_reason | eligible, or the first gate that it fails
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
        partition by date, chip_id, model_id, precision, workload_id, token_kind, gpu_scope, cost_allocation, evidence
        order by (eligible and not too_old) desc, throughput_tok_s_gpu desc, benchmark_point_id
    ) = 1
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
    costs.cost_id,
    costs.null_reason,
    costs.disclosure_score,
    costs.eligible and not best.too_old as eligible,
    case when costs.eligible and best.too_old then 'point_too_old' else costs.eligibility_reason end as eligibility_reason,
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
