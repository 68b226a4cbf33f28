-- One price series that a cost can be computed on: our own index, a published one, a cost model's constants, or
-- a provider's own price of one price type; one row per series.
-- grain: price_series_id
-- column: price_series_id | key, e.g. index:savrn_ai_index:on_demand or provider:gcp:reserved:36m
-- column: price_basis | own_index, published_index, owning_cost_model, rent_model, own_contract or provider_price
-- column: headline_order | order beside the headline; null: not shown there. The published on-demand index steps back while our own is fresh
with

published as (
    select distinct
        index_name,
        price_type,
        commitment_months,
    from core.known_rental_index_value
),

series as (
    select * from raw.price_series
),

quoted as (
    select
        provider_id,
        price_type,
        commitment_months,
        min(case when passes_on then 1 else 0 end) = 1 as passes_on,
    from core.known_rental_quote
    -- A floor is where a price may begin and no price; a statistic of asks is no offer.
    where price_type not in ('from_floor', 'bid_floor')
        and derivation is null
    group by provider_id, price_type, commitment_months
),

providers as (
    select * from raw.provider
),

own_indices as (
    select
        index_id,
        price_type,
        commitment_months,
        segment,
        max(date) as last_date,
    from core.rental_index_daily
    where usd_per_gpu_hour is not null
    group by index_id, price_type, commitment_months, segment
),

-- The headline stands on our own on-demand index of the specialists while that is not older than its limit.
own_headline as (
    select count(*) > 0 as is_fresh
    from own_indices
    cross join core.run as run
    where own_indices.price_type = 'on_demand'
        and own_indices.segment = 'specialist'
        and date_diff('day', own_indices.last_date, cast(run.as_of at time zone 'UTC' as date)) <= 7
)

select
    'index:' || published.index_name || ':' || published.price_type
    || coalesce(':' || cast(published.commitment_months as varchar) || 'm', '') as price_series_id,
    series.title,
    series.price_basis,
    published.price_type,
    published.commitment_months,
    published.index_name,
    cast(null as varchar) as provider_id,
    series.segment,
    case
        when published.price_type = 'on_demand' and own_headline.is_fresh then null
        else series.headline_order
    end as headline_order,
    series.max_age_days,
    series.withdrawn_on,
    series.passes_on,
    series.source,
from published
inner join series on published.index_name = series.index_name
cross join own_headline

union all

select
    'index:' || own_indices.index_id as price_series_id,
    'tokenyield rental index v1, ' || replace(own_indices.price_type, '_', ' ')
    || coalesce(' for ' || cast(own_indices.commitment_months as varchar) || ' months', '')
    || ', ' || own_indices.segment || 's' as title,
    'own_index' as price_basis,
    own_indices.price_type,
    own_indices.commitment_months,
    own_indices.index_id as index_name,
    cast(null as varchar) as provider_id,
    own_indices.segment,
    case
        when own_indices.price_type = 'on_demand' and own_indices.segment = 'specialist' and own_headline.is_fresh
            then 0
    end as headline_order,
    7 as max_age_days,
    cast(null as date) as withdrawn_on,
    true as passes_on,
    'core.rental_index_daily, method index-v1' as source,
from own_indices
cross join own_headline

union all

select
    'provider:' || quoted.provider_id || ':' || quoted.price_type
    || coalesce(':' || cast(quoted.commitment_months as varchar) || 'm', '') as price_series_id,
    providers.provider_name || ', ' || replace(quoted.price_type, '_', ' ')
    || coalesce(' for ' || cast(quoted.commitment_months as varchar) || ' months', '') as title,
    'provider_price' as price_basis,
    quoted.price_type,
    quoted.commitment_months,
    cast(null as varchar) as index_name,
    quoted.provider_id,
    providers.segment,
    cast(null as bigint) as headline_order,
    cast(null as bigint) as max_age_days,
    cast(null as date) as withdrawn_on,
    quoted.passes_on,
    'lowest full-node quote in the reference region' as source,
from quoted
inner join providers on quoted.provider_id = providers.provider_id
