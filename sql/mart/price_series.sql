-- One price series that costs are computed on, with what it covers; one row per series.
-- grain: price_series_id
-- column: price_series_id | key, e.g. index:savrn_ai_index:on_demand or provider:gcp:reserved:36m
-- column: title | name for people
-- column: price_basis | published_index, owning_cost_model, rent_model, own_contract or provider_price
-- column: price_type | on_demand, spot, reserved, owning_cost, ...; never blended
-- column: commitment_months | months of commitment of a reserved price
-- column: provider_id | provider of a provider_price series
-- column: segment | specialist or hyperscaler, where the series describes one
-- column: headline_order | order beside the headline; null: not shown there
-- column: max_age_days | days that a published value holds after its date; null: until superseded, or the source's own limit
-- column: passes_on | whether its values may be published
-- column: source | method and publisher
-- column: chip_count | chips that it has ever priced
-- column: observation_count | prices observed
-- column: first_priced_on | day of its first price
-- column: last_priced_on | day of its latest price
with

series as (
    select * from core.price_series
),

intervals as (
    select * from core.price_interval
),

covered as (
    select
        price_series_id,
        count(distinct chip_id) as chip_count,
        count(*) as observation_count,
        min(priced_on) as first_priced_on,
        max(priced_on) as last_priced_on,
    from intervals
    group by price_series_id
)

select
    series.price_series_id,
    series.title,
    series.price_basis,
    series.price_type,
    series.commitment_months,
    series.provider_id,
    series.segment,
    series.headline_order,
    series.max_age_days,
    series.passes_on,
    series.source,
    coalesce(covered.chip_count, 0) as chip_count,
    coalesce(covered.observation_count, 0) as observation_count,
    covered.first_priced_on,
    covered.last_priced_on,
from series
left join covered on series.price_series_id = covered.price_series_id
