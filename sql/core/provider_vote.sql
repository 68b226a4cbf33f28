-- What a provider's own prices of a day vote for, before any history is asked; one row per provider, chip,
-- price type, commitment and UTC day. A provider votes with its lowest full-node quote in its reference
-- region; a marketplace with the median over hosts of each host's median machine, slices counted once.
-- Resellers, aggregators, typed facts and statistics never vote.
-- grain: provider_id, chip_id, price_type, commitment_months, voted_on
-- column: usd_per_gpu_hour | the vote, DOUBLE, rounded to 6 decimals where it is a median
-- column: fx_usd_per_unit | US dollars that one unit of `currency` was worth; both null: its asks are in several
-- column: held_out | why it does not count: too_few_machines or too_few_hosts; null: it counts
-- column: partial_node | no full node is offered
-- column: listed_only | the source says nothing of stock
-- column: quote_id | the quote behind it; null for a median
-- check: usd_per_gpu_hour > 0
with

prices as (
    select * from core.provider_price where not is_seed
),

machines as (
    select * from core.market_machine
),

providers as (
    select * from raw.provider where segment is not null
),

parameters as (
    select
        max(case when parameter = 'marketplace_min_machines' then value end) as min_machines,
        max(case when parameter = 'marketplace_min_hosts' then value end) as min_hosts,
    from raw.method_parameter
    where method = 'index' and version = 'v1'
),

firm_votes as (
    select
        prices.provider_id,
        providers.segment,
        prices.chip_id,
        prices.price_type,
        prices.commitment_months,
        prices.priced_on as voted_on,
        cast(prices.usd_per_gpu_hour as double) as usd_per_gpu_hour,
        prices.currency,
        prices.fx_usd_per_unit,
        cast(null as varchar) as held_out,
        prices.partial_node,
        prices.availability = 'listed' as listed_only,
        prices.quote_id,
        prices.source,
        prices.source_rank,
        prices.observed_at,
    from prices
    inner join providers on prices.provider_id = providers.provider_id
    where providers.provider_class in ('hyperscaler', 'neocloud')
),

hosts as (
    select
        source,
        source_rank,
        provider_id,
        chip_id,
        price_type,
        commitment_months,
        priced_on,
        host_key,
        median(cast(usd_per_gpu_hour as double)) as host_usd_per_gpu_hour,
        case when min(currency) = max(currency) then min(currency) end as currency,
        case when min(fx_usd_per_unit) = max(fx_usd_per_unit) then min(fx_usd_per_unit) end as fx_usd_per_unit,
        count(machine_key) as machine_count,
        max(looked_at) as observed_at,
        max(case when availability = 'available' then 0 else 1 end) = 1 as listed_only,
    from machines
    group by source, source_rank, provider_id, chip_id, price_type, commitment_months, priced_on, host_key
),

market_votes as (
    select
        hosts.provider_id,
        providers.segment,
        hosts.chip_id,
        hosts.price_type,
        hosts.commitment_months,
        hosts.priced_on as voted_on,
        round(median(hosts.host_usd_per_gpu_hour), 6) as usd_per_gpu_hour,
        case
            when count(hosts.currency) = count(*) and min(hosts.currency) = max(hosts.currency) then min(hosts.currency)
        end as currency,
        case
            when count(hosts.fx_usd_per_unit) = count(*) and min(hosts.fx_usd_per_unit) = max(hosts.fx_usd_per_unit)
                then min(hosts.fx_usd_per_unit)
        end as fx_usd_per_unit,
        case
            when sum(hosts.machine_count) < max(parameters.min_machines) then 'too_few_machines'
            when count(hosts.host_key) < max(parameters.min_hosts) then 'too_few_hosts'
        end as held_out,
        false as partial_node,
        max(case when hosts.listed_only then 1 else 0 end) = 1 as listed_only,
        cast(null as varchar) as quote_id,
        hosts.source,
        hosts.source_rank,
        max(hosts.observed_at) as observed_at,
    from hosts
    inner join providers on hosts.provider_id = providers.provider_id
    cross join parameters
    group by
        hosts.provider_id,
        providers.segment,
        hosts.chip_id,
        hosts.price_type,
        hosts.commitment_months,
        hosts.priced_on,
        hosts.source,
        hosts.source_rank
),

all_votes as (
    select * from firm_votes
    union all
    select * from market_votes
)

select
    provider_id,
    segment,
    chip_id,
    price_type,
    commitment_months,
    usd_per_gpu_hour,
    currency,
    fx_usd_per_unit,
    held_out,
    partial_node,
    listed_only,
    quote_id,
    source,
    voted_on,
    observed_at,
from all_votes
where price_type in ('on_demand', 'spot', 'reserved')
-- Two sources of one provider on one day: the better-ranked one is the provider's word.
qualify row_number() over (
    partition by provider_id, chip_id, price_type, commitment_months, voted_on
    order by source_rank, usd_per_gpu_hour, source
) = 1
