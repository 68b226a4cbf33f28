-- What do the tokens of a model sell for today, and how old is each price?
-- On the last day that has any price; what is no longer listed, or too old to stand, is no price of today.
select
    date,
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
qualify date = max(date) over ()
order by model_id, provider_id, tier, token_kind
