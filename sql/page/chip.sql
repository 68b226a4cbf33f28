-- What is each measured chip called?
select
    chip_id,
    chip_name,
from mart.chip
where chip_id in (select chip_id from mart.benchmark_point)
order by chip_id
