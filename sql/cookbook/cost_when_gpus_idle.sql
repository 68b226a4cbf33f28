-- What does a million output tokens cost when GPUs idle?
-- Peak and utilised cost side by side, headline points on the price that the headline ranks on.
select
    headline.rank,
    utilised.chip_id,
    headline.precision,
    utilised.concurrency as concurrent_request_count,
    utilised.usd_per_gpu_hour,
    utilised.usd_per_million_tokens,
    utilised.utilisation as utilisation_share,
    utilised.usd_per_million_tokens_at_utilisation,
    utilised.null_reason,
from mart.headline as headline
inner join mart.cost_at_utilisation as utilised on headline.cost_id = utilised.cost_id
order by headline.rank nulls last, utilised.chip_id, headline.precision, utilised.utilisation desc
