-- What does a million output tokens cost with the prefill GPUs that fed them?
-- On a day that is set below. Decode rent alone is not the cost: where no prefill ratio is stated, that is not known.
with

asked as (
    select
        'index:savrn_ai_index:on_demand' as price_series_id,
        date '2026-10-31' as date
)

select
    costs.point_label,
    costs.chip_id,
    costs.prefill_chip_id,
    costs.prefill_gpus_per_decode_gpu as prefill_gpu_count_per_decode_gpu,
    costs.usd_per_gpu_hour,
    costs.prefill_usd_per_gpu_hour,
    costs.decode_usd_per_million_output_tokens,
    costs.usd_per_million_output_tokens,
    costs.usd_per_million_output_tokens_live,
    costs.gpu_hours_per_billion_output_tokens_live,
    costs.null_reason,
    costs.evidence,
from asked
inner join mart.fully_loaded_cost as costs
    on asked.price_series_id = costs.price_series_id
    and costs.valid_from <= asked.date
    and (costs.valid_to is null or costs.valid_to > asked.date)
inner join mart.benchmark_point as points on costs.benchmark_point_id = points.benchmark_point_id
where costs.point_label is not null
    and costs.usd_per_gpu_hour is not null
    and (points.superseded_on is null or points.superseded_on > asked.date)
order by costs.usd_per_million_output_tokens_live nulls last, costs.point_label, costs.chip_id, costs.prefill_chip_id
