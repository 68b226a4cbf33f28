-- What does a report leave out?
-- Reports that a person read, and points, from the least disclosed on.
select
    subject_kind,
    title,
    subject_id,
    disclosure_score,
    missing_fields,
    partial_fields,
    failed_gates,
    method_version,
from mart.benchmark_disclosure
order by disclosure_score, subject_kind, subject_id
