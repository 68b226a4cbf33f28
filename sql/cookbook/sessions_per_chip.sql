-- How many sessions would a chip's memory hold at the very most?
-- Whole memory: weights and activations take their part of it, so what is served is less.
select
    chip_id,
    model_id,
    context_id,
    context_tokens,
    memory_gb,
    sessions as session_count_at_most,
from mart.kv_sessions
where memory_basis = 'whole_chip' and sessions is not null
order by model_id, context_tokens, sessions desc, chip_id
