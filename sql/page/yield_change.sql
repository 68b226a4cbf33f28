-- What makes more or fewer tokens than before, and what is known of the cause?
-- The 40 newest changes of output throughput over all GPUs, and every change of a speed that is no throughput.
with

changes as (
    select *
    from mart.yield_change
    where (token_kind = 'output' and gpu_scope = 'all') or metric = 'interactivity_tok_s_user'
),

ranked as (
    select
        *,
        row_number() over (
            partition by metric order by after_on desc, abs(percent) desc, change_id
        ) as newness,
    from changes
)

select
    chip_id,
    model_id,
    metric,
    before_value as before_tok_s,
    after_value as after_tok_s,
    percent,
    conditional_cost_percent,
    kept_sessions_share_for_cheaper,
    cause,
    claimed_cause,
    beyond_noise,
    noise_spread_percent,
    withdrawn,
    null_reason,
    evidence,
    before_on,
    after_on,
    date_precision,
    line_id,
    note,
from ranked
where newness <= 40 or metric = 'interactivity_tok_s_user'
order by after_on desc, abs(percent) desc, change_id
