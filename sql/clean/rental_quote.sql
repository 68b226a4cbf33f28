-- One quote as a source listed it, in US dollars per GPU-hour, with what is wrong with it; one row per raw row.
-- grain: source, snapshot_id, row_number
-- column: price_usd_per_gpu_hour | DECIMAL(18,6), rounded once from the stated amount; null: see reject_reason
-- column: fx_usd_per_unit | US dollars for one unit of `currency` on the day of the look; 1 for US dollars; null: no rate within seven days
-- column: fx_rate_on | day of that rate
-- column: full_node | the quote rents a whole node of the chip, or is a price per GPU whatever the machine
-- column: observed_at | when the source showed the price
-- column: effective_from | since when the source says it holds; the observation where it does not say
-- column: known_at | when the world could know it
-- column: reject_reason | why the quote is not accepted; null: accepted
-- check: reject_reason is not null or price_usd_per_gpu_hour > 0
-- check: reject_reason is not null or chip_id is null or provider_id is not null
with

quotes as (
    select * from raw.rental_quote
),

snapshots as (
    select * from clean.snapshot
),

names as (
    select * from clean.resolved_name
),

chips as (
    select * from raw.chip
),

bands as (
    select * from raw.price_band
),

component_rule as (
    select value as share
    from raw.method_parameter
    where method = 'price' and version = 'v1' and parameter = 'component_missing_share'
),

rates as (
    select * from clean.fx_day
),

-- The unit is declared by the source; a unit that lacks its divisor has no price per GPU-hour. A price in
-- another currency is worth what that currency was worth on the day of the look.
per_gpu_hour as (
    select
        quotes.source,
        quotes.snapshot_id,
        quotes.row_number,
        case when quotes.currency = 'USD' then 1 else rates.usd_per_unit end as fx_usd_per_unit,
        rates.rate_on as fx_rate_on,
        case
            when quotes.price_unit = 'gpu_hour' then quotes.price
            when quotes.price_unit = 'instance_hour' then quotes.price / quotes.gpu_count
            when quotes.price_unit in ('term_total', 'instance_month')
                then quotes.price / quotes.term_hours / quotes.gpu_count
        end * case when quotes.currency = 'USD' then 1 else rates.usd_per_unit end as usd,
    from quotes
    left join rates
        on quotes.currency = rates.currency
        and cast(quotes.observed_at at time zone 'UTC' as date) >= rates.rate_on
        and cast(quotes.observed_at at time zone 'UTC' as date) < rates.holds_to
),

resolved as (
    select
        quotes.source,
        quotes.snapshot_id,
        quotes.row_number,
        provider_names.canonical_id as provider_id,
        chip_names.canonical_id as chip_id,
        quotes.offer_key,
        quotes.raw_gpu_name,
        quotes.product_name,
        quotes.gpu_count,
        quotes.price,
        quotes.currency,
        quotes.price_unit,
        quotes.term_hours,
        per_gpu_hour.fx_usd_per_unit,
        per_gpu_hour.fx_rate_on,
        cast(round(per_gpu_hour.usd, 6) as decimal(18, 6)) as price_usd_per_gpu_hour,
        quotes.price_type,
        quotes.commitment_months,
        quotes.region,
        quotes.availability,
        quotes.listing_kind,
        quotes.derivation,
        quotes.machine_key,
        quotes.host_key,
        coalesce(quotes.price_unit = 'gpu_hour' or quotes.gpu_count >= chips.node_gpu_count, false) as full_node,
        quotes.date_precision,
        quotes.url,
        quotes.note,
        quotes.observed_at,
        coalesce(quotes.effective_from, quotes.observed_at) as effective_from,
        coalesce(quotes.known_at, snapshots.observed_at) as known_at,
        chips.memory_gb_low,
        chips.memory_gb_high,
        quotes.raw_memory_gb,
        snapshots.status as payload_status,
    from quotes
    inner join per_gpu_hour
        on quotes.source = per_gpu_hour.source
        and quotes.snapshot_id = per_gpu_hour.snapshot_id
        and quotes.row_number = per_gpu_hour.row_number
    inner join snapshots
        on quotes.source = snapshots.source
        and quotes.snapshot_id = snapshots.snapshot_id
    left join names as chip_names
        on chip_names.domain = 'chip'
        and quotes.source = chip_names.source
        and quotes.raw_gpu_name = chip_names.raw_name
        and quotes.raw_memory_gb is not distinct from chip_names.memory_gb
    left join names as provider_names
        on provider_names.domain = 'provider'
        and quotes.source = provider_names.source
        and quotes.provider = provider_names.raw_name
    left join chips on chip_names.canonical_id = chips.chip_id
),

-- A whole machine for less than half of what its siblings cost lacks its GPU component. Spot is left
-- out: it truly differs between regions; so are the hosts of a marketplace, who set their own prices. The
-- median is by hand because Spark has no quantile_cont.
ranked as (
    select
        *,
        row_number() over (
            partition by source, snapshot_id, provider_id, chip_id, price_type, commitment_months
            order by price_usd_per_gpu_hour, row_number
        ) as price_rank,
        count(*) over (
            partition by source, snapshot_id, provider_id, chip_id, price_type, commitment_months
        ) as sibling_count,
    from resolved
    where chip_id is not null
        and price_usd_per_gpu_hour is not null
        and price_type in ('on_demand', 'reserved')
        and machine_key is null
        and host_key is null
),

medians as (
    select
        source,
        snapshot_id,
        provider_id,
        chip_id,
        price_type,
        coalesce(commitment_months, 0) as commitment_months,
        avg(cast(price_usd_per_gpu_hour as double)) as median_usd,
    from ranked
    where price_rank between sibling_count / 2.0 and sibling_count / 2.0 + 1
    group by source, snapshot_id, provider_id, chip_id, price_type, coalesce(commitment_months, 0)
),

machine_prices as (
    select
        source,
        snapshot_id,
        row_number,
        provider_id,
        chip_id,
        coalesce(region, '-') as region,
        price_type,
        coalesce(commitment_months, 0) as commitment_months,
        gpu_count,
        cast(price_usd_per_gpu_hour as double) * gpu_count as instance_usd,
    from ranked
    where price_unit <> 'gpu_hour'
),

-- A machine that lacks its GPU on demand lacks it in every price type of that offer and region.
gpuless_offers as (
    select distinct
        ranked.source,
        ranked.snapshot_id,
        ranked.provider_id,
        ranked.offer_key,
        coalesce(ranked.region, '-') as region,
    from ranked
    inner join medians
        on ranked.source = medians.source
        and ranked.snapshot_id = medians.snapshot_id
        and ranked.provider_id = medians.provider_id
        and ranked.chip_id = medians.chip_id
        and ranked.price_type = medians.price_type
        and coalesce(ranked.commitment_months, 0) = medians.commitment_months
    cross join component_rule
    where ranked.price_usd_per_gpu_hour < component_rule.share * medians.median_usd
),

-- More GPUs of one product line never rent for the same or for less: then the amount was per GPU, or a part of
-- the machine is missing.
bigger_than_sibling as (
    select
        bigger.source,
        bigger.snapshot_id,
        bigger.row_number,
        max(case when bigger.instance_usd > smaller.instance_usd * 0.999 then 1 else 0 end) = 1 as same_price,
    from machine_prices as bigger
    inner join machine_prices as smaller
        on bigger.source = smaller.source
        and bigger.snapshot_id = smaller.snapshot_id
        and bigger.provider_id = smaller.provider_id
        and bigger.chip_id = smaller.chip_id
        and bigger.region = smaller.region
        and bigger.price_type = smaller.price_type
        and bigger.commitment_months = smaller.commitment_months
        and bigger.gpu_count > smaller.gpu_count
        and bigger.instance_usd <= smaller.instance_usd * 1.001
    group by bigger.source, bigger.snapshot_id, bigger.row_number
),

-- A commitment at the price of on-demand is a term that is not sold, filled in by somebody.
on_demand_prices as (
    select
        source,
        snapshot_id,
        provider_id,
        offer_key,
        coalesce(region, '-') as region,
        min(price_usd_per_gpu_hour) as low_usd_per_gpu_hour,
        max(price_usd_per_gpu_hour) as high_usd_per_gpu_hour,
    from resolved
    where price_type = 'on_demand'
    group by source, snapshot_id, provider_id, offer_key, coalesce(region, '-')
)

select
    resolved.source,
    resolved.snapshot_id,
    resolved.row_number,
    resolved.provider_id,
    resolved.chip_id,
    resolved.offer_key,
    resolved.raw_gpu_name,
    resolved.product_name,
    resolved.region,
    resolved.price_type,
    resolved.commitment_months,
    resolved.availability,
    resolved.listing_kind,
    resolved.derivation,
    resolved.machine_key,
    resolved.host_key,
    resolved.full_node,
    resolved.gpu_count,
    resolved.price,
    resolved.currency,
    resolved.price_unit,
    resolved.term_hours,
    resolved.fx_usd_per_unit,
    resolved.fx_rate_on,
    resolved.price_usd_per_gpu_hour,
    case
        when resolved.payload_status = 'anomalous' then 'payload_anomalous'
        when resolved.fx_usd_per_unit is null then 'fx_stale'
        when resolved.listing_kind = 'component' then 'component'
        when resolved.derivation = 'derived_from_token_price' then 'derived_from_token_price'
        when resolved.price_unit <> 'gpu_hour' and resolved.gpu_count is null then 'unknown_gpu_count'
        when resolved.price_unit in ('term_total', 'instance_month') and resolved.term_hours is null
            then 'unknown_term'
        when resolved.gpu_count <> floor(resolved.gpu_count) then 'fractional'
        when resolved.price_usd_per_gpu_hour = 0 then 'rounds_to_zero'
        when resolved.raw_memory_gb < resolved.memory_gb_low or resolved.raw_memory_gb > resolved.memory_gb_high
            then 'memory_contradicts_chip'
        when resolved.price_usd_per_gpu_hour < bands.low_usd_per_gpu_hour
            or resolved.price_usd_per_gpu_hour > bands.high_usd_per_gpu_hour
            then 'outside_plausible_band'
        when bigger_than_sibling.same_price then 'price_does_not_scale'
        when gpuless_offers.offer_key is not null then 'component_missing'
        when bigger_than_sibling.row_number is not null then 'costs_less_than_fewer_gpus'
        -- One in a hundred thousand: the same amount by the month and by the hour, rounded on the way.
        when resolved.price_type = 'reserved'
            and resolved.price_usd_per_gpu_hour >= on_demand_prices.low_usd_per_gpu_hour * 0.99999
            and resolved.price_usd_per_gpu_hour <= on_demand_prices.high_usd_per_gpu_hour * 1.00001
            then 'not_offered'
    end as reject_reason,
    resolved.date_precision,
    resolved.url,
    resolved.note,
    resolved.observed_at,
    resolved.effective_from,
    resolved.known_at,
from resolved
left join bands
    on resolved.chip_id = bands.chip_id
    and (bands.price_type = resolved.price_type or bands.price_type = '*')
left join gpuless_offers
    on resolved.source = gpuless_offers.source
    and resolved.snapshot_id = gpuless_offers.snapshot_id
    and resolved.provider_id = gpuless_offers.provider_id
    and resolved.offer_key = gpuless_offers.offer_key
    and coalesce(resolved.region, '-') = gpuless_offers.region
left join bigger_than_sibling
    on resolved.source = bigger_than_sibling.source
    and resolved.snapshot_id = bigger_than_sibling.snapshot_id
    and resolved.row_number = bigger_than_sibling.row_number
left join on_demand_prices
    on resolved.source = on_demand_prices.source
    and resolved.snapshot_id = on_demand_prices.snapshot_id
    and resolved.provider_id = on_demand_prices.provider_id
    and resolved.offer_key = on_demand_prices.offer_key
    and coalesce(resolved.region, '-') = on_demand_prices.region
qualify row_number() over (
    partition by resolved.source, resolved.snapshot_id, resolved.row_number
    order by bands.price_type desc nulls last
) = 1
