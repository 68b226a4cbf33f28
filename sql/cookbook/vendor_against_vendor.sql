-- How do the vendors compare, each by its best ranked chip?
-- Ratio and percent are of unrounded costs; the base of both is the cheapest vendor on that basis.
with

costs as (
    select
        headline.model_id,
        headline.workload_id,
        chips.vendor,
        headline.chip_id,
        headline.precision,
        unnest([
            {'basis': 'on demand', 'usd': headline.on_demand_usd_per_million_tokens},
            {'basis': 'reserved for 36 months', 'usd': headline.reserved_36m_usd_per_million_tokens},
            {'basis': 'owning cost', 'usd': headline.owning_usd_per_million_tokens}
        ]) as cost,
    from mart.headline as headline
    inner join mart.chip as chips on headline.chip_id = chips.chip_id
    where headline.rank is not null
),

best as (
    select
        model_id,
        workload_id,
        cost.basis as basis,
        vendor,
        chip_id,
        precision,
        cost.usd as usd_per_million_tokens,
    from costs
    where cost.usd is not null
    qualify row_number() over (partition by model_id, workload_id, cost.basis, vendor order by cost.usd, chip_id) = 1
)

select
    *,
    usd_per_million_tokens / min(usd_per_million_tokens) over same_basis as over_cheapest_ratio,
    (usd_per_million_tokens / min(usd_per_million_tokens) over same_basis - 1) * 100 as dearer_than_cheapest_percent,
from best
window same_basis as (partition by model_id, workload_id, basis)
order by model_id, workload_id, basis, usd_per_million_tokens
