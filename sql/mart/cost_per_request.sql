-- What one request of a workload costs, made on rented GPUs or bought from a price deck; one row per way to get it
-- and stretch in which its price holds: a point, chip, allocation and price series, or a provider's tier. Both
-- kinds of rows stand side by side under one workload and model. A point serves its own workload alone: no
-- throughput is carried over to another mix. Rent is charged once: on all tokens, or each role's on its own.
-- grain: cost_per_request_id
-- column: cost_per_request_id | key
-- column: supply | self_hosted (rent) or bought (price deck)
-- column: model_id | the model
-- column: workload_id | the workload, and with it the mix
-- column: input_tokens | input tokens of the request, cached or not
-- column: cached_input_tokens | of these, read from a cache; null: unknown
-- column: output_tokens | output tokens of the request
-- column: tokens_basis | where the lengths come from: point (its own means) or workload
-- column: mix_class | how the cached share is known: measured (hit rate of the run), stated, derived or assumed (of the workload); null: it is not
-- column: benchmark_point_id | self_hosted: the point
-- column: point_label | self_hosted: the publisher's own name of it
-- column: chip_id | self_hosted: the chip priced
-- column: cost_allocation | self_hosted: total (all rent on all tokens) or by_role (each role's rent on its tokens)
-- column: price_series_id | self_hosted: the price series
-- column: price_type | self_hosted: its price type
-- column: usd_per_gpu_hour | self_hosted: rent in US dollars per GPU-hour
-- column: live_traffic_factor | share of a benchmark throughput that live traffic reaches; 1 for live figures and bought requests
-- column: provider_id | bought: whose deck it is
-- column: tier | bought: standard, peak or off_peak
-- column: input_usd_per_request | part of the cost that falls on input
-- column: cached_input_usd_per_request | of it, on input read from a cache; null where self_hosted: the throughput of cached input alone is not known
-- column: output_usd_per_request | part of the cost that falls on output
-- column: usd_per_request | both, at the throughput as measured
-- column: usd_per_request_live | the same under live traffic
-- column: null_reason | why usd_per_request is null
-- column: live_null_reason | why usd_per_request_live is null
-- column: evidence | of the throughput; of a bought request assumed where its mix is, else derived
-- column: passes_on | the terms of the deck's or the point's publisher let us pass it on
-- column: valid_from | first day of the row
-- column: valid_to | first day after it; null: open
-- check: (usd_per_request is null) = (null_reason is not null)
-- check: (usd_per_request_live is null) = (live_null_reason is not null)
-- check: usd_per_request is null or usd_per_request >= 0
-- check: valid_to is null or valid_to > valid_from
with

costs as (
    select * from mart.cost_per_million_tokens
),

points as (
    select * from core.benchmark_point
),

workloads as (
    select * from raw.workload
),

yields as (
    select * from core.token_yield where gpu_scope = 'all'
),

decks as (
    select * from core.token_deck
),

requests as (
    select
        points.benchmark_point_id,
        points.point_label,
        points.passes_on,
        points.workload_id,
        case when points.isl_mean + points.osl_mean is null then 'workload' else 'point' end as tokens_basis,
        case when points.isl_mean + points.osl_mean is null then workloads.input_tokens else points.isl_mean end
            as input_tokens,
        case when points.isl_mean + points.osl_mean is null then workloads.output_tokens else points.osl_mean end
            as output_tokens,
        yields.cached_share,
        yields.mix_class,
    from points
    left join workloads on points.workload_id = workloads.workload_id
    left join yields
        on points.benchmark_point_id = yields.benchmark_point_id
        and points.chip_id = yields.chip_id
),

-- Every reading of a point on one price: what a million tokens of each kind costs where rent is charged once.
readings as (
    select
        benchmark_point_id,
        chip_id,
        model_id,
        price_series_id,
        price_type,
        usd_per_gpu_hour,
        live_traffic_factor,
        valid_from,
        valid_to,
        max(case when cost_allocation = 'total' then usd_per_million_tokens end) as total_usd,
        max(case when cost_allocation = 'by_role' and token_kind = 'input' then usd_per_million_tokens end)
            as input_usd,
        max(case when cost_allocation = 'by_role' and token_kind = 'output' then usd_per_million_tokens end)
            as output_usd,
        max(case when cost_allocation = 'total' then null_reason end) as total_null_reason,
        max(case when cost_allocation = 'by_role' then null_reason end) as by_role_null_reason,
        max(case when cost_allocation = 'whole_bill' and token_kind = 'output' then null_reason end)
            as output_null_reason,
        max(case when cost_allocation = 'total' then evidence end) as total_evidence,
        max(case when cost_allocation = 'by_role' then evidence end) as by_role_evidence,
        max(evidence) as any_evidence,
        max(case when cost_allocation = 'total' then 1 else 0 end) as has_total,
        max(case when cost_allocation = 'by_role' and token_kind = 'input' then 1 else 0 end) as has_role_input,
        max(case when cost_allocation = 'by_role' and token_kind = 'output' then 1 else 0 end) as has_role_output,
    from costs
    group by
        benchmark_point_id,
        chip_id,
        model_id,
        price_series_id,
        price_type,
        usd_per_gpu_hour,
        live_traffic_factor,
        valid_from,
        valid_to
),

allocated as (
    select
        *,
        'total' as cost_allocation,
        total_usd as usd_per_million_input_tokens,
        total_usd as usd_per_million_output_tokens,
        coalesce(total_evidence, any_evidence) as evidence,
        case
            when has_total = 0 then coalesce(output_null_reason, 'no_total_throughput')
            else total_null_reason
        end as null_reason,
    from readings

    union all

    select
        *,
        'by_role' as cost_allocation,
        input_usd as usd_per_million_input_tokens,
        output_usd as usd_per_million_output_tokens,
        by_role_evidence as evidence,
        case
            when has_role_input = 0 then 'no_input_throughput'
            when has_role_output = 0 then 'no_throughput'
            else by_role_null_reason
        end as null_reason,
    from readings
    where has_role_input + has_role_output > 0
),

offers as (
    select
        'self_hosted' as supply,
        allocated.model_id,
        requests.workload_id,
        requests.input_tokens,
        requests.input_tokens * requests.cached_share as cached_input_tokens,
        requests.output_tokens,
        requests.tokens_basis,
        requests.mix_class,
        allocated.benchmark_point_id,
        requests.point_label,
        allocated.chip_id,
        allocated.cost_allocation,
        allocated.price_series_id,
        allocated.price_type,
        allocated.usd_per_gpu_hour,
        allocated.live_traffic_factor,
        cast(null as varchar) as provider_id,
        cast(null as varchar) as tier,
        requests.input_tokens * allocated.usd_per_million_input_tokens / 1e6 as input_usd,
        cast(null as double) as cached_input_usd,
        requests.output_tokens * allocated.usd_per_million_output_tokens / 1e6 as output_usd,
        coalesce(
            allocated.null_reason,
            case when requests.input_tokens + requests.output_tokens is null then 'no_mix' end
        ) as null_reason,
        allocated.evidence,
        requests.passes_on,
        allocated.valid_from,
        allocated.valid_to,
    from allocated
    inner join requests on allocated.benchmark_point_id = requests.benchmark_point_id

    union all

    -- A kind of which the request has none needs no price.
    select
        'bought' as supply,
        decks.model_id,
        workloads.workload_id,
        workloads.input_tokens,
        workloads.cached_input_tokens,
        workloads.output_tokens,
        'workload' as tokens_basis,
        workloads.mix_class,
        cast(null as varchar) as benchmark_point_id,
        cast(null as varchar) as point_label,
        cast(null as varchar) as chip_id,
        cast(null as varchar) as cost_allocation,
        cast(null as varchar) as price_series_id,
        cast(null as varchar) as price_type,
        cast(null as decimal(18, 6)) as usd_per_gpu_hour,
        cast(1 as double) as live_traffic_factor,
        decks.provider_id,
        decks.tier,
        (
            workloads.uncached_input_tokens * coalesce(
                cast(decks.input_usd_per_million_tokens as double),
                case when workloads.uncached_input_tokens = 0 then 0 end
            )
            + workloads.cached_input_tokens * coalesce(
                cast(decks.cached_input_usd_per_million_tokens as double),
                case when workloads.cached_input_tokens = 0 then 0 end
            )
        ) / 1e6 as input_usd,
        workloads.cached_input_tokens * coalesce(
            cast(decks.cached_input_usd_per_million_tokens as double),
            case when workloads.cached_input_tokens = 0 then 0 end
        ) / 1e6 as cached_input_usd,
        workloads.output_tokens * coalesce(
            cast(decks.output_usd_per_million_tokens as double),
            case when workloads.output_tokens = 0 then 0 end
        ) / 1e6 as output_usd,
        case
            when workloads.mix_class is null then 'no_mix'
            when workloads.uncached_input_tokens > 0 and decks.input_usd_per_million_tokens is null
                then 'no_input_price'
            when workloads.cached_input_tokens > 0 and decks.cached_input_usd_per_million_tokens is null
                then 'no_cached_input_price'
            when workloads.output_tokens > 0 and decks.output_usd_per_million_tokens is null then 'no_output_price'
        end as null_reason,
        case when workloads.mix_class = 'assumed' then 'assumed' else 'derived' end as evidence,
        decks.passes_on,
        decks.valid_from,
        decks.valid_to,
    from workloads
    cross join decks
)

select
    substr(
        md5(
            concat_ws(
                '|',
                supply,
                model_id,
                workload_id,
                coalesce(benchmark_point_id, provider_id),
                coalesce(chip_id, tier),
                coalesce(cost_allocation, '-'),
                coalesce(price_series_id, '-'),
                cast(valid_from as varchar)
            )
        ),
        1,
        16
    ) as cost_per_request_id,
    supply,
    model_id,
    workload_id,
    input_tokens,
    cached_input_tokens,
    output_tokens,
    tokens_basis,
    mix_class,
    benchmark_point_id,
    point_label,
    chip_id,
    cost_allocation,
    price_series_id,
    price_type,
    usd_per_gpu_hour,
    live_traffic_factor,
    provider_id,
    tier,
    input_usd as input_usd_per_request,
    cached_input_usd as cached_input_usd_per_request,
    output_usd as output_usd_per_request,
    case when null_reason is null then input_usd + output_usd end as usd_per_request,
    case when null_reason is null then (input_usd + output_usd) / live_traffic_factor end as usd_per_request_live,
    null_reason,
    coalesce(null_reason, case when live_traffic_factor is null then 'no_factor' end) as live_null_reason,
    evidence,
    passes_on,
    valid_from,
    valid_to,
from offers
