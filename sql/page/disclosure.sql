-- What do the points behind an answer leave out, and what do the reports that a person read?
with

cheapest as (
    select * from mart.cheapest_at_speed where rank is not null
),

headline as (
    select * from mart.headline
),

used as (
    select below_point_id as point_id from cheapest
    union
    select above_point_id as point_id from cheapest
    union
    select benchmark_point_id as point_id from headline
),

disclosure as (
    select * from mart.benchmark_disclosure
),

points as (
    select * from mart.benchmark_point
)

select
    disclosure.subject_kind,
    disclosure.subject_id,
    case
        when disclosure.subject_kind = 'report' then disclosure.title
        else concat_ws(' ', points.chip_id, points.precision, points.engine, left(disclosure.subject_id, 6))
    end as subject,
    disclosure.title,
    points.chip_id,
    points.engine,
    points.evidence,
    points.measured_on,
    disclosure.disclosure_score,
    disclosure.missing_fields,
    disclosure.partial_fields,
    disclosure.failed_gates,
    disclosure.method_version,
from disclosure
left join points on disclosure.subject_id = points.benchmark_point_id
left join used on disclosure.subject_id = used.point_id
where disclosure.subject_kind = 'report' or used.point_id is not null
order by disclosure.subject_kind desc, disclosure.disclosure_score, disclosure.subject_id
