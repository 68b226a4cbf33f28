-- What a person should hear of, as of the run: a headline that moved or was lost since it was last said, a chip that
-- became the cheapest, a source that is stale or fails, a day without a record, a chip name that no alias explains.
-- What was last said is the newest record of an earlier day; without one it is the cost of the day before. Headlines
-- are output tokens, all GPUs, the whole bill, measured and eligible, on every price series beside the headline. One
-- row per thing to tell; it stays as long as it holds.
-- grain: alert_id
-- column: alert_id | key, the same in every run as long as it is the same event
-- column: kind | headline_move (moved by the threshold or more), headline_lost (no cost that may be ranked any more), new_leader (cheapest now and not before), stale_source, failing_source (its newest payload was not loaded), missed_record (no record on the day, or none that can be read) or unmapped_chip
-- column: subject | what it is about: chip, precision, model, workload, price series and speed; a source; a day; a source and the name as it writes it
-- column: detail | what happened, in words, with its numbers and days
-- column: value | the number behind it, in the unit of this row; null: there is none
-- column: unit | per cent of the cost before (a move), per cent below the former leader's cost now (a leader; null where that has none), days since the last good payload (a source), rows that carry the name (a chip); null: no value
-- column: threshold | what the value passed, in the same unit; null: none applies
-- column: happened_on | day of the cost, day on which the source became stale, day of the newest payload of a failing one, day without a record, day on which the name was first seen
-- column: price_series_id | the price series of a headline or leader
-- column: mart | table that has the whole story
-- column: passes_on | the terms of all that it stands on let us pass it on
-- check: kind <> 'headline_move' or abs(value) >= threshold
-- check: kind <> 'stale_source' or value > threshold
-- check: detail is not null and happened_on is not null and passes_on is not null
with

daily as (
    select *
    from mart.cost_per_million_tokens_daily
    where token_kind = 'output'
        and gpu_scope = 'all'
        and cost_allocation = 'whole_bill'
        and evidence = 'measured'
),

recorded as (
    select * from mart.recorded_yield where evidence = 'measured'
),

series as (
    select * from core.price_series where headline_order is not null
),

workloads as (
    select * from raw.workload where ranked
),

withheld as (
    select distinct benchmark_point_id from core.benchmark_statement where not passes_on
),

health as (
    select * from mart.source_health
),

payloads as (
    select
        source,
        max(observed_at) as newest_at,
    from mart.snapshot_health
    group by source
),

sources as (
    select * from raw.source
),

missed as (
    select * from mart.missed_record
),

-- A name that a person refused to map is known well enough.
unmapped as (
    select * from clean.unmapped_name where domain = 'chip' and matched_by <> 'refused'
),

run as (
    select cast(as_of at time zone 'UTC' as date) as today from core.run
),

parameters as (
    select
        max(case when parameter = 'headline_move_share' then value end) as headline_move_share,
        max(case when parameter = 'missed_record_days' then value end) as missed_record_days,
    from raw.method_parameter
    where method = 'alert' and version = 'v1'
),

basis as (
    select
        run.today,
        max(recorded.date) as recorded_on,
        coalesce(max(recorded.date), run.today - 1) as before_on,
    from run
    left join recorded on recorded.date < run.today
    group by run.today
),

said as (
    select
        case when daily.date = basis.today then 'now' else 'before' end as side,
        daily.date,
        daily.model_id,
        daily.workload_id,
        daily.chip_id,
        coalesce(daily.precision, 'precision not stated') as precision,
        daily.speed_tier,
        daily.traffic_basis,
        daily.speed_percentile,
        daily.price_series_id,
        daily.usd_per_gpu_hour,
        daily.throughput_tok_s_gpu,
        daily.usd_per_million_tokens,
        daily.null_reason,
        daily.eligible,
        daily.eligibility_reason,
        daily.benchmark_point_id,
        daily.above_point_id,
    from daily
    inner join basis
        on daily.date = basis.today
        or (daily.date = basis.before_on and basis.recorded_on is null)
    union all
    select
        'before' as side,
        recorded.date,
        recorded.model_id,
        recorded.workload_id,
        recorded.chip_id,
        coalesce(recorded.precision, 'precision not stated') as precision,
        recorded.speed_tier,
        recorded.traffic_basis,
        recorded.speed_percentile,
        recorded.price_series_id,
        recorded.usd_per_gpu_hour,
        recorded.throughput_tok_s_gpu,
        recorded.usd_per_million_tokens,
        recorded.null_reason,
        recorded.eligible,
        recorded.eligibility_reason,
        recorded.benchmark_point_id,
        recorded.above_point_id,
    from recorded
    inner join basis on recorded.date = basis.recorded_on
),

-- At the greatest throughput what may be ranked stands for a chip, then what makes most: as in mart.headline. At a
-- speed each percentile is a comparison of its own.
headlines as (
    select
        said.*,
        series.passes_on and slower.benchmark_point_id is null and faster.benchmark_point_id is null as passes_on,
        case
            when said.speed_tier = 'max_throughput' then 'at greatest throughput'
            else concat(
                'at ', said.speed_tier, ' tok/s per user (', coalesce(said.speed_percentile, 'percentile not stated'), ', ',
                coalesce(said.traffic_basis, 'traffic not stated'), ')'
            )
        end as speed,
        concat(said.chip_id, ' ', said.precision) as chip,
        said.eligible and said.usd_per_million_tokens is not null as is_ranked,
        concat(said.model_id, ', ', said.workload_id, ', ', speed, ', ', said.price_series_id) as comparison,
    from said
    inner join series on said.price_series_id = series.price_series_id
    inner join workloads on said.workload_id = workloads.workload_id
    left join withheld as slower on said.benchmark_point_id = slower.benchmark_point_id
    left join withheld as faster on said.above_point_id = faster.benchmark_point_id
    qualify row_number() over (
        partition by said.side, said.model_id, said.workload_id, said.chip_id, said.precision, said.price_series_id, speed
        order by said.eligible desc, said.throughput_tok_s_gpu desc, said.benchmark_point_id
    ) = 1
),

compared as (
    select
        former.price_series_id,
        former.date as before_on,
        basis.today as after_on,
        cast(former.usd_per_gpu_hour as double) as before_price,
        cast(latter.usd_per_gpu_hour as double) as after_price,
        former.throughput_tok_s_gpu as before_tok_s,
        latter.throughput_tok_s_gpu as after_tok_s,
        former.usd_per_million_tokens as before_cost,
        case when latter.is_ranked then latter.usd_per_million_tokens end as after_cost,
        case
            when latter.chip is null then 'not_listed'
            when latter.usd_per_million_tokens is null then latter.null_reason
            when not latter.eligible then latter.eligibility_reason
        end as lost_reason,
        former.passes_on and coalesce(latter.passes_on, true) as passes_on,
        concat(former.chip, ', ', former.comparison) as subject,
    from headlines as former
    cross join basis
    left join headlines as latter
        on latter.side = 'now'
        and former.comparison = latter.comparison
        and former.chip = latter.chip
    where former.side = 'before'
        and former.speed_tier = 'max_throughput'
        and former.is_ranked
),

moved as (
    select
        compared.*,
        100 * (compared.after_cost / compared.before_cost - 1) as percent,
        100 * parameters.headline_move_share as threshold_percent,
    from compared
    cross join parameters
    where compared.after_cost is not null
        -- Without its parameter every headline would show, and fail the check: better than none.
        and coalesce(abs(compared.after_cost / compared.before_cost - 1) >= parameters.headline_move_share, true)
),

ranked as (
    select
        *,
        rank() over (
            partition by side, comparison
            order by usd_per_million_tokens
        ) as place,
    from headlines
    where is_ranked
),

former_leaders as (
    select
        former.comparison,
        min(former.date) as before_on,
        string_agg(former.chip, ', ' order by former.chip) as chips,
        min(latter.usd_per_million_tokens) as cost_now,
        bool_and(former.passes_on and coalesce(latter.passes_on, true)) as passes_on,
    from ranked as former
    left join ranked as latter
        on latter.side = 'now'
        and former.comparison = latter.comparison
        and former.chip = latter.chip
    where former.side = 'before' and former.place = 1
    group by former.comparison
),

-- Where nobody led before, nobody was overtaken.
new_leaders as (
    select
        ranked.*,
        former_leaders.before_on,
        former_leaders.chips as former_chips,
        former_leaders.cost_now as former_cost_now,
        ranked.passes_on and former_leaders.passes_on as all_pass_on,
    from ranked
    inner join former_leaders on ranked.comparison = former_leaders.comparison
    left join ranked as led
        on led.side = 'before'
        and led.place = 1
        and ranked.comparison = led.comparison
        and ranked.chip = led.chip
    where ranked.side = 'now' and ranked.place = 1 and led.chip is null
),

alerts as (
    select
        'headline_move' as kind,
        subject,
        -- As long as the cost before is the same, so is the event, whatever day it is compared on.
        concat(cast(cast(before_cost as decimal(18, 9)) as varchar), case when percent > 0 then ' up' else ' down' end) as mark,
        concat(
            '$', cast(cast(before_cost as decimal(18, 4)) as varchar), ' on ', cast(before_on as varchar), ', $',
            cast(cast(after_cost as decimal(18, 4)) as varchar), ' on ', cast(after_on as varchar),
            ' per million output tokens (', case when percent > 0 then '+' else '' end,
            cast(cast(percent as decimal(18, 1)) as varchar), ' %); price $',
            cast(cast(before_price as decimal(18, 4)) as varchar), ' then, $',
            cast(cast(after_price as decimal(18, 4)) as varchar), ' now per GPU-hour; throughput ',
            cast(cast(before_tok_s as decimal(18, 1)) as varchar), ' then, ',
            cast(cast(after_tok_s as decimal(18, 1)) as varchar), ' now tok/s per GPU'
        ) as detail,
        percent as value,
        '%' as unit,
        threshold_percent as threshold,
        after_on as happened_on,
        price_series_id,
        'mart.cost_change' as mart,
        passes_on,
    from moved
    union all
    select
        'headline_lost' as kind,
        subject,
        concat(cast(cast(before_cost as decimal(18, 9)) as varchar), ' ', lost_reason) as mark,
        concat(
            '$', cast(cast(before_cost as decimal(18, 4)) as varchar), ' per million output tokens on ',
            cast(before_on as varchar), ', no cost that may be ranked on ', cast(after_on as varchar), ': ', lost_reason
        ) as detail,
        cast(null as double) as value,
        cast(null as varchar) as unit,
        cast(null as double) as threshold,
        after_on as happened_on,
        price_series_id,
        'mart.cost_per_million_tokens_daily' as mart,
        passes_on,
    from compared
    where after_cost is null
    union all
    select
        'new_leader' as kind,
        comparison as subject,
        concat(chip, ' before ', former_chips) as mark,
        concat(
            chip, ' is the cheapest on ', cast(date as varchar), ': $',
            cast(cast(usd_per_million_tokens as decimal(18, 4)) as varchar), ' per million output tokens; ', former_chips,
            ' was on ', cast(before_on as varchar), ' and ',
            case
                when former_cost_now is null then 'has no cost that may be ranked now'
                else concat('costs $', cast(cast(former_cost_now as decimal(18, 4)) as varchar), ' now')
            end
        ) as detail,
        100 * (1 - usd_per_million_tokens / former_cost_now) as value,
        case when former_cost_now is not null then '%' end as unit,
        cast(null as double) as threshold,
        date as happened_on,
        price_series_id,
        'mart.cheapest_at_speed' as mart,
        all_pass_on as passes_on,
    from new_leaders
    union all
    -- That a source exists and works is ours to say, whatever its terms.
    select
        concat(health.status, '_source') as kind,
        health.source as subject,
        coalesce(cast(epoch_us(health.last_success_at) as varchar), 'never') as mark,
        concat(
            health.reason, '; last good payload: ',
            coalesce(cast(cast(health.last_success_at at time zone 'UTC' as date) as varchar), 'none')
        ) as detail,
        health.age_hours / 24.0 as value,
        case when health.age_hours is not null then 'days' end as unit,
        case when health.status = 'stale' then cast(sources.max_age_days as double) end as threshold,
        case
            when health.status = 'stale'
                then cast(health.last_success_at at time zone 'UTC' as date) + cast(sources.max_age_days as integer)
            else cast(payloads.newest_at at time zone 'UTC' as date)
        end as happened_on,
        cast(null as varchar) as price_series_id,
        'mart.source_health' as mart,
        true as passes_on,
    from health
    inner join sources on health.source = sources.source
    left join payloads on health.source = payloads.source
    where health.status in ('stale', 'failing')
    union all
    select
        'missed_record' as kind,
        cast(missed.date as varchar) as subject,
        case when missed.status = 'recorded_late' then 'missed' else missed.status end as mark,
        case
            when missed.status = 'missed' then 'no record was written on this day'
            when missed.status = 'recorded_late'
                then concat('its record was written late, on ', cast(cast(missed.recorded_at at time zone 'UTC' as date) as varchar))
            else concat('its record cannot be read: ', missed.status, ', ', coalesce(missed.reason, 'no reason stated'))
        end as detail,
        cast(null as double) as value,
        cast(null as varchar) as unit,
        cast(null as double) as threshold,
        missed.date as happened_on,
        cast(null as varchar) as price_series_id,
        'mart.missed_record' as mart,
        true as passes_on,
    from missed
    cross join run
    cross join parameters
    where coalesce(date_diff('day', missed.date, run.today) <= parameters.missed_record_days, true)
    union all
    select
        'unmapped_chip' as kind,
        concat(unmapped.source, ': ', unmapped.raw_name) as subject,
        'unmapped' as mark,
        concat(
            'no alias explains this name on ', cast(unmapped.row_count as varchar), ' rows: they reach no price and no ',
            'point until seeds/chip_alias.csv says what it means'
        ) as detail,
        cast(unmapped.row_count as double) as value,
        'rows' as unit,
        cast(null as double) as threshold,
        cast(unmapped.first_seen_at at time zone 'UTC' as date) as happened_on,
        cast(null as varchar) as price_series_id,
        'clean.unmapped_name' as mart,
        coalesce(sources.passes_on, false) as passes_on,
    from unmapped
    left join sources on unmapped.source = sources.source
)

select
    substr(md5(concat_ws('|', kind, subject, mark)), 1, 16) as alert_id,
    kind,
    subject,
    detail,
    value,
    unit,
    threshold,
    happened_on,
    price_series_id,
    mart,
    passes_on,
from alerts
