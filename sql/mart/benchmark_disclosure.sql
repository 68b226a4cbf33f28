-- What a benchmark states and what it leaves out, scored; one row per point, and per report that a person read.
-- grain: subject_kind, subject_id
-- column: subject_kind | point: scored from its data; report: scored by reading it
-- column: subject_id | benchmark_point_id, or the report's key
-- column: title | publisher and line of the point, or the report's title
-- column: method_version | version of fields and weights
-- column: disclosure_score | 0 to 100
-- column: missing_fields | what is not stated, comma-separated; null: nothing
-- column: partial_fields | what is stated in part; null: nothing
-- column: failed_gates | missing fields without which a figure is never ranked; null: none
-- column: url | where a person can look
-- column: known_at | when the world could know it
-- check: disclosure_score between 0 and 100
with

points as (
    select * from core.benchmark_point
),

scores as (
    select * from core.benchmark_disclosure
),

weights as (
    select * from raw.disclosure_weight where version = 'v1'
),

statements as (
    select * from raw.report_statement
),

run as (
    select * from core.run
),

reports as (
    select reports.*
    from raw.report as reports
    cross join run
    where reports.known_at <= run.as_of
),

read_items as (
    select
        reports.report_id,
        weights.version,
        weights.field,
        weights.field_order,
        weights.weight,
        weights.is_gate,
        coalesce(statements.stated, 0) as stated,
    from reports
    cross join weights
    left join statements
        on reports.report_id = statements.report_id
        and weights.field = statements.field
),

read_scores as (
    select
        report_id,
        version as method_version,
        sum(weight * stated) as disclosure_score,
        string_agg(case when stated = 0 then field end, ', ' order by field_order) as missing_fields,
        string_agg(case when stated = 0.5 then field end, ', ' order by field_order) as partial_fields,
        string_agg(case when stated = 0 and is_gate then field end, ', ' order by field_order) as failed_gates,
    from read_items
    group by report_id, version
)

select
    'point' as subject_kind,
    points.benchmark_point_id as subject_id,
    points.line_id as title,
    scores.method_version,
    scores.disclosure_score,
    scores.missing_fields,
    scores.partial_fields,
    scores.failed_gates,
    points.url,
    points.known_at,
from scores
inner join points on scores.benchmark_point_id = points.benchmark_point_id

union all

select
    'report' as subject_kind,
    reports.report_id as subject_id,
    reports.title,
    read_scores.method_version,
    read_scores.disclosure_score,
    read_scores.missing_fields,
    read_scores.partial_fields,
    read_scores.failed_gates,
    reports.url,
    reports.known_at,
from read_scores
inner join reports on read_scores.report_id = reports.report_id
