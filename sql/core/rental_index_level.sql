-- The rental index, method v1, over the votes of each segment and, as a diagnostic, over those of all segments
-- together, the blend; one row per UTC day, chip, price type, commitment and segment or blend. Each provider casts
-- three votes (price less, at and plus its sd) of a third of its weight; the index is the mean of the middle
-- third of the cumulative weight, votes at its edges counted by the part that lies inside. Below the minimum of
-- fresh votes there is no index and a reason. Composition is not movement: the change of the matched panel
-- compares the providers of both days alone.
-- grain: date, chip_id, price_type, commitment_months, segment
-- column: segment | specialist, hyperscaler, or blend: every vote counts twice in this table
-- column: is_diagnostic | the blend, which is no index: read rental_index_daily or rental_index_blend_daily
-- column: index_id | key of the series, e.g. tokenyield:on_demand:specialist
-- column: usd_per_gpu_hour | the index, rounded to 6 decimals; null: see null_reason
-- column: band_usd_per_gpu_hour | larger distance from the index to the first and third quartile of the votes
-- column: provider_count | fresh votes counted
-- column: matched_panel_change | index of the providers present on both days, today / the day before - 1
-- column: exchange_rate_change | part of it that is exchange rates: the same prices at today's rates / at those of the day before - 1; null where a currency is not known
-- column: null_reason | too_few_providers
-- check: (usd_per_gpu_hour is null) = (null_reason is not null)
-- check: is_diagnostic = (segment = 'blend')
with

all_votes as (
    select * from core.rental_vote
),

-- The blend weighs provider by provider, however many its segment has.
placed as (
    select
        date,
        chip_id,
        price_type,
        commitment_months,
        segment,
        false as is_diagnostic,
        provider_id,
        status,
        usd_per_gpu_hour,
        currency,
        fx_usd_per_unit,
        sd_usd_per_gpu_hour,
        weight,
    from all_votes

    union all

    select
        date,
        chip_id,
        price_type,
        commitment_months,
        'blend' as segment,
        true as is_diagnostic,
        provider_id,
        status,
        usd_per_gpu_hour,
        currency,
        fx_usd_per_unit,
        sd_usd_per_gpu_hour,
        case when weight is not null then provider_weight end as weight,
    from all_votes
),

votes as (
    select * from placed where weight is not null
),

parameters as (
    select max(case when parameter = 'min_providers' then value end) as min_providers,
    from raw.method_parameter
    where method = 'index' and version = 'v1'
),

-- The providers of a day and of the day before. A price of today at the rate of the day before is another one only
-- where both are of one currency; where that is not known, neither is what the rate did.
pairs as (
    select
        today.date,
        today.chip_id,
        today.price_type,
        today.commitment_months,
        today.segment,
        today.provider_id,
        today.usd_per_gpu_hour,
        today.sd_usd_per_gpu_hour,
        before.usd_per_gpu_hour as before_usd_per_gpu_hour,
        before.sd_usd_per_gpu_hour as before_sd_usd_per_gpu_hour,
        case when today.currency = before.currency then before.fx_usd_per_unit / today.fx_usd_per_unit end as rate_ratio,
        today.weight,
    from votes as today
    inner join votes as before
        on today.date = before.date + 1
        and today.chip_id = before.chip_id
        and today.price_type = before.price_type
        and today.commitment_months is not distinct from before.commitment_months
        and today.segment = before.segment
        and today.provider_id = before.provider_id
),

-- Four panels: everybody of the day; and, for movement alone, those of both days: today, today at the exchange rates
-- of the day before, and the day before.
panels as (
    select
        'day' as panel,
        date,
        chip_id,
        price_type,
        commitment_months,
        segment,
        provider_id,
        usd_per_gpu_hour,
        sd_usd_per_gpu_hour,
        weight,
    from votes

    union all

    select
        'matched_now' as panel,
        date,
        chip_id,
        price_type,
        commitment_months,
        segment,
        provider_id,
        usd_per_gpu_hour,
        sd_usd_per_gpu_hour,
        weight,
    from pairs

    union all

    select
        'matched_at_rates_before' as panel,
        date,
        chip_id,
        price_type,
        commitment_months,
        segment,
        provider_id,
        usd_per_gpu_hour * rate_ratio as usd_per_gpu_hour,
        sd_usd_per_gpu_hour * rate_ratio as sd_usd_per_gpu_hour,
        weight,
    from pairs

    union all

    select
        'matched_before' as panel,
        date,
        chip_id,
        price_type,
        commitment_months,
        segment,
        provider_id,
        before_usd_per_gpu_hour as usd_per_gpu_hour,
        before_sd_usd_per_gpu_hour as sd_usd_per_gpu_hour,
        weight,
    from pairs
),

offsets as (
    select unnest([-1, 0, 1]) as sds_off
),

cast_votes as (
    select
        panels.panel,
        panels.date,
        panels.chip_id,
        panels.price_type,
        panels.commitment_months,
        panels.segment,
        panels.provider_id,
        offsets.sds_off,
        panels.usd_per_gpu_hour + offsets.sds_off * panels.sd_usd_per_gpu_hour as usd,
        panels.weight / 3 as weight,
    from panels
    cross join offsets
),

spans as (
    select
        *,
        sum(weight) over (
            partition by panel, date, chip_id, price_type, commitment_months, segment
            order by usd, provider_id, sds_off
            rows between unbounded preceding and current row
        ) as span_to,
        sum(weight) over (
            partition by panel, date, chip_id, price_type, commitment_months, segment
        ) as total_weight,
    from cast_votes
),

thirds as (
    select
        *,
        greatest(
            0.0,
            least(span_to, 2 * total_weight / 3) - greatest(span_to - weight, total_weight / 3)
        ) as inside,
    from spans
),

-- One in a thousand million: a quartile that falls on an edge is not lost to the last digit of a sum.
levels as (
    select
        panel,
        date,
        chip_id,
        price_type,
        commitment_months,
        segment,
        case when count(usd) = count(*) then sum(inside * usd) / sum(inside) end as level_usd,
        min(case when span_to >= 0.25 * total_weight - 1e-9 then usd end) as first_quartile_usd,
        min(case when span_to >= 0.75 * total_weight - 1e-9 then usd end) as third_quartile_usd,
    from thirds
    group by panel, date, chip_id, price_type, commitment_months, segment
),

matched as (
    select
        now.date,
        now.chip_id,
        now.price_type,
        now.commitment_months,
        now.segment,
        now.level_usd / before.level_usd - 1 as matched_panel_change,
        now.level_usd / at_rates_before.level_usd - 1 as exchange_rate_change,
    from levels as now
    inner join levels as before
        on now.panel = 'matched_now'
        and before.panel = 'matched_before'
        and now.date = before.date
        and now.chip_id = before.chip_id
        and now.price_type = before.price_type
        and now.commitment_months is not distinct from before.commitment_months
        and now.segment = before.segment
    inner join levels as at_rates_before
        on at_rates_before.panel = 'matched_at_rates_before'
        and now.date = at_rates_before.date
        and now.chip_id = at_rates_before.chip_id
        and now.price_type = at_rates_before.price_type
        and now.commitment_months is not distinct from at_rates_before.commitment_months
        and now.segment = at_rates_before.segment
),

counts as (
    select
        date,
        chip_id,
        price_type,
        commitment_months,
        segment,
        is_diagnostic,
        count(case when status = 'counted' then 1 end) as provider_count,
    from placed
    group by date, chip_id, price_type, commitment_months, segment, is_diagnostic
)

select
    counts.date,
    counts.chip_id,
    counts.price_type,
    counts.commitment_months,
    counts.segment,
    counts.is_diagnostic,
    'tokenyield:' || counts.price_type
    || coalesce(':' || cast(counts.commitment_months as varchar) || 'm', '') || ':' || counts.segment as index_id,
    case
        when counts.provider_count >= parameters.min_providers then cast(round(levels.level_usd, 6) as decimal(18, 6))
    end as usd_per_gpu_hour,
    case
        when counts.provider_count >= parameters.min_providers
            then round(
                greatest(
                    levels.level_usd - levels.first_quartile_usd, levels.third_quartile_usd - levels.level_usd
                ),
                6
            )
    end as band_usd_per_gpu_hour,
    counts.provider_count,
    case
        when counts.provider_count >= parameters.min_providers then matched.matched_panel_change
    end as matched_panel_change,
    case
        when counts.provider_count >= parameters.min_providers then matched.exchange_rate_change
    end as exchange_rate_change,
    case when counts.provider_count < parameters.min_providers then 'too_few_providers' end as null_reason,
from counts
cross join parameters
left join levels
    on levels.panel = 'day'
    and counts.date = levels.date
    and counts.chip_id = levels.chip_id
    and counts.price_type = levels.price_type
    and counts.commitment_months is not distinct from levels.commitment_months
    and counts.segment = levels.segment
left join matched
    on counts.date = matched.date
    and counts.chip_id = matched.chip_id
    and counts.price_type = matched.price_type
    and counts.commitment_months is not distinct from matched.commitment_months
    and counts.segment = matched.segment
