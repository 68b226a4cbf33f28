-- A field of the disclosure score that no rule judges, a weight that is missing from the hundred, a report that
-- states a field nobody asks for.
select
    'weights do not sum to 100' as problem,
    cast(sum(weight) as varchar) as value,
from raw.disclosure_weight
where version = 'v1'
having sum(weight) <> 100

union all

select
    'unknown field in report_statement' as problem,
    statements.field as value,
from raw.report_statement as statements
left join raw.disclosure_weight as weights
    on weights.version = 'v1'
    and statements.field = weights.field
where weights.field is null

union all

select
    'no rule for a field' as problem,
    benchmark_point_id as value,
from core.benchmark_disclosure
where disclosure_score is null
