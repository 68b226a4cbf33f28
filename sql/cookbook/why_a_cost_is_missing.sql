-- Why do points have no cost, and how many are they?
select
    null_reason,
    gpu_scope,
    token_kind,
    count(distinct benchmark_point_id) as point_count,
    count(*) as row_count,
from mart.cost_per_million_tokens
where usd_per_million_tokens is null
group by null_reason, gpu_scope, token_kind
order by row_count desc, null_reason, gpu_scope, token_kind
