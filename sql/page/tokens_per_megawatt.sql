-- How many tokens per second does a megawatt make on each chip?
-- The point that makes most, among those that may be ranked; all GPUs, all-in power as provided and not as drawn.
with

energy as (
    select *
    from mart.energy_cost
    where gpu_scope = 'all'
        and token_kind = 'output'
        and eligible
        and superseded_on is null
        and valid_to is null
        and tokens_per_s_per_mw is not null
),

points as (
    select * from mart.benchmark_point
),

run as (
    select cast(as_of at time zone 'UTC' as date) as today from core.run
),

most as (
    select *
    from energy
    qualify row_number() over (
        partition by chip_id, model_id, workload_id
        order by tokens_per_s_per_mw desc, benchmark_point_id, energy_cost_id
    ) = 1
)

select
    most.model_id,
    most.workload_id,
    most.chip_id,
    points.precision,
    points.engine,
    most.tokens_per_s_per_mw,
    most.throughput_tok_s_gpu,
    most.provisioned_power_kw_gpu,
    most.provisioned_power_basis,
    points.interactivity_tok_s_user,
    most.evidence,
    most.measured_on,
    date_diff('day', most.measured_on, run.today) as benchmark_age_days,
from most
inner join points on most.benchmark_point_id = points.benchmark_point_id
cross join run
order by most.model_id, most.workload_id, most.tokens_per_s_per_mw desc, most.chip_id
