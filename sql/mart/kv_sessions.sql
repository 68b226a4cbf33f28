-- How many sessions of a context fit in a memory, by the KV cache that a model keeps per token; one row per model,
-- memory and context. A chip's whole memory is an upper bound: weights and activations lie in it too.
-- grain: model_id, memory_id, context_id
-- column: model_id | the model
-- column: memory_id | the chip, or the stated value that gives the memory
-- column: chip_id | the chip whose whole memory it is; null: a memory as stated
-- column: memory_basis | whole_chip (an upper bound: weights and activations take their part) or stated (set aside for the KV cache)
-- column: memory_gb | the memory in GB (10^9 bytes)
-- column: context_id | the stated value that gives the context, or longest_of_model
-- column: context_tokens | tokens that one session holds in the cache
-- column: kv_bytes_per_token | bytes of KV cache per token
-- column: kv_gb_per_session | kv_bytes_per_token x context_tokens / 10^9
-- column: sessions | memory / memory of one session; a fraction stays a fraction
-- column: null_reason | why sessions is null
-- check: (sessions is null) = (null_reason is not null)
with

models as (
    select * from raw.model
),

chips as (
    select * from raw.chip
),

run as (
    select * from core.run
),

stated as (
    select figures.*
    from raw.stated_value as figures
    cross join run
    where figures.known_at <= run.as_of
),

memories as (
    select
        chip_id as memory_id,
        chip_id,
        'whole_chip' as memory_basis,
        memory_gb,
    from chips

    union all

    select
        stated_value_id as memory_id,
        cast(null as varchar) as chip_id,
        'stated' as memory_basis,
        case when unit = 'GB' then value end as memory_gb,
    from stated
    where metric = 'memory_for_kv_cache'
),

contexts as (
    select
        models.model_id,
        stated.stated_value_id as context_id,
        case when stated.unit = 'tokens' then stated.value end as context_tokens,
    from models
    cross join stated
    where stated.metric = 'session_context'

    union all

    select
        model_id,
        'longest_of_model' as context_id,
        cast(context_tokens as double) as context_tokens,
    from models
),

sized as (
    select
        models.model_id,
        memories.memory_id,
        memories.chip_id,
        memories.memory_basis,
        memories.memory_gb,
        contexts.context_id,
        contexts.context_tokens,
        models.kv_bytes_per_token,
        case
            when models.kv_bytes_per_token is null then 'kv_bytes_unknown'
            when contexts.context_tokens is null then 'context_unknown'
            when contexts.context_tokens > models.context_tokens then 'context_too_long'
            when memories.memory_gb is null then 'memory_unknown'
        end as null_reason,
    from models
    inner join contexts on models.model_id = contexts.model_id
    cross join memories
)

select
    model_id,
    memory_id,
    chip_id,
    memory_basis,
    memory_gb,
    context_id,
    context_tokens,
    kv_bytes_per_token,
    kv_bytes_per_token * context_tokens / 1e9 as kv_gb_per_session,
    case when null_reason is null then memory_gb * 1e9 / (kv_bytes_per_token * context_tokens) end as sessions,
    null_reason,
from sized
