-- One benchmark point that stands, as this run knows it; one row per point. One that was retracted is gone from
-- the day on which that could be known.
-- grain: benchmark_point_id
-- column: superseded_on | day of the next point of the same line; null: the newest
with

points as (
    select * from core.benchmark_statement where retracted_on is null
),

successors as (
    select
        publisher,
        supersedes_label,
        min(measured_from) as superseded_on,
    from points
    where supersedes_label is not null
    group by publisher, supersedes_label
)

select
    points.*,
    coalesce(
        successors.superseded_on,
        lead(points.measured_from) over (
            partition by points.line_id
            order by
                points.measured_from,
                try_cast(points.run_id as bigint) nulls first,
                points.known_at,
                points.benchmark_point_id
        )
    ) as superseded_on,
from points
left join successors
    on points.publisher = successors.publisher
    and points.point_label = successors.supersedes_label
