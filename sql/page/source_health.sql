-- How is each source doing, and what became of its candidates?
select
    source,
    kind,
    title,
    status,
    reason,
    is_fetched,
    seen_live,
    cast(last_success_at at time zone 'UTC' as date) as last_success_on,
    age_hours / 24 as age_days,
    candidates,
    accepted,
    rejected,
    not_applicable,
    unmapped_names,
from mart.source_health
order by
    case status when 'failing' then 1 when 'degraded' then 2 when 'stale' then 3 when 'ok' then 4 else 5 end,
    source
