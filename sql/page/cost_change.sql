-- What moved the cost of a million tokens, the chip's price or its throughput?
-- The 24 newest days on which a chip's cost moved on a price series beside the headline, with the line that moved most; one
-- row per change and effect, and the effects add up to the change.
with

changes as (
    select *
    from mart.cost_change
    where standing and null_reason is null
    qualify row_number() over (
        partition by chip_id, model_id, workload_id, price_series_id, changed_on
        order by abs(change_usd_per_million_tokens) desc, line_id
    ) = 1
),

newest as (
    select *
    from changes
    qualify row_number() over (
        partition by model_id, workload_id, price_series_id
        order by changed_on desc, abs(change_usd_per_million_tokens) desc, change_id
    ) <= 24
),

effects as (
    select *, 'throughput' as effect, throughput_effect_usd as effect_usd_per_million_tokens
    from newest

    union all

    select *, 'price' as effect, price_effect_usd as effect_usd_per_million_tokens
    from newest

    union all

    select *, 'hardware factor' as effect, factor_effect_usd as effect_usd_per_million_tokens
    from newest

    union all

    select *, 'record mended' as effect, record_effect_usd as effect_usd_per_million_tokens
    from newest
)

select
    model_id,
    workload_id,
    price_series_id,
    chip_id,
    concat(cast(changed_on as varchar), ' ', chip_id) as change,
    changed_on,
    cause,
    claimed_cause,
    effect,
    effect_usd_per_million_tokens,
    before_usd_per_million_tokens,
    after_usd_per_million_tokens,
    change_usd_per_million_tokens,
    percent,
    before_usd_per_gpu_hour,
    after_usd_per_gpu_hour,
    before_throughput_tok_s_gpu,
    after_throughput_tok_s_gpu,
    evidence,
from effects
where effect_usd_per_million_tokens <> 0
order by changed_on desc, abs(change_usd_per_million_tokens) desc, change_id, effect
