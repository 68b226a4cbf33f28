-- The answer on one screen: cost of a million output tokens by chip, all GPUs and the whole bill, on the newest
-- day that has a cost on the headline's price series, with the other bases beside it; one row per model,
-- workload, chip and precision. A chip that cannot be ranked is listed with the reason.
-- grain: model_id, workload_id, chip_id, precision
-- column: date | the day
-- column: age_days | days between it and the run's as_of
-- column: model_id | the model
-- column: workload_id | the workload
-- column: chip_id | the chip
-- column: precision | precision of the weights
-- column: rank | 1 is the cheapest among the ranked; null: see unranked_reason
-- column: unranked_reason | why the row is not ranked
-- column: usd_per_million_tokens | on the price series that the rank compares
-- column: usd_per_gpu_hour | price behind it
-- column: price_series_id | the price series that the rank compares: the first in order of those beside the headline that is known
-- column: price_age_days | days since that price was observed
-- column: on_demand_usd_per_million_tokens | the same point on the on-demand price beside the headline
-- column: reserved_36m_usd_per_million_tokens | the same point on the 36-month rent of a published cost model
-- column: owning_usd_per_million_tokens | the same point on the owning cost of a published cost model
-- column: throughput_tok_s_gpu | output tokens per second / all GPUs
-- column: interactivity_tok_s_user | output speed that one user sees there
-- column: ttft_p50_ms | time to first token there, median
-- column: engine | serving engine
-- column: benchmark_age_days | days since the point was measured
-- column: evidence | always measured here
-- column: disclosure_score | 0 to 100
-- column: serving_line_id | one deployable server in one run
-- column: benchmark_point_id | the point
-- column: cost_id | the row of cost_per_million_tokens
-- check: (rank is null) = (unranked_reason is not null)
with

daily as (
    select *
    from mart.cost_per_million_tokens_daily
    where token_kind = 'output'
        and gpu_scope = 'all'
        and cost_allocation = 'whole_bill'
        and evidence = 'measured'
        and speed_tier = 'max_throughput'
    -- The families of a chip and precision differ in traffic and in whose speed is stated: what may be ranked first.
    qualify row_number() over (
        partition by date, model_id, workload_id, chip_id, precision, price_series_id
        order by eligible desc, throughput_tok_s_gpu desc, benchmark_point_id
    ) = 1
),

series as (
    select * from core.price_series
),

workloads as (
    select * from raw.workload where ranked
),

run as (
    select * from core.run
),

first_basis as (
    select price_series_id
    from series
    where headline_order = (select min(headline_order) from series)
),

-- One day for all chips of a comparison: prices of different days are not compared.
newest as (
    select
        daily.model_id,
        daily.workload_id,
        max(daily.date) as date,
    from daily
    inner join first_basis on daily.price_series_id = first_basis.price_series_id
    inner join workloads on daily.workload_id = workloads.workload_id
    where daily.usd_per_million_tokens is not null
    group by daily.model_id, daily.workload_id
),

-- Every basis beside the headline at once, for they pick different winners.
beside as (
    select
        daily.date,
        daily.model_id,
        daily.workload_id,
        daily.chip_id,
        daily.precision,
        max(case when series.price_type = 'on_demand' then daily.usd_per_million_tokens end)
            as on_demand_usd_per_million_tokens,
        max(case when series.commitment_months = 36 then daily.usd_per_million_tokens end)
            as reserved_36m_usd_per_million_tokens,
        max(case when series.price_type = 'owning_cost' then daily.usd_per_million_tokens end)
            as owning_usd_per_million_tokens,
    from daily
    inner join series on daily.price_series_id = series.price_series_id
    where series.headline_order is not null
    group by daily.date, daily.model_id, daily.workload_id, daily.chip_id, daily.precision
),

listed as (
    select
        daily.*,
        beside.on_demand_usd_per_million_tokens,
        beside.reserved_36m_usd_per_million_tokens,
        beside.owning_usd_per_million_tokens,
        coalesce(
            daily.null_reason,
            case when not daily.eligible then daily.eligibility_reason end
        ) as unranked_reason,
    from daily
    inner join first_basis on daily.price_series_id = first_basis.price_series_id
    inner join newest
        on daily.model_id = newest.model_id
        and daily.workload_id = newest.workload_id
        and daily.date = newest.date
    left join beside
        on daily.date = beside.date
        and daily.model_id = beside.model_id
        and daily.workload_id = beside.workload_id
        and daily.chip_id = beside.chip_id
        and daily.precision is not distinct from beside.precision
)

select
    listed.date,
    date_diff('day', listed.date, cast(run.as_of at time zone 'UTC' as date)) as age_days,
    listed.model_id,
    listed.workload_id,
    listed.chip_id,
    listed.precision,
    case
        when listed.unranked_reason is null then rank() over (
            partition by listed.model_id, listed.workload_id, listed.unranked_reason
            order by listed.usd_per_million_tokens
        )
    end as rank,
    listed.unranked_reason,
    listed.usd_per_million_tokens,
    listed.usd_per_gpu_hour,
    listed.price_series_id,
    listed.price_age_days,
    listed.on_demand_usd_per_million_tokens,
    listed.reserved_36m_usd_per_million_tokens,
    listed.owning_usd_per_million_tokens,
    listed.throughput_tok_s_gpu,
    listed.interactivity_tok_s_user,
    listed.ttft_p50_ms,
    listed.engine,
    listed.benchmark_age_days,
    listed.evidence,
    listed.disclosure_score,
    listed.serving_line_id,
    listed.benchmark_point_id,
    listed.cost_id,
from listed
cross join run
