-- What does a million output tokens cost on each chip today, by rent and by owning cost?
-- Greatest throughput, all GPUs, whole bill; the three bases pick different winners.
select
    model_id,
    workload_id,
    rank,
    chip_id,
    precision,
    on_demand_usd_per_million_tokens,
    reserved_36m_usd_per_million_tokens,
    owning_usd_per_million_tokens,
    throughput_tok_s_gpu,
    interactivity_tok_s_user,
    ttft_p50_ms,
    benchmark_age_days,
    price_age_days,
    unranked_reason,
from mart.headline
order by model_id, workload_id, rank nulls last, chip_id
