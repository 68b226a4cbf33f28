-- How busy a rented GPU must be for its output tokens to cost what they sell for, today; one row per point, chip, GPU
-- scope, traffic, price series, and price at which the model's output is sold. The same as sessions: how many users at
-- the point's speed pay its rent. Decode rent alone is not the whole cost.
-- grain: benchmark_point_id, chip_id, gpu_scope, cost_allocation, traffic, price_series_id, provider_id, tier
-- column: benchmark_point_id | the point
-- column: chip_id | the chip priced
-- column: model_id | the model
-- column: workload_id | the workload
-- column: gpu_scope | all (whole bill) or decode (decode rent alone)
-- column: cost_allocation | whole_bill or by_role
-- column: traffic | benchmark, or live: the benchmark's throughput x the live-traffic factor
-- column: price_series_id | the price series
-- column: usd_per_gpu_hour | price in US dollars per GPU-hour today
-- column: provider_id | who sells the model's output tokens
-- column: tier | standard, peak or off_peak
-- column: output_usd_per_million_tokens | price of output tokens today
-- column: usd_per_million_tokens | cost at full use
-- column: break_even_utilisation | share of paid hours at the point's rate at which rent and sales are equal; null: see null_reason
-- column: needed_tok_s_gpu | mean output tokens per second per GPU of the scope at which they are equal
-- column: break_even_sessions_per_gpu | users at the point's speed that make that; null: no speed is stated
-- column: null_reason | dearer_even_when_full, no_factor, or why there is no cost
-- column: evidence | evidence class of the throughput
-- column: eligible | the point may be ranked
-- column: passes_on | the terms of the deck's publisher let us pass it on
-- check: (break_even_utilisation is null) = (null_reason is not null)
-- check: break_even_utilisation is null or (break_even_utilisation > 0 and break_even_utilisation <= 1)
with

run as (
    select cast(as_of at time zone 'UTC' as date) as today
    from core.run
),

series as (
    select price_series_id from core.price_series where price_basis <> 'provider_price'
),

costs as (
    select costs.*
    from mart.cost_per_million_tokens as costs
    cross join run
    inner join series on costs.price_series_id = series.price_series_id
    where costs.token_kind = 'output'
        and costs.gpu_scope <> 'none'
        and costs.superseded_on is null
        and costs.valid_from <= run.today
        and (costs.valid_to is null or costs.valid_to > run.today)
),

decks as (
    select
        decks.model_id,
        decks.provider_id,
        decks.tier,
        decks.passes_on,
        cast(decks.output_usd_per_million_tokens as double) as output_usd_per_million_tokens,
    from core.token_deck as decks
    cross join run
    where decks.valid_from <= run.today
        and (decks.valid_to is null or decks.valid_to > run.today)
        and decks.output_usd_per_million_tokens > 0
),

traffics as (
    select
        costs.*,
        'benchmark' as traffic,
        usd_per_million_tokens as usd,
        null_reason as why_no_cost,
    from costs

    union all

    select
        costs.*,
        'live' as traffic,
        usd_per_million_tokens_live as usd,
        live_null_reason as why_no_cost,
    from costs
)

select
    traffics.benchmark_point_id,
    traffics.chip_id,
    traffics.model_id,
    traffics.workload_id,
    traffics.gpu_scope,
    traffics.cost_allocation,
    traffics.traffic,
    traffics.price_series_id,
    traffics.usd_per_gpu_hour,
    decks.provider_id,
    decks.tier,
    decks.output_usd_per_million_tokens,
    traffics.usd as usd_per_million_tokens,
    case
        when traffics.usd <= decks.output_usd_per_million_tokens
            then traffics.usd / decks.output_usd_per_million_tokens
    end as break_even_utilisation,
    cast(traffics.usd_per_gpu_hour as double) / (decks.output_usd_per_million_tokens * 0.0036) as needed_tok_s_gpu,
    cast(traffics.usd_per_gpu_hour as double)
    / (decks.output_usd_per_million_tokens * 0.0036 * traffics.interactivity_tok_s_user)
        as break_even_sessions_per_gpu,
    case
        when traffics.usd is null then traffics.why_no_cost
        when traffics.usd > decks.output_usd_per_million_tokens then 'dearer_even_when_full'
    end as null_reason,
    traffics.evidence,
    traffics.eligible,
    decks.passes_on,
from traffics
inner join decks on traffics.model_id = decks.model_id
