-- What a million tokens cost to make at one benchmark point, on one price series, while a price holds; one row
-- per point, chip, token kind, GPU scope, allocation, price series and stretch of the price. Unknown costs
-- are null with a reason. Rows of whole_bill each carry the whole rent: never add them.
-- grain: cost_id
-- column: cost_id | key
-- column: benchmark_point_id | the point
-- column: line_id | the point's line with token kind and GPU scope
-- column: serving_line_id | one deployable server in one run
-- column: config_id | how it was served
-- column: chip_id | the chip priced; another than the point's where a hardware factor leads to it
-- column: model_id | the model
-- column: engine | serving engine
-- column: engine_version | its version
-- column: precision | precision of the weights
-- column: workload_id | the workload
-- column: accelerator_count | GPUs of the deployment
-- column: disaggregated | prefill and decode run on different GPUs
-- column: interactivity_tok_s_user | output speed that one user sees
-- column: speed_percentile | which user that is
-- column: ttft_p50_ms | time to first token, median
-- column: ttft_p99_ms | time to first token, 99th percentile
-- column: token_kind | output, input or total
-- column: gpu_scope | all, decode, prefill; none where only a speed is known
-- column: cost_allocation | total (all rent on all tokens), by_role (each role's rent on its tokens: additive) or whole_bill (all rent on one kind: never additive)
-- column: throughput_tok_s_gpu | tokens per second per GPU of the scope, before the live-traffic factor
-- column: throughput_live_tok_s_gpu | the same under live traffic; null: no factor is sourced
-- column: gpu_hours_per_billion_tokens_live | GPU-hours of the scope for 10^9 tokens under live traffic
-- column: traffic_basis | what the throughput was measured under: benchmark, replay or live
-- column: price_series_id | the price series
-- column: price_type | its price type
-- column: segment | its segment, where it describes one
-- column: usd_per_gpu_hour | price in US dollars per GPU-hour, DECIMAL(18,6)
-- column: price_fact_id | the quote or published value behind the price
-- column: hardware_factor | throughput on this chip / throughput of the point, as its publisher states
-- column: live_traffic_factor | share of a benchmark throughput that live traffic reaches; 1 for live figures
-- column: usd_per_million_tokens | usd_per_gpu_hour / (throughput x 3600 / 10^6)
-- column: usd_per_million_tokens_live | the same under live traffic
-- column: null_reason | why usd_per_million_tokens is null
-- column: live_null_reason | why usd_per_million_tokens_live is null
-- column: evidence | measured, vendor_claim, read_off_chart, derived or assumed; never blended in a ranking
-- column: disclosure_score | 0 to 100
-- column: eligible | may be ranked
-- column: eligibility_reason | eligible, or the first gate that it fails
-- column: valid_from | first day of the row
-- column: valid_to | first day after it; null: open
-- column: measured_on | day of measurement; null: not stated
-- column: superseded_on | day of the next point of the line; the row goes on, headlines leave it
-- check: (usd_per_million_tokens is null) = (null_reason is not null)
-- check: (usd_per_million_tokens_live is null) = (live_null_reason is not null)
-- check: usd_per_million_tokens is null or (usd_per_million_tokens > 0 and usd_per_million_tokens < 1e12)
-- check: valid_to is null or valid_to > valid_from
-- check: gpu_scope <> 'none' or usd_per_million_tokens is null
with

views as (
    select * from core.benchmark_view
),

points as (
    select * from core.benchmark_point
),

disclosure as (
    select * from core.benchmark_disclosure
),

eligibility as (
    select * from core.benchmark_eligibility
),

timeline as (
    select * from core.price_timeline
),

series as (
    select * from core.price_series
),

priced as (
    select
        views.benchmark_point_id,
        views.chip_id,
        views.token_kind,
        views.gpu_scope,
        views.cost_allocation,
        views.line_id,
        views.evidence,
        views.throughput_tok_s_gpu,
        views.hardware_factor,
        views.live_traffic_factor,
        timeline.price_series_id,
        timeline.usd_per_gpu_hour,
        timeline.price_fact_id,
        cast(timeline.usd_per_gpu_hour as double) / (views.throughput_tok_s_gpu * 3600 / 1e6) as usd_per_million_tokens,
        coalesce(views.null_reason, timeline.null_reason) as null_reason,
        greatest(points.measured_from, coalesce(timeline.valid_from, points.measured_from)) as valid_from,
        timeline.valid_to,
    from views
    inner join points on views.benchmark_point_id = points.benchmark_point_id
    inner join timeline
        on views.chip_id = timeline.chip_id
        and (timeline.valid_to is null or timeline.valid_to > points.measured_from)
)

select
    substr(
        md5(
            concat_ws(
                '|',
                priced.benchmark_point_id,
                priced.chip_id,
                priced.token_kind,
                priced.gpu_scope,
                priced.cost_allocation,
                priced.price_series_id,
                cast(priced.valid_from as varchar)
            )
        ),
        1,
        16
    ) as cost_id,
    priced.benchmark_point_id,
    priced.line_id,
    points.serving_line_id,
    points.config_id,
    priced.chip_id,
    points.model_id,
    points.engine,
    points.engine_version,
    points.weight_precision as precision,
    points.workload_id,
    points.accelerator_count,
    points.disaggregated,
    points.interactivity_tok_s_user,
    points.speed_percentile,
    points.ttft_p50_ms,
    points.ttft_p99_ms,
    priced.token_kind,
    priced.gpu_scope,
    priced.cost_allocation,
    priced.throughput_tok_s_gpu,
    priced.throughput_tok_s_gpu * priced.live_traffic_factor as throughput_live_tok_s_gpu,
    1e9 / (priced.throughput_tok_s_gpu * priced.live_traffic_factor * 3600) as gpu_hours_per_billion_tokens_live,
    points.traffic_basis,
    priced.price_series_id,
    series.price_type,
    series.segment,
    priced.usd_per_gpu_hour,
    priced.price_fact_id,
    priced.hardware_factor,
    priced.live_traffic_factor,
    priced.usd_per_million_tokens,
    priced.usd_per_million_tokens / priced.live_traffic_factor as usd_per_million_tokens_live,
    priced.null_reason,
    coalesce(
        priced.null_reason,
        case when priced.live_traffic_factor is null then 'no_factor' end
    ) as live_null_reason,
    priced.evidence,
    disclosure.disclosure_score,
    eligibility.eligible and priced.evidence = points.evidence as eligible,
    case
        when eligibility.eligible and priced.evidence <> points.evidence then concat('evidence_is_', priced.evidence)
        else eligibility.eligibility_reason
    end as eligibility_reason,
    priced.valid_from,
    priced.valid_to,
    points.measured_on,
    points.superseded_on,
from priced
inner join points on priced.benchmark_point_id = points.benchmark_point_id
inner join disclosure on priced.benchmark_point_id = disclosure.benchmark_point_id
inner join eligibility on priced.benchmark_point_id = eligibility.benchmark_point_id
inner join series on priced.price_series_id = series.price_series_id
