-- What does a million output tokens cost with the prefill GPUs that fed them?
-- Decode rent alone is not the cost. Where no prefill ratio is stated, the whole cost is not known.
select
    point_label,
    chip_id,
    prefill_chip_id,
    prefill_gpus_per_decode_gpu as prefill_gpu_count_per_decode_gpu,
    usd_per_gpu_hour,
    prefill_usd_per_gpu_hour,
    decode_usd_per_million_output_tokens,
    usd_per_million_output_tokens,
    usd_per_million_output_tokens_live,
    gpu_hours_per_billion_output_tokens_live,
    null_reason,
    evidence,
from mart.fully_loaded_cost
where price_series_id = 'index:savrn_ai_index:on_demand' and point_label is not null and usd_per_gpu_hour is not null
order by usd_per_million_output_tokens_live nulls last, point_label, chip_id, prefill_chip_id
