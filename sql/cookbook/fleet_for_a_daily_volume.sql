-- How many GPUs would 155 trillion tokens a day take?
-- If all of them looked like the workload of the row. Points that may not be ranked are marked.
select
    chip_id,
    model_id,
    precision,
    workload_id,
    tokens_per_day,
    throughput_tok_s_gpu,
    utilisation as utilisation_share,
    gpu_count,
    gpu_count_live,
    live_null_reason,
    evidence,
    eligible,
from mart.fleet_size
where volume_id = 'deepseek_2026' and utilisation > 0
order by utilisation desc, gpu_count, chip_id, precision
