-- If tokens become cheaper, is less spent on them or more?
-- A scenario: cost falls as 596 -> 848 tokens per second would have it at equal sessions and price, and all of it is
-- passed on; tokens sold follow with the elasticity assumed. Above an elasticity of 1 spending rises.
with

elasticities as (
    select unnest([0.0, 0.5, 1.0, 1.5, 2.0]) as demand_elasticity_ratio
),

fall as (
    select 1 + conditional_cost_percent / 100 as cost_ratio,
    from mart.yield_change
    where metric = 'interactivity_tok_s_user'
    order by after_on desc, change_id
    limit 1
)

select
    elasticities.demand_elasticity_ratio,
    (fall.cost_ratio - 1) * 100 as cost_change_percent,
    (power(fall.cost_ratio, -elasticities.demand_elasticity_ratio) - 1) * 100 as tokens_change_percent,
    (power(fall.cost_ratio, 1 - elasticities.demand_elasticity_ratio) - 1) * 100 as spending_change_percent,
from fall
cross join elasticities
order by elasticities.demand_elasticity_ratio
