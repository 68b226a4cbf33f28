-- What a request looks like: the conditions that make two figures comparable; one row per workload. A
-- workload that a payload brought and no seed describes has a name and nothing else.
-- grain: workload_id
-- column: workload_id | key
-- column: workload_name | name for people
-- column: input_tokens | input tokens per request, cached or not
-- column: cached_input_tokens | of these, read from a cache
-- column: uncached_input_tokens | of these, computed
-- column: output_tokens | output tokens per request
-- column: mix_class | how the split into cached and uncached came about: stated, derived or assumed; null: there is none
-- column: context_tokens | tokens that one session holds in the KV cache
-- column: ranked | the headline compares chips on it
-- column: source | where the figures come from; null: only seen in payloads
-- column: note | remarks
-- check: cached_input_tokens is null or cached_input_tokens >= 0
-- check: mix_class is null or abs(cached_input_tokens + uncached_input_tokens - input_tokens) < 1e-6
-- check: (mix_class is null) = (cached_input_tokens is null or uncached_input_tokens is null or output_tokens is null)
with

described as (
    select * from raw.workload
),

observed as (
    select distinct workload_id from core.benchmark_result
)

select
    coalesce(described.workload_id, observed.workload_id) as workload_id,
    coalesce(described.workload_name, observed.workload_id) as workload_name,
    described.input_tokens,
    described.cached_input_tokens,
    described.uncached_input_tokens,
    described.output_tokens,
    described.mix_class,
    described.context_tokens,
    coalesce(described.ranked, false) as ranked,
    described.source,
    described.note,
from described
full outer join observed on described.workload_id = observed.workload_id
