-- A language model; one row per model.
-- grain: model_id
-- column: model_id | key
-- column: model_name | name for people
-- column: developer | who made it
-- column: parameters_b | total parameters in billions
-- column: active_parameters_prefill_b | parameters active while reading, billions
-- column: active_parameters_decode_b | parameters active while writing, billions
-- column: kv_bytes_per_token | bytes of KV cache per token
-- column: context_tokens | longest context in tokens
-- column: released | release date as precisely as the source states it
-- column: source | where the figures come from
-- column: note | remarks
with

models as (
    select * from raw.model
)

select
    model_id,
    model_name,
    developer,
    parameters_b,
    active_parameters_prefill_b,
    active_parameters_decode_b,
    kv_bytes_per_token,
    context_tokens,
    released,
    source,
    note,
from models
