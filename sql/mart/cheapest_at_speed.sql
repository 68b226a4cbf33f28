-- Which chip makes output tokens cheapest at a speed that every user sees, today: all GPUs, the whole bill, one price
-- series for all; one row per model, workload, traffic, speed percentile, tier, price series, chip and precision. Chips
-- that cannot be ranked are listed with the reason. What lies inside the combined band of price, noise and curve is not
-- distinguishable from the first.
-- grain: model_id, workload_id, traffic_basis, speed_percentile, speed_tok_s_user, price_series_id, chip_id, precision
-- column: model_id | the model
-- column: workload_id | the workload
-- column: traffic_basis | benchmark, replay or live; benchmark alone is ranked
-- column: speed_percentile | which user the speed is of
-- column: speed_tok_s_user | output speed that one user sees
-- column: price_series_id | the price series that all chips are compared on
-- column: price_type | its price type
-- column: headline_order | its order beside the headline; null: not shown there
-- column: chip_id | the chip
-- column: precision | precision of the weights; ranked together and shown
-- column: rank | 1 is the cheapest among the ranked; null: see unranked_reason
-- column: unranked_reason | why the row is not ranked
-- column: distinguishable | dearer than the first by more than both are uncertain; null: not ranked; false for the first
-- column: usd_per_million_tokens | cost in US dollars
-- column: uncertainty_share | square root of the summed squares of index band, noise and curve, as shares; a band that is not known (see price_band_share) adds nothing, so the true one is larger
-- column: price_band_share | band of the index behind the price / its value; null: the series has none
-- column: usd_per_gpu_hour | price in US dollars per GPU-hour
-- column: price_age_days | days since it was observed
-- column: throughput_tok_s_gpu | output tokens per second / all GPUs
-- column: position | measured, interpolated, below_range, above_range or unreachable
-- column: ttft_p50_ms | time to first token, median
-- column: engine | serving engine
-- column: serving_line_id | one deployable server in one run
-- column: below_point_id | slower point of the bracket
-- column: above_point_id | faster point of the bracket
-- column: benchmark_age_days | days since the older of the two was measured
-- column: disclosure_score | the lower of the two points', 0 to 100
-- column: passes_on | the terms of the points' publishers let us pass it on
-- column: method_version | version of frontier and curve
-- check: (rank is null) = (unranked_reason is not null)
-- check: rank is null or usd_per_million_tokens > 0
with

best as (
    select *
    from core.best_at_speed
    where token_kind = 'output'
        and gpu_scope = 'all'
        and cost_allocation = 'whole_bill'
        and evidence = 'measured'
        and is_tier
),

timeline as (
    select * from core.price_timeline
),

segments as (
    select * from core.price_segment
),

series as (
    select * from core.price_series where price_basis <> 'provider_price'
),

indices as (
    select * from core.rental_index_daily where usd_per_gpu_hour is not null
),

run as (
    select cast(as_of at time zone 'UTC' as date) as today from core.run
),

parameters as (
    select
        max(case when parameter = 'interpolation_error_share' then value end) as interpolation_error_share,
        max(case when parameter = 'noise_share' then value end) as noise_share,
    from raw.method_parameter
    where method = 'frontier' and version = 'v1'
),

-- The band of the day behind each price, where the series is our own index.
bands as (
    select
        indices.index_id,
        indices.chip_id,
        indices.date,
        indices.band_usd_per_gpu_hour / cast(indices.usd_per_gpu_hour as double) as band_share,
    from indices
),

priced as (
    select
        best.*,
        series.price_series_id,
        series.price_type,
        series.headline_order,
        timeline.usd_per_gpu_hour,
        case
            when segments.priced_on > run.today then 0
            else date_diff('day', segments.priced_on, run.today)
        end as price_age_days,
        cast(timeline.usd_per_gpu_hour as double) / (best.throughput_tok_s_gpu * 3600 / 1e6) as usd_per_million_tokens,
        bands.band_share as price_band_share,
        sqrt(
            coalesce(bands.band_share, 0) * coalesce(bands.band_share, 0)
            + parameters.noise_share * parameters.noise_share
            + case
                when best.position = 'interpolated'
                    then parameters.interpolation_error_share * parameters.interpolation_error_share
                else 0
            end
        ) as uncertainty_share,
        coalesce(best.unranked_reason, timeline.null_reason) as why_unranked,
    from best
    cross join run
    cross join parameters
    inner join timeline
        on best.chip_id = timeline.chip_id
        and (timeline.valid_from is null or timeline.valid_from <= run.today)
        and (timeline.valid_to is null or timeline.valid_to > run.today)
    inner join series on timeline.price_series_id = series.price_series_id
    left join segments
        on timeline.price_series_id = segments.price_series_id
        and timeline.chip_id = segments.chip_id
        and segments.valid_from <= run.today
        and (segments.valid_to is null or segments.valid_to > run.today)
    left join bands
        on series.index_name = bands.index_id
        and best.chip_id = bands.chip_id
        and segments.priced_on = bands.date
),

ranked as (
    select
        *,
        case
            when why_unranked is null then rank() over (
                partition by comparison_id, speed_tok_s_user, price_series_id, why_unranked
                order by usd_per_million_tokens
            )
        end as rank,
        first_value(case when why_unranked is null then usd_per_million_tokens end) over from_cheapest as least_usd,
        first_value(case when why_unranked is null then uncertainty_share end) over from_cheapest as least_uncertainty,
    from priced
    window from_cheapest as (
        partition by comparison_id, speed_tok_s_user, price_series_id
        order by why_unranked is null desc, usd_per_million_tokens, chip_id, precision
    )
)

select
    model_id,
    workload_id,
    traffic_basis,
    speed_percentile,
    speed_tok_s_user,
    price_series_id,
    price_type,
    headline_order,
    chip_id,
    precision,
    rank,
    why_unranked as unranked_reason,
    case
        when rank is not null
            then usd_per_million_tokens / least_usd - 1
                > sqrt(uncertainty_share * uncertainty_share + least_uncertainty * least_uncertainty)
    end as distinguishable,
    usd_per_million_tokens,
    uncertainty_share,
    price_band_share,
    usd_per_gpu_hour,
    price_age_days,
    throughput_tok_s_gpu,
    position,
    ttft_p50_ms,
    engine,
    serving_line_id,
    below_point_id,
    above_point_id,
    benchmark_age_days,
    disclosure_score,
    passes_on,
    method_version,
from ranked
