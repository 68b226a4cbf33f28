-- Which sources use names that nobody has mapped, and how many rows do they refuse?
-- The names themselves stand in clean.unmapped_name of the warehouse.
select
    source,
    kind,
    status,
    reason,
    unmapped_names as unmapped_name_count,
    rejected as rejected_count,
    not_applicable as not_applicable_count,
    accepted as accepted_count,
    candidates as candidate_count,
from mart.source_health
where candidates > 0 or unmapped_names > 0
order by unmapped_names desc, rejected desc, source
