-- What a million output tokens cost with the prefill GPUs that fed them; one row per point that states decode GPUs,
-- chip, prefill chip, price series and stretch of both rents. Decode rent alone is not the cost: where the number
-- of prefill GPUs per decode GPU is neither counted nor stated, the cost is unknown.
-- grain: fully_loaded_cost_id
-- column: fully_loaded_cost_id | key
-- column: benchmark_point_id | the point
-- column: point_label | the publisher's own name of the point
-- column: model_id | the model
-- column: workload_id | the workload
-- column: chip_id | chip of the decode GPUs; another than the point's where a hardware factor leads to it
-- column: prefill_chip_id | chip of the prefill GPUs; null: the ratio is unknown
-- column: prefill_gpus_per_decode_gpu | prefill GPUs / decode GPUs
-- column: role_ratio_basis | counted (the point's own GPUs), stated (by its publisher for this point) or unknown
-- column: output_tok_s_decode_gpu | output tokens per second / decode GPUs, before the live-traffic factor
-- column: live_traffic_factor | share of a benchmark throughput that live traffic reaches; 1 for live figures
-- column: gpu_hours_per_billion_output_tokens | GPU-hours of both roles for 10^9 output tokens
-- column: gpu_hours_per_billion_output_tokens_live | the same under live traffic
-- column: price_series_id | the price series, of both chips
-- column: price_type | its price type
-- column: usd_per_gpu_hour | rent of a decode GPU, US dollars per GPU-hour
-- column: prefill_usd_per_gpu_hour | rent of a prefill GPU
-- column: decode_usd_per_million_output_tokens | decode rent / output tokens; not the cost
-- column: prefill_usd_per_million_output_tokens | prefill rent / output tokens
-- column: usd_per_million_output_tokens | both: the whole bill on output tokens
-- column: usd_per_million_output_tokens_live | the same under live traffic
-- column: null_reason | why usd_per_million_output_tokens is null
-- column: live_null_reason | why usd_per_million_output_tokens_live is null
-- column: evidence | of the throughput
-- column: passes_on | the terms of the point's publisher let us pass it on
-- column: valid_from | first day of the row
-- column: valid_to | first day after it; null: open
-- check: (usd_per_million_output_tokens is null) = (null_reason is not null)
-- check: (usd_per_million_output_tokens_live is null) = (live_null_reason is not null)
-- check: (prefill_gpus_per_decode_gpu is null) = (role_ratio_basis = 'unknown')
-- check: usd_per_million_output_tokens is null or usd_per_million_output_tokens > 0
-- check: valid_to is null or valid_to > valid_from
with

views as (
    select *
    from core.benchmark_view
    where token_kind = 'output'
        and gpu_scope = 'decode'
),

points as (
    select * from core.benchmark_point
),

stated_ratios as (
    select ratios.*
    from raw.role_ratio as ratios
    cross join core.run as run
    where ratios.known_at <= run.as_of
),

timeline as (
    select * from core.price_timeline
),

series as (
    select * from core.price_series
),

-- Counted GPUs say more than a sentence; they are all of the point's one chip.
loaded as (
    select
        views.benchmark_point_id,
        points.point_label,
        points.model_id,
        points.workload_id,
        points.passes_on,
        points.measured_from,
        views.chip_id,
        case
            when points.prefill_accelerator_count is not null and points.decode_accelerator_count is not null
                then views.chip_id
            when ratios.publisher is not null then coalesce(ratios.prefill_chip_id, views.chip_id)
        end as prefill_chip_id,
        coalesce(
            points.prefill_accelerator_count / points.decode_accelerator_count,
            ratios.prefill_gpus_per_decode_gpu
        ) as prefill_gpus_per_decode_gpu,
        case
            when points.prefill_accelerator_count is not null and points.decode_accelerator_count is not null
                then 'counted'
            when ratios.publisher is not null then 'stated'
            else 'unknown'
        end as role_ratio_basis,
        views.throughput_tok_s_gpu,
        views.throughput_tok_s_gpu * 3600 / 1e6 as million_tokens_per_decode_gpu_hour,
        views.live_traffic_factor,
        views.evidence,
        views.null_reason,
    from views
    inner join points on views.benchmark_point_id = points.benchmark_point_id
    left join stated_ratios as ratios
        on points.publisher = ratios.publisher
        and points.point_label = ratios.point_label
        and (points.prefill_accelerator_count is null or points.decode_accelerator_count is null)
),

-- The stretches of one chip never overlap, so that on the same chip each meets itself alone.
rented as (
    select
        loaded.*,
        decode.price_series_id,
        decode.usd_per_gpu_hour,
        prefill.usd_per_gpu_hour as prefill_usd_per_gpu_hour,
        cast(decode.usd_per_gpu_hour as double) / loaded.million_tokens_per_decode_gpu_hour as decode_usd,
        cast(prefill.usd_per_gpu_hour as double) * loaded.prefill_gpus_per_decode_gpu
        / loaded.million_tokens_per_decode_gpu_hour as prefill_usd,
        coalesce(
            loaded.null_reason,
            case when loaded.role_ratio_basis = 'unknown' then 'role_ratio_unknown' end,
            decode.null_reason,
            prefill.null_reason
        ) as no_cost_reason,
        greatest(
            loaded.measured_from,
            coalesce(decode.valid_from, loaded.measured_from),
            coalesce(prefill.valid_from, loaded.measured_from)
        ) as valid_from,
        nullif(
            least(
                coalesce(decode.valid_to, date '9999-12-31'),
                coalesce(prefill.valid_to, date '9999-12-31')
            ),
            date '9999-12-31'
        ) as valid_to,
    from loaded
    inner join timeline as decode
        on loaded.chip_id = decode.chip_id
        and (decode.valid_to is null or decode.valid_to > loaded.measured_from)
    left join timeline as prefill
        on loaded.prefill_chip_id = prefill.chip_id
        and decode.price_series_id = prefill.price_series_id
        and (prefill.valid_to is null or prefill.valid_to > loaded.measured_from)
        and (decode.valid_to is null or prefill.valid_from is null or prefill.valid_from < decode.valid_to)
        and (prefill.valid_to is null or decode.valid_from is null or decode.valid_from < prefill.valid_to)
)

select
    substr(
        md5(
            concat_ws(
                '|',
                rented.benchmark_point_id,
                rented.chip_id,
                coalesce(rented.prefill_chip_id, '-'),
                rented.price_series_id,
                cast(rented.valid_from as varchar)
            )
        ),
        1,
        16
    ) as fully_loaded_cost_id,
    rented.benchmark_point_id,
    rented.point_label,
    rented.model_id,
    rented.workload_id,
    rented.chip_id,
    rented.prefill_chip_id,
    rented.prefill_gpus_per_decode_gpu,
    rented.role_ratio_basis,
    rented.throughput_tok_s_gpu as output_tok_s_decode_gpu,
    rented.live_traffic_factor,
    1e3 * (1 + rented.prefill_gpus_per_decode_gpu) / rented.million_tokens_per_decode_gpu_hour
        as gpu_hours_per_billion_output_tokens,
    1e3 * (1 + rented.prefill_gpus_per_decode_gpu)
    / (rented.million_tokens_per_decode_gpu_hour * rented.live_traffic_factor)
        as gpu_hours_per_billion_output_tokens_live,
    rented.price_series_id,
    series.price_type,
    rented.usd_per_gpu_hour,
    rented.prefill_usd_per_gpu_hour,
    rented.decode_usd as decode_usd_per_million_output_tokens,
    rented.prefill_usd as prefill_usd_per_million_output_tokens,
    rented.decode_usd + rented.prefill_usd as usd_per_million_output_tokens,
    (rented.decode_usd + rented.prefill_usd) / rented.live_traffic_factor as usd_per_million_output_tokens_live,
    rented.no_cost_reason as null_reason,
    coalesce(rented.no_cost_reason, case when rented.live_traffic_factor is null then 'no_factor' end)
        as live_null_reason,
    rented.evidence,
    rented.passes_on,
    rented.valid_from,
    rented.valid_to,
from rented
inner join series on rented.price_series_id = series.price_series_id
