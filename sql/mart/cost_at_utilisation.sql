-- Cost at peak and at a named utilisation side by side: idle GPUs are paid for too; one row per cost that holds on
-- the run's day and per utilisation assumed, on price series that stand beside the headline or ever priced the chip.
-- Utilisation is the share of hours in which the GPUs run at the point's rate. It stands apart from the live-traffic
-- factor, which says what that rate is in production.
-- grain: cost_id, utilisation_id
-- column: cost_id | the row of cost_per_million_tokens
-- column: utilisation_id | the assumption on utilisation
-- column: utilisation | share of paid hours in which the GPUs run at that rate, 0 to 1, assumed
-- column: benchmark_point_id | the point
-- column: chip_id | the chip priced
-- column: model_id | the model
-- column: workload_id | the workload
-- column: token_kind | output, input or total
-- column: gpu_scope | all, decode, prefill; none where only a speed is known
-- column: cost_allocation | total, by_role (additive) or whole_bill (never additive)
-- column: concurrency | requests in flight at the point; null: not stated
-- column: price_series_id | the price series
-- column: usd_per_gpu_hour | its price in US dollars per GPU-hour
-- column: throughput_tok_s_gpu | tokens per second per GPU of the scope, before the live-traffic factor
-- column: usd_per_million_tokens | at peak: as in cost_per_million_tokens
-- column: usd_per_million_tokens_at_utilisation | usd_per_million_tokens / utilisation, from the unrounded cost
-- column: live_traffic_factor | share of a benchmark throughput that live traffic reaches; 1 for live figures
-- column: usd_per_million_tokens_live | at peak under live traffic
-- column: usd_per_million_tokens_live_at_utilisation | usd_per_million_tokens_live / utilisation
-- column: null_reason | why usd_per_million_tokens_at_utilisation is null
-- column: live_null_reason | why usd_per_million_tokens_live_at_utilisation is null
-- column: evidence | evidence class of the throughput; the utilisation is always assumed
-- check: (usd_per_million_tokens_at_utilisation is null) = (null_reason is not null)
-- check: (usd_per_million_tokens_live_at_utilisation is null) = (live_null_reason is not null)
-- check: usd_per_million_tokens_at_utilisation is null or usd_per_million_tokens_at_utilisation >= usd_per_million_tokens
-- check: utilisation >= 0 and utilisation <= 1
with

costs as (
    select * from mart.cost_per_million_tokens
),

points as (
    select * from core.benchmark_point
),

assumptions as (
    select * from raw.utilisation_assumption
),

run as (
    select * from core.run
),

series as (
    select * from core.price_series
),

priced_chips as (
    select distinct
        price_series_id,
        chip_id,
    from core.price_segment
),

holding as (
    select costs.*
    from costs
    cross join run
    inner join series on costs.price_series_id = series.price_series_id
    left join priced_chips
        on costs.price_series_id = priced_chips.price_series_id
        and costs.chip_id = priced_chips.chip_id
    where costs.superseded_on is null
        and costs.valid_from <= cast(run.as_of at time zone 'UTC' as date)
        and (costs.valid_to is null or costs.valid_to > cast(run.as_of at time zone 'UTC' as date))
        and (series.headline_order is not null or priced_chips.chip_id is not null)
)

select
    holding.cost_id,
    assumptions.utilisation_id,
    assumptions.utilisation,
    holding.benchmark_point_id,
    holding.chip_id,
    holding.model_id,
    holding.workload_id,
    holding.token_kind,
    holding.gpu_scope,
    holding.cost_allocation,
    points.concurrency,
    holding.price_series_id,
    holding.usd_per_gpu_hour,
    holding.throughput_tok_s_gpu,
    holding.usd_per_million_tokens,
    holding.usd_per_million_tokens / nullif(assumptions.utilisation, 0) as usd_per_million_tokens_at_utilisation,
    holding.live_traffic_factor,
    holding.usd_per_million_tokens_live,
    holding.usd_per_million_tokens_live / nullif(assumptions.utilisation, 0)
        as usd_per_million_tokens_live_at_utilisation,
    coalesce(
        holding.null_reason,
        case when assumptions.utilisation = 0 then 'zero_utilisation' end
    ) as null_reason,
    coalesce(
        holding.live_null_reason,
        case when assumptions.utilisation = 0 then 'zero_utilisation' end
    ) as live_null_reason,
    holding.evidence,
from holding
inner join points on holding.benchmark_point_id = points.benchmark_point_id
cross join assumptions
