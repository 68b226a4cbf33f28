-- Does memory bound the batch?
-- KV cache of a point's batch on each GPU, and its share of the chip's memory.
select
    point_label,
    chip_id,
    model_id,
    sequences_per_gpu as sequence_count_per_gpu,
    context_tokens,
    kv_gb_per_gpu,
    memory_gb,
    share_of_memory,
from mart.kv_batch_memory
where kv_gb_per_gpu is not null
order by kv_gb_per_gpu desc, chip_id
