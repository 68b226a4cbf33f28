-- What a task that succeeds costs, under a named assumption of attempts, successes and tokens: failed attempts are
-- paid for too; one row per assumption, row of the headline and price series beside it. The whole bill of output
-- tokens stands for the rent, so the input that the workload holds per output token is in it, and the judging of
-- an attempt is not.
-- grain: task_assumption_id, workload_id, chip_id, precision, price_series_id
-- column: task_assumption_id | the assumption, described in its seed
-- column: description | the assumption in words
-- column: model_id | the model
-- column: workload_id | the workload whose cost stands for the attempts
-- column: chip_id | the chip
-- column: precision | precision of the weights
-- column: price_series_id | the price series
-- column: date | day of the headline
-- column: attempts | attempts paid for
-- column: successes | of these, those that succeed
-- column: output_tokens_per_attempt | output tokens that an attempt takes, thinking included
-- column: usd_per_million_tokens | cost of a million output tokens, all GPUs, whole bill
-- column: usd_per_attempt | cost of one attempt more
-- column: usd_per_successful_task | usd_per_attempt x attempts / successes
-- column: null_reason | why usd_per_successful_task is null
-- column: value_class | class of the assumption
-- column: evidence | always assumed: the attempts are
-- check: (usd_per_successful_task is null) = (null_reason is not null)
-- check: usd_per_successful_task is null or usd_per_successful_task >= usd_per_attempt
with

headline as (
    select * from mart.headline
),

daily as (
    select *
    from mart.cost_per_million_tokens_daily
    where token_kind = 'output'
        and gpu_scope = 'all'
        and cost_allocation = 'whole_bill'
        and evidence = 'measured'
        and speed_tier = 'max_throughput'
),

series as (
    select * from core.price_series where headline_order is not null
),

run as (
    select * from core.run
),

assumptions as (
    select tasks.*
    from raw.task_assumption as tasks
    cross join run
    where tasks.known_at <= run.as_of
),

costs as (
    select
        headline.model_id,
        headline.workload_id,
        headline.chip_id,
        headline.precision,
        headline.date,
        daily.price_series_id,
        daily.usd_per_million_tokens,
        daily.null_reason,
    from headline
    inner join daily
        on headline.date = daily.date
        and headline.model_id = daily.model_id
        and headline.workload_id = daily.workload_id
        and headline.chip_id = daily.chip_id
        and headline.precision is not distinct from daily.precision
        and headline.benchmark_point_id = daily.benchmark_point_id
    inner join series on daily.price_series_id = series.price_series_id
)

select
    assumptions.task_assumption_id,
    assumptions.description,
    costs.model_id,
    costs.workload_id,
    costs.chip_id,
    costs.precision,
    costs.price_series_id,
    costs.date,
    assumptions.attempts,
    assumptions.successes,
    assumptions.output_tokens_per_attempt,
    costs.usd_per_million_tokens,
    costs.usd_per_million_tokens * assumptions.output_tokens_per_attempt / 1e6 as usd_per_attempt,
    costs.usd_per_million_tokens * assumptions.output_tokens_per_attempt / 1e6
    * assumptions.attempts / nullif(assumptions.successes, 0) as usd_per_successful_task,
    case
        when assumptions.successes = 0 then 'no_success'
        else costs.null_reason
    end as null_reason,
    assumptions.value_class,
    'assumed' as evidence,
from assumptions
inner join costs on assumptions.model_id = costs.model_id
