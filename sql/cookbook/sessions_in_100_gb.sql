-- How many sessions fit in 100 GB, by model?
-- At the context that the comparison states; a model whose cache per token is not known has none.
select
    model_id,
    memory_gb,
    context_tokens,
    kv_bytes_per_token,
    kv_gb_per_session,
    sessions as session_count,
    null_reason,
from mart.kv_sessions
where memory_id = 'kv-comparison-memory' and context_id = 'session-context'
order by sessions desc nulls last, model_id
