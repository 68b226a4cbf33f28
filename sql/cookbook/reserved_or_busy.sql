-- What did the tokens cost: of all GPU-hours reserved, or of the busy ones alone?
-- Two answers to two questions; neither is the other rounded.
select
    description,
    gpu_count,
    reserved_hours,
    busy_hours,
    million_tokens,
    usd_per_gpu_hour,
    allocation_usd_per_million_tokens,
    usage_usd_per_million_tokens,
    idle_usd,
    value_class,
    source,
from mart.serving_account_cost
order by serving_account_id
