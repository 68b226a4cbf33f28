-- What can be said of a point that states only a speed per user, under a named assumption of how many sessions
-- share a GPU; one row per point, assumption, price series and stretch of the price. An assumption is no
-- measurement, so these rows enter no frontier and no ranking.
-- grain: assumed_cost_id
-- column: assumed_cost_id | key
-- column: benchmark_point_id | the point
-- column: point_label | the publisher's own name of the point
-- column: chip_id | the chip
-- column: model_id | the model
-- column: assumption_id | the assumption, see its description in the seed
-- column: sessions_per_gpu | sessions that share one GPU, assumed
-- column: interactivity_tok_s_user | speed of one session as stated
-- column: million_tokens_per_session_hour | speed x 3600 / 10^6
-- column: seconds_per_thousand_tokens | 1000 / speed
-- column: price_series_id | the price series
-- column: price_type | its price type
-- column: usd_per_gpu_hour | price in US dollars per GPU-hour
-- column: usd_per_million_tokens | usd_per_gpu_hour / (speed x sessions x 3600 / 10^6), assumed
-- column: output_usd_per_million_tokens | lowest price at which the model's developer sells its output tokens on that day
-- column: break_even_sessions_per_gpu | sessions per GPU at which rent and that price are equal
-- column: null_reason | why usd_per_million_tokens is null
-- column: evidence | always assumed
-- column: valid_from | first day of the row
-- column: valid_to | first day after it; null: open
-- check: (usd_per_million_tokens is null) = (null_reason is not null)
with

points as (
    select *
    from core.benchmark_point
    where coalesce(output_tok_s_gpu, total_tok_s_gpu, output_tok_s_decode_gpu, input_tok_s_gpu) is null
        and interactivity_tok_s_user is not null
),

assumptions as (
    select * from raw.session_assumption
),

timeline as (
    select * from core.price_timeline
),

series as (
    select * from core.price_series
),

-- A host's price is not the model's, and what may not be passed on shows in no figure.
decks as (
    select prices.*
    from core.known_token_price as prices
    inner join raw.provider as providers on prices.provider_id = providers.provider_id
    where prices.token_kind = 'output'
        and prices.passes_on
        and providers.provider_class = 'model_developer'
),

assumed as (
    select
        points.benchmark_point_id,
        points.point_label,
        points.chip_id,
        points.model_id,
        assumptions.assumption_id,
        assumptions.sessions_per_gpu,
        points.interactivity_tok_s_user,
        timeline.price_series_id,
        timeline.usd_per_gpu_hour,
        timeline.null_reason,
        greatest(points.measured_from, coalesce(timeline.valid_from, points.measured_from)) as valid_from,
        timeline.valid_to,
    from points
    cross join assumptions
    inner join timeline
        on points.chip_id = timeline.chip_id
        and (timeline.valid_to is null or timeline.valid_to > points.measured_from)
),

-- The deck in force on the row's first day; of its tiers the lowest, so that a break-even is no flattery.
sold as (
    select
        assumed.benchmark_point_id,
        assumed.valid_from,
        decks.usd_per_million_tokens as output_usd_per_million_tokens,
    from assumed
    inner join decks
        on assumed.model_id = decks.model_id
        and cast(decks.effective_from at time zone 'UTC' as date) <= assumed.valid_from
    qualify row_number() over (
        partition by assumed.benchmark_point_id, assumed.valid_from
        order by
            cast(decks.effective_from at time zone 'UTC' as date) desc,
            decks.usd_per_million_tokens,
            decks.token_price_id
    ) = 1
)

select
    substr(
        md5(
            concat_ws(
                '|',
                assumed.benchmark_point_id,
                assumed.assumption_id,
                assumed.price_series_id,
                cast(assumed.valid_from as varchar)
            )
        ),
        1,
        16
    ) as assumed_cost_id,
    assumed.benchmark_point_id,
    assumed.point_label,
    assumed.chip_id,
    assumed.model_id,
    assumed.assumption_id,
    assumed.sessions_per_gpu,
    assumed.interactivity_tok_s_user,
    assumed.interactivity_tok_s_user * 3600 / 1e6 as million_tokens_per_session_hour,
    1000 / assumed.interactivity_tok_s_user as seconds_per_thousand_tokens,
    assumed.price_series_id,
    series.price_type,
    assumed.usd_per_gpu_hour,
    cast(assumed.usd_per_gpu_hour as double)
    / (assumed.interactivity_tok_s_user * assumed.sessions_per_gpu * 3600 / 1e6) as usd_per_million_tokens,
    sold.output_usd_per_million_tokens,
    cast(assumed.usd_per_gpu_hour as double)
    / (nullif(cast(sold.output_usd_per_million_tokens as double), 0) * assumed.interactivity_tok_s_user * 3600 / 1e6)
        as break_even_sessions_per_gpu,
    assumed.null_reason,
    'assumed' as evidence,
    assumed.valid_from,
    assumed.valid_to,
from assumed
inner join series on assumed.price_series_id = series.price_series_id
left join sold
    on assumed.benchmark_point_id = sold.benchmark_point_id
    and assumed.valid_from = sold.valid_from
