-- What do the tokens of a model sell for today, and how old is each price?
select
    model_id,
    provider_id,
    tier,
    token_kind,
    usd_per_million_tokens,
    effective_from,
    age_days,
    null_reason,
    source,
from mart.token_price_daily
qualify date = max(date) over (partition by provider_id, model_id, tier, token_kind)
order by model_id, provider_id, tier, token_kind
