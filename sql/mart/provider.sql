-- Who rents chips out or sells tokens; one row per provider.
-- grain: provider_id
-- column: provider_id | key
-- column: provider_name | name for people
-- column: provider_class | hyperscaler, neocloud, marketplace, reseller, aggregator or model_developer
-- column: segment | segment of the rental index: specialist or hyperscaler; null: never votes
-- column: reference_region | the region whose prices stand for the provider; null: one price everywhere
-- column: homepage | its site
with

providers as (
    select * from raw.provider
)

select
    provider_id,
    provider_name,
    provider_class,
    segment,
    reference_region,
    homepage,
from providers
