-- What rent does a claimed cost per million tokens imply?
-- 0.002 $ per million at more than a million tokens per second per GPU: at least this much per GPU-hour.
select
    cost.subject,
    cost.value as claimed_usd_per_million_tokens,
    throughput.value as claimed_tok_s_gpu_at_least,
    cost.value * throughput.value * 3600 / 1e6 as implied_usd_per_gpu_hour_at_least,
    cost.source,
    cost.note,
from mart.stated_value as cost
inner join mart.stated_value as throughput on cost.subject = throughput.subject
where cost.metric = 'cost_per_million_tokens' and throughput.metric = 'throughput_per_gpu_above'
