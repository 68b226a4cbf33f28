-- What a provider asked for a million tokens of a model on a day; one row per UTC day, provider, model, tier and
-- kind of token. Carried from the last look for as long as its source's limit allows; all kinds of a tier come
-- from one source.
-- grain: date, provider_id, model_id, tier, token_kind
-- column: date | UTC day
-- column: provider_id | who sells the tokens
-- column: model_id | the model
-- column: tier | which rate: standard, peak or off_peak
-- column: token_kind | input (uncached), cached_input or output
-- column: usd_per_million_tokens | price in US dollars, DECIMAL(18,6); null: see null_reason
-- column: null_reason | conflicting_prices: the source lists different ones at once
-- column: effective_from | day since when the source says that it holds
-- column: age_days | days since the look, or the stated day, that shows it
-- column: token_price_id | the price that stands
-- column: source | slug of the source
-- check: usd_per_million_tokens is null or usd_per_million_tokens >= 0
with

prices as (
    select * from core.token_price_day
)

select
    date,
    provider_id,
    model_id,
    tier,
    token_kind,
    usd_per_million_tokens,
    null_reason,
    effective_on as effective_from,
    age_days,
    token_price_id,
    source,
from prices
