-- A name that no alias explains, kept where a person sees it; one row per domain, source and raw name.
-- Its rows stay in clean and reach no price and no point until seeds/ says what the name means.
-- grain: domain, source, raw_name
-- column: domain | chip, model or provider
-- column: raw_name | the name as the source writes it
-- column: row_count | rows that carry it
with

names as (
    select * from clean.resolved_name
)

select
    domain,
    source,
    raw_name,
    max(matched_by) as matched_by,
    cast(sum(row_count) as bigint) as row_count,
    min(first_seen_at) as first_seen_at,
    max(last_seen_at) as last_seen_at,
from names
where canonical_id is null
group by domain, source, raw_name
