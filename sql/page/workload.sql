-- What does each workload look like?
select
    workload_id,
    workload_name,
    ranked,
    note,
from mart.workload
order by workload_id
