-- What a provider asked for a million tokens of a model on a day; one row per UTC day, provider, model, tier and
-- kind of token. All kinds of a tier come from one source, the best-ranked that shows any of them that day, so
-- that no deck is pieced together. A typed price holds until the next one, a fetched one until it is no longer
-- listed, both no longer than their source's limit.
-- grain: date, provider_id, model_id, tier, token_kind
-- column: usd_per_million_tokens | DECIMAL(18,6); null: the source lists different prices at once
-- column: null_reason | conflicting_prices
-- column: token_price_id | the price that stands; of equal ones the first id
-- column: effective_on | day since when the source says that it holds
-- column: priced_on | day of the look that shows it
-- check: (usd_per_million_tokens is null) = (null_reason is not null)
-- check: age_days >= 0
with

prices as (
    select
        prices.*,
        cast(prices.effective_from at time zone 'UTC' as date) as effective_on,
        sources.is_seed,
        sources.max_age_days,
    from core.known_token_price as prices
    inner join raw.source as sources on prices.source = sources.source
),

sightings as (
    select
        *,
        cast(observed_at at time zone 'UTC' as date) as seen_on,
    from core.known_sighting
),

run as (
    select cast(as_of at time zone 'UTC' as date) as today
    from core.run
),

source_days as (
    select
        source,
        slice,
        seen_on,
        max(observed_at) as last_look_at,
        lead(seen_on) over (partition by source, slice order by seen_on) as next_seen_on,
    from sightings
    group by source, slice, seen_on
),

-- What the last look of a day no longer lists is gone. A price announced for later counts from that day, as the
-- last look before it says.
shown as (
    select
        prices.*,
        sightings.observed_at as looked_at,
        greatest(sightings.seen_on, prices.effective_on) as priced_on,
        source_days.next_seen_on as next_look_on,
    from prices
    inner join sightings
        on prices.source = sightings.source
        and prices.snapshot_id = sightings.snapshot_id
    inner join source_days
        on sightings.source = source_days.source
        and sightings.slice = source_days.slice
        and sightings.seen_on = source_days.seen_on
        and sightings.observed_at = source_days.last_look_at
    where not prices.is_seed
        and (source_days.next_seen_on is null or source_days.next_seen_on > prices.effective_on)

    union all

    select
        prices.*,
        prices.known_at as looked_at,
        prices.effective_on as priced_on,
        cast(null as date) as next_look_on,
    from prices
    where prices.is_seed
),

-- A later statement of the same day is a correction.
latest as (
    select *
    from shown
    qualify looked_at = max(looked_at) over (
        partition by source, provider_id, model_id, tier, token_kind, priced_on
    )
),

observations as (
    select
        source,
        provider_id,
        model_id,
        tier,
        token_kind,
        priced_on,
        case when min(usd_per_million_tokens) = max(usd_per_million_tokens) then min(usd_per_million_tokens) end
            as usd_per_million_tokens,
        min(token_price_id) as token_price_id,
        min(effective_on) as effective_on,
        min(next_look_on) as next_look_on,
        min(source_rank) as source_rank,
        min(max_age_days) as max_age_days,
        min(case when passes_on then 1 else 0 end) = 1 as passes_on,
    from latest
    group by source, provider_id, model_id, tier, token_kind, priced_on
),

followed as (
    select
        *,
        lead(priced_on) over (
            partition by source, provider_id, model_id, tier, token_kind
            order by priced_on
        ) as next_priced_on,
    from observations
),

days as (
    select
        followed.*,
        cast(
            unnest(
                generate_series(
                    followed.priced_on,
                    least(
                        run.today,
                        followed.priced_on + cast(followed.max_age_days as integer),
                        coalesce(followed.next_priced_on - 1, run.today),
                        coalesce(followed.next_look_on - 1, run.today)
                    ),
                    interval 1 day
                )
            ) as date
        ) as date,
    from followed
    cross join run
),

newest_looks as (
    select
        date,
        provider_id,
        model_id,
        tier,
        source,
        source_rank,
        max(priced_on) as last_priced_on,
    from days
    group by date, provider_id, model_id, tier, source, source_rank
),

standing as (
    select *
    from newest_looks
    qualify row_number() over (
        partition by date, provider_id, model_id, tier
        order by source_rank, last_priced_on desc, source
    ) = 1
)

select
    days.date,
    days.provider_id,
    days.model_id,
    days.tier,
    days.token_kind,
    days.usd_per_million_tokens,
    case when days.usd_per_million_tokens is null then 'conflicting_prices' end as null_reason,
    days.token_price_id,
    days.source,
    days.passes_on,
    days.effective_on,
    days.priced_on,
    date_diff('day', days.priced_on, days.date) as age_days,
from days
inner join standing
    on days.date = standing.date
    and days.provider_id = standing.provider_id
    and days.model_id = standing.model_id
    and days.tier = standing.tier
    and days.source = standing.source
