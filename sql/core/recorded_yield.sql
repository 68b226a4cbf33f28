-- One recorded headline yield, as a fact that no later build changes; one row per yield of a stored record.
-- grain: record_id, row_number
-- column: record_id | id of the snapshot that holds it
-- column: row_number | its place there
-- column: usd_per_gpu_hour | price in US dollars per GPU-hour, DECIMAL(18,6)
-- check: (usd_per_million_tokens is null) = (null_reason is not null)
with

recorded as (
    select * from raw.recorded_yield
),

records as (
    select * from core.record
)

select
    records.record_id,
    recorded.row_number,
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
    cast(recorded.usd_per_gpu_hour as decimal(18, 6)) as usd_per_gpu_hour,
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
    records.as_of,
    records.recorded_at,
from recorded
inner join records on recorded.snapshot_id = records.record_id
where recorded.source = 'record'
