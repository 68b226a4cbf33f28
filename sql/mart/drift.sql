-- A recorded yield that would be derived otherwise today: price, throughput or cost of its day differ from the
-- record by more than 10^-9 of the recorded value, or there is no cost any more. The record stays as it is.
-- What only today's derivation knows is no drift, and neither is an unknown that is unknown still. One row per
-- recorded yield that differs.
-- grain: date, chip_id, model_id, precision, workload_id, token_kind, gpu_scope, cost_allocation, evidence, traffic_basis, speed_percentile, speed_tier, price_series_id
-- column: date | UTC day of the yield and of its record
-- column: chip_id | the chip
-- column: model_id | the model
-- column: precision | precision of the weights; null: not stated
-- column: workload_id | the workload
-- column: token_kind | always output here
-- column: gpu_scope | always all here
-- column: cost_allocation | always whole_bill here
-- column: evidence | measured, vendor_claim, read_off_chart, derived or assumed
-- column: traffic_basis | as recorded: benchmark, replay or live
-- column: speed_percentile | as recorded: which user the speed is of
-- column: speed_tier | max_throughput, or the output speed that each user sees in tok/s
-- column: price_series_id | the price series
-- column: cause | gone (no cost is derived today), method (another version, whatever else differs), several (both the price and the point or throughput), price, point (another point), throughput (another value of the same point) or unattributed (none of these)
-- column: fact_timing | late_data (a fact behind today's value could be known by then and came into our store afterwards), later_known (it could be known only later, as what was mended), both, or null: neither
-- column: price_differs | the price is another one, or known on one side alone
-- column: point_differs | the point, or one of the bracket, is another one
-- column: throughput_differs | the throughput is another one
-- column: method_differs | a method has another version
-- column: recorded_usd_per_million_tokens | cost in US dollars as recorded
-- column: usd_per_million_tokens | cost in US dollars as derived today
-- column: percent | change from the record to today, in per cent of the record
-- column: recorded_usd_per_gpu_hour | price as recorded, US dollars per GPU-hour
-- column: usd_per_gpu_hour | price of that day as derived today
-- column: recorded_throughput_tok_s_gpu | output tokens per second / all GPUs, as recorded
-- column: throughput_tok_s_gpu | the same as derived today
-- column: recorded_null_reason | why no cost was recorded
-- column: null_reason | why no cost is derived today; not_listed: the yield is no longer among those of its day
-- column: recorded_price_fact_id | the quote or published value behind the recorded price
-- column: price_fact_id | the one behind today's
-- column: recorded_benchmark_point_id | the point behind the record; of a tier the slower point of the bracket
-- column: benchmark_point_id | the one behind today's
-- column: recorded_above_point_id | the faster point of the bracket behind the record
-- column: above_point_id | the one behind today's
-- column: recorded_method_version | versions of the methods then
-- column: method_version | versions of the methods today
-- column: recorded_late | the record was written after its day was over
-- column: recorded_at | moment that the record was written
-- column: record_id | id of its snapshot
-- check: cause <> 'gone' or usd_per_million_tokens is null
-- check: (usd_per_million_tokens is null) = (null_reason is not null)
with

recorded as (
    select * from mart.recorded_yield
),

daily as (
    select * from mart.cost_per_million_tokens_daily
),

index_values as (
    select * from core.known_rental_index_value
),

quotes as (
    select * from core.known_rental_quote
),

votes as (
    select * from core.rental_vote
),

machines as (
    select * from core.market_machine
),

own_index as (
    select * from core.rental_index_daily
),

points as (
    select * from core.benchmark_statement
),

-- The vote of a marketplace is the median of many machines, each by a quote of its own.
vote_quotes as (
    select
        date,
        chip_id,
        price_type,
        commitment_months,
        segment,
        quote_id,
    from votes
    where quote_id is not null

    union all

    select
        votes.date,
        votes.chip_id,
        votes.price_type,
        votes.commitment_months,
        votes.segment,
        machines.quote_id,
    from votes
    inner join machines
        on votes.source = machines.source
        and votes.provider_id = machines.provider_id
        and votes.chip_id = machines.chip_id
        and votes.price_type = machines.price_type
        and votes.commitment_months is not distinct from machines.commitment_months
        and votes.date - cast(votes.age_days as integer) = machines.priced_on
    where votes.quote_id is null
),

-- What a price may stand on: a published value, a quote, or the newest of the quotes that voted on a day.
price_facts as (
    select
        index_value_id as price_fact_id,
        known_at,
        recorded_at,
    from index_values

    union all

    select
        quote_id as price_fact_id,
        known_at,
        recorded_at,
    from quotes

    union all

    select
        own_index.index_id || '/' || own_index.chip_id || '/' || cast(own_index.date as varchar) as price_fact_id,
        max(quotes.known_at) as known_at,
        max(quotes.recorded_at) as recorded_at,
    from own_index
    inner join vote_quotes
        on own_index.date = vote_quotes.date
        and own_index.chip_id = vote_quotes.chip_id
        and own_index.price_type = vote_quotes.price_type
        and own_index.commitment_months is not distinct from vote_quotes.commitment_months
        and own_index.segment = vote_quotes.segment
    inner join quotes on vote_quotes.quote_id = quotes.quote_id
    group by own_index.index_id, own_index.chip_id, own_index.date
),

paired as (
    select
        recorded.*,
        daily.date is null as is_absent,
        daily.usd_per_million_tokens as today_usd_per_million_tokens,
        daily.usd_per_gpu_hour as today_usd_per_gpu_hour,
        daily.throughput_tok_s_gpu as today_throughput_tok_s_gpu,
        daily.price_fact_id as today_price_fact_id,
        daily.benchmark_point_id as today_benchmark_point_id,
        daily.above_point_id as today_above_point_id,
        daily.method_version as today_method_version,
        case when daily.date is null then 'not_listed' else daily.null_reason end as today_null_reason,
    from recorded
    left join daily
        on recorded.date = daily.date
        and recorded.chip_id = daily.chip_id
        and recorded.model_id = daily.model_id
        and recorded.precision is not distinct from daily.precision
        and recorded.workload_id = daily.workload_id
        and recorded.token_kind = daily.token_kind
        and recorded.gpu_scope = daily.gpu_scope
        and recorded.cost_allocation = daily.cost_allocation
        and recorded.evidence = daily.evidence
        and recorded.speed_tier = daily.speed_tier
        and recorded.price_series_id = daily.price_series_id
        -- The point that makes most may be of other traffic or another percentile: then it is another point.
        and (
            recorded.speed_tier = 'max_throughput'
            or (
                recorded.traffic_basis is not distinct from daily.traffic_basis
                and recorded.speed_percentile is not distinct from daily.speed_percentile
            )
        )
),

compared as (
    select
        *,
        usd_per_gpu_hour is distinct from today_usd_per_gpu_hour as price_differs,
        benchmark_point_id is distinct from today_benchmark_point_id
        or above_point_id is distinct from today_above_point_id as point_differs,
        coalesce(
            abs(today_throughput_tok_s_gpu - throughput_tok_s_gpu) > 1e-9 * throughput_tok_s_gpu,
            true
        ) as throughput_differs,
        method_version is distinct from today_method_version as method_differs,
        case
            when usd_per_million_tokens is null or today_usd_per_million_tokens is null
                then (usd_per_million_tokens is null) <> (today_usd_per_million_tokens is null)
            else abs(today_usd_per_million_tokens - usd_per_million_tokens) > 1e-9 * usd_per_million_tokens
        end as cost_differs,
    from paired
),

drifted as (
    select *
    from compared
    where cost_differs
        or (not is_absent and (price_differs or throughput_differs))
),

new_facts as (
    select
        drifted.*,
        coalesce(
            (price_differs and price_facts.recorded_at > drifted.as_of and price_facts.known_at <= drifted.as_of)
            or (
                (point_differs or throughput_differs)
                and (
                    (below.recorded_at > as_of and below.known_at <= as_of)
                    or (above.recorded_at > as_of and above.known_at <= as_of)
                )
            ),
            false
        ) as has_late_data,
        coalesce(
            (price_differs and price_facts.known_at > drifted.as_of)
            or (
                (point_differs or throughput_differs)
                and (below.known_at > as_of or above.known_at > as_of or stood.retraction_known_at > as_of)
            ),
            false
        ) as has_later_known,
    from drifted
    left join price_facts on drifted.today_price_fact_id = price_facts.price_fact_id
    left join points as stood on drifted.benchmark_point_id = stood.benchmark_point_id
    left join points as below on drifted.today_benchmark_point_id = below.benchmark_point_id
    left join points as above on drifted.today_above_point_id = above.benchmark_point_id
)

select
    date,
    chip_id,
    model_id,
    precision,
    workload_id,
    token_kind,
    gpu_scope,
    cost_allocation,
    evidence,
    traffic_basis,
    speed_percentile,
    speed_tier,
    price_series_id,
    case
        when usd_per_million_tokens is not null and today_usd_per_million_tokens is null then 'gone'
        when method_differs then 'method'
        when price_differs and (point_differs or throughput_differs) then 'several'
        when price_differs then 'price'
        when point_differs then 'point'
        when throughput_differs then 'throughput'
        else 'unattributed'
    end as cause,
    case
        when has_late_data and has_later_known then 'both'
        when has_late_data then 'late_data'
        when has_later_known then 'later_known'
    end as fact_timing,
    price_differs,
    point_differs,
    throughput_differs,
    method_differs,
    usd_per_million_tokens as recorded_usd_per_million_tokens,
    today_usd_per_million_tokens as usd_per_million_tokens,
    100 * (today_usd_per_million_tokens / usd_per_million_tokens - 1) as percent,
    usd_per_gpu_hour as recorded_usd_per_gpu_hour,
    today_usd_per_gpu_hour as usd_per_gpu_hour,
    throughput_tok_s_gpu as recorded_throughput_tok_s_gpu,
    today_throughput_tok_s_gpu as throughput_tok_s_gpu,
    null_reason as recorded_null_reason,
    today_null_reason as null_reason,
    price_fact_id as recorded_price_fact_id,
    today_price_fact_id as price_fact_id,
    benchmark_point_id as recorded_benchmark_point_id,
    today_benchmark_point_id as benchmark_point_id,
    above_point_id as recorded_above_point_id,
    today_above_point_id as above_point_id,
    method_version as recorded_method_version,
    today_method_version as method_version,
    recorded_late,
    recorded_at,
    record_id,
from new_facts
