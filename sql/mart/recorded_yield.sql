-- What the headline said on a day, as it was recorded: cost of a million output tokens over all GPUs and the whole
-- bill, at every speed tier and on every price series beside the headline. Written once: what is derived
-- otherwise today stands in drift. One row per UTC day and yield.
-- grain: date, chip_id, model_id, precision, workload_id, token_kind, gpu_scope, cost_allocation, evidence, traffic_basis, speed_percentile, speed_tier, price_series_id
-- column: date | UTC day of the yield and of its record
-- column: chip_id | the chip
-- column: model_id | the model
-- column: precision | precision of the weights; null: not stated
-- column: workload_id | the workload
-- column: token_kind | always output here
-- column: gpu_scope | always all here
-- column: cost_allocation | always whole_bill here
-- column: evidence | measured, vendor_claim, read_off_chart, derived or assumed
-- column: traffic_basis | benchmark, replay or live
-- column: speed_percentile | which user the speed is of; null: no speed is stated
-- column: speed_tier | max_throughput, or the output speed that each user sees in tok/s: 30, 50, 75, 100, 150, 200
-- column: price_series_id | the price series
-- column: usd_per_gpu_hour | price in US dollars per GPU-hour, DECIMAL(18,6); null: none was known
-- column: throughput_tok_s_gpu | output tokens per second / all GPUs
-- column: usd_per_million_tokens | cost in US dollars, as recorded, unrounded
-- column: null_reason | why there was no cost
-- column: eligible | could be ranked on that day
-- column: eligibility_reason | eligible, or the first gate that it failed
-- column: position | measured, or interpolated between the two points
-- column: serving_line_id | one deployable server in one run
-- column: benchmark_point_id | the point; of a tier the slower point of the bracket
-- column: above_point_id | the faster point of the bracket; null: a point itself
-- column: cost_id | the row of cost_per_million_tokens at that time; null at a tier
-- column: price_fact_id | the quote or published value behind the price
-- column: method_version | versions of the methods behind throughput and price
-- column: recorded_late | written after its day was over, from what our store held at the end of it
-- column: as_of | moment up to which its facts were known
-- column: recorded_at | moment that the record was written
-- column: record_id | id of its snapshot
-- check: (usd_per_million_tokens is null) = (null_reason is not null)
with

recorded as (
    select * from core.recorded_yield
),

records as (
    select * from core.known_record where status = 'loaded'
)

select
    recorded.date,
    recorded.chip_id,
    recorded.model_id,
    recorded.precision,
    recorded.workload_id,
    recorded.token_kind,
    recorded.gpu_scope,
    recorded.cost_allocation,
    recorded.evidence,
    recorded.traffic_basis,
    recorded.speed_percentile,
    recorded.speed_tier,
    recorded.price_series_id,
    recorded.usd_per_gpu_hour,
    recorded.throughput_tok_s_gpu,
    recorded.usd_per_million_tokens,
    recorded.null_reason,
    recorded.eligible,
    recorded.eligibility_reason,
    recorded.position,
    recorded.serving_line_id,
    recorded.benchmark_point_id,
    recorded.above_point_id,
    recorded.cost_id,
    recorded.price_fact_id,
    recorded.method_version,
    records.recorded_late,
    recorded.as_of,
    recorded.recorded_at,
    recorded.record_id,
from recorded
inner join records on recorded.record_id = records.record_id
