-- Figures of one fact are corrected together: one locator, one file, one known_at, each figure once. Otherwise the order
-- of rows would decide.
with

in_force as (
    select * from core.correction where action = 'correct' and recorded_to is null
),

results as (
    select * from core.benchmark_result where corrected_by is not null and recorded_to is null
)

select
    concat(
        'seeds/correction: ',
        locator,
        ' stands with a figure twice, in two files or with two known_at: state its figures once each, with one known_at'
    ) as message,
from in_force
group by row_kind, locator
having count(*) > count(distinct field)
    or count(distinct known_at) > 1
    or count(distinct source) > 1

union all

select
    concat(
        'seeds/correction: ',
        min(corrected_by),
        ' and ',
        max(corrected_by),
        ' name the same result: keep one of the two locators'
    ) as message,
from results
group by source, snapshot_id, row_number
having count(distinct corrected_by) > 1
