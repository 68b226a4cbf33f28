-- What the tokens of one GPU-hour sell for, what the hour costs, and what is left; one row per point, chip, GPU
-- scope, price deck, price series and stretch in which both prices hold. Tokens are those of the point's own
-- workload. Of a point served by two roles the rows of decode and prefill add up to that of all GPUs; a row of one
-- role alone is no profit. A model that nobody is known to sell has rows without a deck.
-- grain: revenue_id
-- column: revenue_id | key
-- column: benchmark_point_id | the point
-- column: point_label | the publisher's own name of the point
-- column: chip_id | the chip priced; another than the point's where a hardware factor leads to it
-- column: model_id | the model
-- column: workload_id | the workload, and with it the mix
-- column: gpu_scope | all, decode (output alone), prefill (input alone); none where only a speed is known
-- column: provider_id | whose deck it is; null: no_deck
-- column: tier | standard, peak or off_peak
-- column: deck_effective_from | first day on which the deck's prices held together
-- column: traffic_basis | what the throughput was measured under: benchmark, replay or live
-- column: mix_class | how the cached share is known: measured, stated, derived or assumed
-- column: cached_share | share of input read from a cache
-- column: million_uncached_input_tokens_per_gpu_hour | before the live-traffic factor, as the next two
-- column: million_cached_input_tokens_per_gpu_hour | input read from a cache
-- column: million_output_tokens_per_gpu_hour | output
-- column: live_traffic_factor | share of a benchmark throughput that live traffic reaches; 1 for live figures
-- column: revenue_usd_per_gpu_hour | tokens x deck, at the throughput as measured
-- column: revenue_usd_per_gpu_hour_live | the same under live traffic: the factor once
-- column: price_series_id | the price series
-- column: price_type | its price type
-- column: usd_per_gpu_hour | rent in US dollars per GPU-hour, DECIMAL(18,6)
-- column: margin_usd_per_gpu_hour | revenue less rent, at the throughput as measured
-- column: margin_usd_per_gpu_hour_live | revenue less rent, under live traffic
-- column: null_reason | why revenue_usd_per_gpu_hour is null
-- column: live_null_reason | why revenue_usd_per_gpu_hour_live is null
-- column: margin_null_reason | why margin_usd_per_gpu_hour is null
-- column: stated_value_id | a text's own figure for the same point and deck; null: none is known
-- column: stated_revenue_usd_per_gpu_hour | that figure, an average over all GPUs
-- column: stated_value_class | its class; not_reproducible: its own inputs do not give it
-- column: evidence | of the throughput; assumed where the mix is
-- column: passes_on | the terms of the deck's and the point's publishers let us pass it on
-- column: valid_from | first day of the row
-- column: valid_to | first day after it; null: open
-- check: (revenue_usd_per_gpu_hour is null) = (null_reason is not null)
-- check: (revenue_usd_per_gpu_hour_live is null) = (live_null_reason is not null)
-- check: (margin_usd_per_gpu_hour is null) = (margin_null_reason is not null)
-- check: revenue_usd_per_gpu_hour is null or (revenue_usd_per_gpu_hour >= 0 and revenue_usd_per_gpu_hour < 1e9)
-- check: valid_to is null or valid_to > valid_from
with

yields as (
    select * from core.token_yield
),

points as (
    select * from core.benchmark_point
),

decks as (
    select * from core.token_deck
),

timeline as (
    select * from core.price_timeline
),

series as (
    select * from core.price_series
),

stated as (
    select
        statements.publisher,
        statements.point_label,
        statements.provider_id,
        statements.tier,
        figures.stated_value_id,
        figures.value,
        figures.value_class,
    from raw.revenue_statement as statements
    inner join mart.stated_value as figures on statements.stated_value_id = figures.stated_value_id
),

sold as (
    select
        yields.*,
        points.model_id,
        points.publisher,
        points.point_label,
        points.passes_on and coalesce(decks.passes_on, true) as passes_on,
        decks.provider_id,
        decks.tier,
        decks.valid_from as deck_effective_from,
        decks.valid_to as deck_valid_to,
        yields.uncached_input_tok_s_gpu * 3600 / 1e6 as million_uncached_input_tokens_per_gpu_hour,
        yields.cached_input_tok_s_gpu * 3600 / 1e6 as million_cached_input_tokens_per_gpu_hour,
        yields.output_tok_s_gpu * 3600 / 1e6 as million_output_tokens_per_gpu_hour,
        cast(decks.input_usd_per_million_tokens as double) as input_usd,
        cast(decks.cached_input_usd_per_million_tokens as double) as cached_input_usd,
        cast(decks.output_usd_per_million_tokens as double) as output_usd,
        greatest(points.measured_from, coalesce(decks.valid_from, points.measured_from)) as sold_from,
        case
            when yields.null_reason is not null then yields.null_reason
            when decks.provider_id is null then 'no_deck'
            when yields.uncached_input_tok_s_gpu > 0 and decks.input_usd_per_million_tokens is null
                then 'no_input_price'
            when yields.cached_input_tok_s_gpu > 0 and decks.cached_input_usd_per_million_tokens is null
                then 'no_cached_input_price'
            when yields.output_tok_s_gpu > 0 and decks.output_usd_per_million_tokens is null
                then 'no_output_price'
        end as no_revenue_reason,
    from yields
    inner join points on yields.benchmark_point_id = points.benchmark_point_id
    left join decks
        on points.model_id = decks.model_id
        and (decks.valid_to is null or decks.valid_to > points.measured_from)
),

-- A kind of which none is made needs no price.
earning as (
    select
        *,
        case
            when no_revenue_reason is null
                then million_uncached_input_tokens_per_gpu_hour * coalesce(input_usd, 0)
                    + million_cached_input_tokens_per_gpu_hour * coalesce(cached_input_usd, 0)
                    + million_output_tokens_per_gpu_hour * coalesce(output_usd, 0)
        end as revenue,
    from sold
),

rented as (
    select
        earning.*,
        timeline.price_series_id,
        timeline.usd_per_gpu_hour,
        timeline.null_reason as no_rent_reason,
        cast(timeline.usd_per_gpu_hour as double) as rent,
        greatest(earning.sold_from, coalesce(timeline.valid_from, earning.sold_from)) as valid_from,
        nullif(
            least(
                coalesce(earning.deck_valid_to, date '9999-12-31'),
                coalesce(timeline.valid_to, date '9999-12-31')
            ),
            date '9999-12-31'
        ) as valid_to,
    from earning
    inner join timeline
        on earning.chip_id = timeline.chip_id
        and (timeline.valid_to is null or timeline.valid_to > earning.sold_from)
        and (
            earning.deck_valid_to is null
            or timeline.valid_from is null
            or timeline.valid_from < earning.deck_valid_to
        )
)

select
    substr(
        md5(
            concat_ws(
                '|',
                rented.benchmark_point_id,
                rented.chip_id,
                rented.gpu_scope,
                coalesce(rented.provider_id, '-'),
                coalesce(rented.tier, '-'),
                rented.price_series_id,
                cast(rented.valid_from as varchar)
            )
        ),
        1,
        16
    ) as revenue_id,
    rented.benchmark_point_id,
    rented.point_label,
    rented.chip_id,
    rented.model_id,
    points.workload_id,
    rented.gpu_scope,
    rented.provider_id,
    rented.tier,
    rented.deck_effective_from,
    points.traffic_basis,
    rented.mix_class,
    rented.cached_share,
    rented.million_uncached_input_tokens_per_gpu_hour,
    rented.million_cached_input_tokens_per_gpu_hour,
    rented.million_output_tokens_per_gpu_hour,
    rented.live_traffic_factor,
    rented.revenue as revenue_usd_per_gpu_hour,
    rented.revenue * rented.live_traffic_factor as revenue_usd_per_gpu_hour_live,
    rented.price_series_id,
    series.price_type,
    rented.usd_per_gpu_hour,
    rented.revenue - rented.rent as margin_usd_per_gpu_hour,
    rented.revenue * rented.live_traffic_factor - rented.rent as margin_usd_per_gpu_hour_live,
    rented.no_revenue_reason as null_reason,
    coalesce(rented.no_revenue_reason, case when rented.live_traffic_factor is null then 'no_factor' end)
        as live_null_reason,
    coalesce(rented.no_revenue_reason, rented.no_rent_reason) as margin_null_reason,
    stated.stated_value_id,
    stated.value as stated_revenue_usd_per_gpu_hour,
    stated.value_class as stated_value_class,
    rented.evidence,
    rented.passes_on,
    rented.valid_from,
    rented.valid_to,
from rented
inner join points on rented.benchmark_point_id = points.benchmark_point_id
inner join series on rented.price_series_id = series.price_series_id
left join stated
    on rented.gpu_scope = 'all'
    and rented.publisher = stated.publisher
    and rented.point_label = stated.point_label
    and rented.provider_id = stated.provider_id
    and rented.tier = stated.tier
