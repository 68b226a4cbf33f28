-- Do the stated fleet, its daily tokens and its revenue hang together?
-- What the fleet would earn in a year at the stated revenue, beside the figures that the text gives.
select
    solution.fleet_gpu_count,
    solution.tokens_per_day,
    solution.stated_revenue_usd_per_gpu_hour,
    solution.fleet_revenue_usd_per_year / 1e9 as billion_usd_per_year,
    figures.metric as beside_metric,
    figures.value as beside_figure_in_unit,
    figures.unit as beside_unit,
    figures.value_class,
    figures.source,
from mart.cached_share_solution as solution
cross join mart.stated_value as figures
where figures.unit = 'billion USD per year'
order by solution.stated_value_id, figures.value, figures.stated_value_id
