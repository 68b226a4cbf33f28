-- The speeds at which frontiers are read; one row per speed.
-- grain: speed_tok_s_user
-- column: is_tier | one of the speeds that headlines compare: 30, 50, 75, 100, 150, 200
with

parameters as (
    select
        max(case when parameter = 'grid_slowest' then value end) as slowest,
        max(case when parameter = 'grid_fastest' then value end) as fastest,
        max(case when parameter = 'grid_step' then value end) as step,
    from raw.method_parameter
    where method = 'frontier' and version = 'v1'
),

steps as (
    select
        slowest,
        step,
        unnest(generate_series(0, cast((fastest - slowest) / step as bigint))) as steps_up,
    from parameters
)

select
    slowest + steps_up * step as speed_tok_s_user,
    slowest + steps_up * step in (30, 50, 75, 100, 150, 200) as is_tier,
from steps
