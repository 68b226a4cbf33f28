-- One quote as a source listed it, in US dollars per GPU-hour, with what is wrong with it; one row per raw row.
-- grain: source, snapshot_id, row_number
-- column: price_usd_per_gpu_hour | DECIMAL(18,6), rounded once from the stated amount; null: see reject_reason
-- column: gpu_hours | GPU-hours that one price_unit buys; null: not known
-- column: fx_usd_per_unit | US dollars for one unit of `currency` on the day of the look; 1 for US dollars; null: no rate within seven days
-- column: fx_rate_on | day of that rate
-- column: fx_recorded_at | moment that it was stored; the price was not known to us before
-- column: full_node | the quote rents a whole node of the chip, or is a price per GPU whatever the machine
-- column: observed_at | when the source showed the price
-- column: effective_from | since when the source says it holds; the observation where it does not say
-- column: reject_reason | why the quote is not accepted; null: accepted
-- check: reject_reason is not null or price_usd_per_gpu_hour > 0
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

rules as (
    select
        max(case when parameter = 'component_missing_share' then value end) as component_missing_share,
        max(case when parameter = 'max_usd_without_band' then value end) as max_usd_without_band,
    from raw.method_parameter
    where method = 'price' and version = 'v1'
),

-- The newest rate of the seven days up to the look that was stored by the time the quote was; a quote that was
-- stored before any such rate is priced when the first one comes. A rate stored later changes no recorded price.
rates as (
    select
        quotes.source,
        quotes.snapshot_id,
        quotes.row_number,
        fx_days.usd_per_unit,
        fx_days.rate_on,
        fx_days.recorded_at,
    from quotes
    inner join snapshots
        on quotes.source = snapshots.source
        and quotes.snapshot_id = snapshots.snapshot_id
    inner join clean.fx_day as fx_days
        on quotes.currency = fx_days.currency
        and cast(quotes.observed_at at time zone 'UTC' as date) >= fx_days.rate_on
        and cast(quotes.observed_at at time zone 'UTC' as date) < fx_days.rate_on + 8
    qualify row_number() over (
        partition by quotes.source, quotes.snapshot_id, quotes.row_number
        order by
            case when fx_days.recorded_at <= snapshots.recorded_at then 0 else 1 end,
            case when fx_days.recorded_at <= snapshots.recorded_at then null else fx_days.recorded_at end,
            fx_days.rate_on desc
    ) = 1
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
        rates.recorded_at as fx_recorded_at,
        case
            when quotes.price_unit = 'gpu_hour' then 1
            when quotes.price_unit = 'instance_hour' then quotes.gpu_count
            when quotes.price_unit in ('term_total', 'instance_month') then quotes.term_hours * quotes.gpu_count
        end as gpu_hours,
    from quotes
    left join rates
        on quotes.source = rates.source
        and quotes.snapshot_id = rates.snapshot_id
        and quotes.row_number = rates.row_number
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
        per_gpu_hour.gpu_hours,
        per_gpu_hour.fx_usd_per_unit,
        per_gpu_hour.fx_rate_on,
        per_gpu_hour.fx_recorded_at,
        cast(round(quotes.price / per_gpu_hour.gpu_hours * per_gpu_hour.fx_usd_per_unit, 6) as decimal(18, 6))
            as price_usd_per_gpu_hour,
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
        chips.node_gpu_count,
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
        ranked.chip_id,
        ranked.offer_key,
        ranked.gpu_count,
        coalesce(ranked.region, '-') as region,
    from ranked
    inner join medians
        on ranked.source = medians.source
        and ranked.snapshot_id = medians.snapshot_id
        and ranked.provider_id = medians.provider_id
        and ranked.chip_id = medians.chip_id
        and ranked.price_type = medians.price_type
        and coalesce(ranked.commitment_months, 0) = medians.commitment_months
    cross join rules
    where ranked.price_usd_per_gpu_hour < rules.component_missing_share * medians.median_usd
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

-- One key at two prices is known at neither: no first wins, no lower wins.
conflicts as (
    select
        source,
        snapshot_id,
        provider_id,
        offer_key,
        raw_gpu_name,
        coalesce(product_name, '-') as product_name,
        coalesce(gpu_count, 0) as gpu_count,
        coalesce(raw_memory_gb, 0) as raw_memory_gb,
        coalesce(region, '-') as region,
        price_type,
        coalesce(commitment_months, 0) as commitment_months,
        price_unit,
        currency,
        availability,
        coalesce(cast(effective_from as varchar), '-') as effective_from,
    from resolved
    where listing_kind = 'bundle'
        and machine_key is null
        and host_key is null
        and derivation is null
    group by all
    having min(price) < max(price)
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
    resolved.gpu_hours,
    resolved.fx_usd_per_unit,
    resolved.fx_rate_on,
    resolved.fx_recorded_at,
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
        -- More GPUs than a node come in whole nodes; another count was derived and not read.
        when resolved.node_gpu_count >= 8
            and resolved.gpu_count > resolved.node_gpu_count
            and resolved.gpu_count % resolved.node_gpu_count <> 0
            then 'implausible_gpu_count'
        when resolved.price_usd_per_gpu_hour = 0 then 'rounds_to_zero'
        when resolved.raw_memory_gb < resolved.memory_gb_low or resolved.raw_memory_gb > resolved.memory_gb_high
            then 'memory_contradicts_chip'
        when resolved.price_usd_per_gpu_hour < bands.low_usd_per_gpu_hour
            or resolved.price_usd_per_gpu_hour > coalesce(bands.high_usd_per_gpu_hour, rules.max_usd_without_band)
            then 'outside_plausible_band'
        when conflicts.source is not null then 'conflicting_duplicates'
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
cross join rules
left join bands
    on resolved.chip_id = bands.chip_id
    and (bands.price_type = resolved.price_type or bands.price_type = '*')
left join gpuless_offers
    on resolved.source = gpuless_offers.source
    and resolved.snapshot_id = gpuless_offers.snapshot_id
    and resolved.provider_id = gpuless_offers.provider_id
    and resolved.chip_id = gpuless_offers.chip_id
    and resolved.offer_key = gpuless_offers.offer_key
    and resolved.gpu_count is not distinct from gpuless_offers.gpu_count
    and coalesce(resolved.region, '-') = gpuless_offers.region
left join bigger_than_sibling
    on resolved.source = bigger_than_sibling.source
    and resolved.snapshot_id = bigger_than_sibling.snapshot_id
    and resolved.row_number = bigger_than_sibling.row_number
left join conflicts
    on resolved.listing_kind = 'bundle'
    and resolved.machine_key is null
    and resolved.host_key is null
    and resolved.derivation is null
    and resolved.source = conflicts.source
    and resolved.snapshot_id = conflicts.snapshot_id
    and resolved.provider_id = conflicts.provider_id
    and resolved.offer_key = conflicts.offer_key
    and resolved.raw_gpu_name = conflicts.raw_gpu_name
    and coalesce(resolved.product_name, '-') = conflicts.product_name
    and coalesce(resolved.gpu_count, 0) = conflicts.gpu_count
    and coalesce(resolved.raw_memory_gb, 0) = conflicts.raw_memory_gb
    and coalesce(resolved.region, '-') = conflicts.region
    and resolved.price_type = conflicts.price_type
    and coalesce(resolved.commitment_months, 0) = conflicts.commitment_months
    and resolved.price_unit = conflicts.price_unit
    and resolved.currency = conflicts.currency
    and resolved.availability = conflicts.availability
    and coalesce(cast(resolved.effective_from as varchar), '-') = conflicts.effective_from
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
