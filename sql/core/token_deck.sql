-- A price deck while it holds: what one tier of a provider asks for each kind of a model's tokens; one row per
-- provider, model, tier and stretch of days without a change.
-- grain: provider_id, model_id, tier, valid_from
-- column: input_usd_per_million_tokens | uncached input; null: not listed, or in contradiction
-- column: cached_input_usd_per_million_tokens | input read from a cache; null likewise
-- column: output_usd_per_million_tokens | output; null likewise
-- column: valid_from | first day of the stretch
-- column: valid_to | first day after it; null: it holds on the day of the run
-- check: valid_to is null or valid_to > valid_from
with

prices as (
    select * from core.token_price_day
),

run as (
    select cast(as_of at time zone 'UTC' as date) as today
    from core.run
),

decks as (
    select
        date,
        provider_id,
        model_id,
        tier,
        source,
        min(case when passes_on then 1 else 0 end) = 1 as passes_on,
        max(case when token_kind = 'input' then usd_per_million_tokens end) as input_usd_per_million_tokens,
        max(case when token_kind = 'cached_input' then usd_per_million_tokens end)
            as cached_input_usd_per_million_tokens,
        max(case when token_kind = 'output' then usd_per_million_tokens end) as output_usd_per_million_tokens,
    from prices
    group by date, provider_id, model_id, tier, source
),

-- Days in a row with one deck differ from their rank among its days by the same number.
numbered as (
    select
        *,
        date - cast(
            row_number() over (
                partition by
                    provider_id,
                    model_id,
                    tier,
                    source,
                    passes_on,
                    input_usd_per_million_tokens,
                    cached_input_usd_per_million_tokens,
                    output_usd_per_million_tokens
                order by date
            ) as integer
        ) as stretch,
    from decks
),

stretches as (
    select
        provider_id,
        model_id,
        tier,
        source,
        passes_on,
        input_usd_per_million_tokens,
        cached_input_usd_per_million_tokens,
        output_usd_per_million_tokens,
        min(date) as valid_from,
        max(date) as last_date,
    from numbered
    group by
        provider_id,
        model_id,
        tier,
        source,
        passes_on,
        input_usd_per_million_tokens,
        cached_input_usd_per_million_tokens,
        output_usd_per_million_tokens,
        stretch
)

select
    stretches.provider_id,
    stretches.model_id,
    stretches.tier,
    stretches.source,
    stretches.passes_on,
    stretches.input_usd_per_million_tokens,
    stretches.cached_input_usd_per_million_tokens,
    stretches.output_usd_per_million_tokens,
    stretches.valid_from,
    case when stretches.last_date < run.today then stretches.last_date + 1 end as valid_to,
from stretches
cross join run
