-- What is missing from the headline, and why?
-- Chips that are listed and not ranked, and families that have points and no ranked one at all.
select
    'in the headline, not ranked' as state,
    model_id,
    workload_id,
    chip_id,
    precision,
    unranked_reason as reason,
    1 as point_count,
from mart.headline
where rank is null

union all

select
    'not in the headline' as state,
    model_id,
    workload_id,
    chip_id,
    precision,
    string_agg(distinct eligibility_reason, ', ' order by eligibility_reason) as reason,
    count(*) as point_count,
from mart.benchmark_point
group by model_id, workload_id, chip_id, precision
having not bool_or(eligible)
order by state, model_id, chip_id, workload_id, precision
