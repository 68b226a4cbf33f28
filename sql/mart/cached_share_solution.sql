-- The share of input that must come from a cache for a stated revenue to hold; one row per point and deck that a
-- revenue is stated of with a fleet beside it. With r prefill GPUs per decode GPU, of each 1 + r GPUs: the fleet's tokens less the output are
-- the input, its revenue less that of the output is what the input earns, and both fix how much of it is cached:
-- price x uncached + cached price x cached = what the input earns, uncached + cached = the input.
-- grain: benchmark_point_id, provider_id, tier
-- column: stated_value_id | the stated revenue that is solved for
-- column: benchmark_point_id | the point at which every GPU is taken to run
-- column: point_label | the publisher's own name of the point
-- column: provider_id | whose deck it is
-- column: tier | standard, peak or off_peak
-- column: deck_effective_from | first day on which the deck's prices held together
-- column: stated_revenue_usd_per_gpu_hour | as stated, an average over all GPUs
-- column: tokens_per_day | input and output tokens of the fleet, as stated
-- column: fleet_gpu_count | GPUs of the fleet, as stated
-- column: prefill_gpus_per_decode_gpu | as stated for the point
-- column: live_traffic_factor | applied to the point's output, once
-- column: output_tok_s_decode_gpu_live | output tokens per second and decode GPU under live traffic
-- column: decode_revenue_usd_per_gpu_hour | output x price, per decode GPU-hour
-- column: prefill_revenue_usd_per_gpu_hour | what is left of the stated revenue, per prefill GPU-hour
-- column: input_tok_s_prefill_gpu_live | input tokens per second and prefill GPU, cached or not
-- column: uncached_input_tok_s_prefill_gpu_live | of these, computed: solved
-- column: cached_input_tok_s_prefill_gpu_live | of these, read from a cache: solved
-- column: cached_share | cached / all input: solved
-- column: fleet_revenue_usd_per_year | fleet x stated revenue x 24 x 365
-- column: null_reason | why cached_share is null; no_solution: no share between 0 and 1 fits
-- column: evidence | always derived
-- column: passes_on | the terms of the deck's and the point's publishers let us pass it on
-- check: (cached_share is null) = (null_reason is not null)
-- check: cached_share is null or (cached_share >= 0 and cached_share <= 1)
with

figures as (
    select * from mart.stated_value
),

statements as (
    select
        statements.*,
        revenue.value as revenue,
        revenue.stated_on,
        tokens.value as tokens_per_day,
        fleet.value as fleet_gpu_count,
    from raw.revenue_statement as statements
    inner join figures as revenue on statements.stated_value_id = revenue.stated_value_id
    inner join figures as tokens on statements.tokens_per_day_id = tokens.stated_value_id
    inner join figures as fleet on statements.fleet_gpus_id = fleet.stated_value_id
),

points as (
    select * from core.benchmark_point
),

yields as (
    select *
    from core.token_yield
    where gpu_scope = 'decode'
),

ratios as (
    select ratios.*
    from raw.role_ratio as ratios
    cross join core.run as run
    where ratios.prefill_chip_id is null
        and ratios.known_at <= run.as_of
),

decks as (
    select * from core.token_deck
),

given as (
    select
        statements.stated_value_id,
        points.benchmark_point_id,
        statements.point_label,
        statements.provider_id,
        statements.tier,
        decks.valid_from as deck_effective_from,
        statements.revenue,
        statements.tokens_per_day,
        statements.fleet_gpu_count,
        ratios.prefill_gpus_per_decode_gpu as ratio,
        yields.live_traffic_factor,
        yields.output_tok_s_gpu * yields.live_traffic_factor as output_tok_s,
        cast(decks.input_usd_per_million_tokens as double) as input_usd,
        cast(decks.cached_input_usd_per_million_tokens as double) as cached_input_usd,
        cast(decks.output_usd_per_million_tokens as double) as output_usd,
        points.passes_on and coalesce(decks.passes_on, true) as passes_on,
        case
            when yields.output_tok_s_gpu is null then 'no_throughput'
            when yields.live_traffic_factor is null then 'no_factor'
            when ratios.prefill_gpus_per_decode_gpu is null then 'role_ratio_unknown'
            when decks.provider_id is null then 'no_deck'
            when decks.input_usd_per_million_tokens is null then 'no_input_price'
            when decks.cached_input_usd_per_million_tokens is null then 'no_cached_input_price'
            when decks.output_usd_per_million_tokens is null then 'no_output_price'
        end as null_reason,
    from statements
    inner join points
        on statements.publisher = points.publisher
        and statements.point_label = points.point_label
    left join yields
        on points.benchmark_point_id = yields.benchmark_point_id
        and points.chip_id = yields.chip_id
    left join ratios
        on points.publisher = ratios.publisher
        and points.point_label = ratios.point_label
    left join decks
        on statements.provider_id = decks.provider_id
        and statements.tier = decks.tier
        and points.model_id = decks.model_id
        and decks.valid_from <= statements.stated_on
        and (decks.valid_to is null or decks.valid_to > statements.stated_on)
),

-- Of the 1 + r GPUs that stand round one decode GPU.
balanced as (
    select
        *,
        output_tok_s * 3600 / 1e6 * output_usd as decode_revenue,
        revenue * (1 + ratio) - output_tok_s * 3600 / 1e6 * output_usd as input_revenue,
        tokens_per_day / 86400 / (fleet_gpu_count / (1 + ratio)) - output_tok_s as input_tok_s,
    from given
),

solved as (
    select
        *,
        (input_revenue * 1e6 / 3600 - cached_input_usd * input_tok_s)
        / nullif(input_usd - cached_input_usd, 0) as uncached_tok_s,
    from balanced
),

judged as (
    select
        *,
        coalesce(
            null_reason,
            case
                when (input_tok_s > 0 and uncached_tok_s >= 0 and uncached_tok_s <= input_tok_s) is not true
                    then 'no_solution'
            end
        ) as no_share_reason,
    from solved
)

select
    stated_value_id,
    benchmark_point_id,
    point_label,
    provider_id,
    tier,
    deck_effective_from,
    revenue as stated_revenue_usd_per_gpu_hour,
    tokens_per_day,
    fleet_gpu_count,
    ratio as prefill_gpus_per_decode_gpu,
    live_traffic_factor,
    output_tok_s as output_tok_s_decode_gpu_live,
    decode_revenue as decode_revenue_usd_per_gpu_hour,
    input_revenue / ratio as prefill_revenue_usd_per_gpu_hour,
    input_tok_s / ratio as input_tok_s_prefill_gpu_live,
    case when no_share_reason is null then uncached_tok_s / ratio end as uncached_input_tok_s_prefill_gpu_live,
    case when no_share_reason is null then (input_tok_s - uncached_tok_s) / ratio end
        as cached_input_tok_s_prefill_gpu_live,
    case when no_share_reason is null then 1 - uncached_tok_s / input_tok_s end as cached_share,
    fleet_gpu_count * revenue * 24 * 365 as fleet_revenue_usd_per_year,
    no_share_reason as null_reason,
    'derived' as evidence,
    passes_on,
from judged
