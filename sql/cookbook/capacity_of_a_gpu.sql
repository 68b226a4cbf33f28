-- How many requests of a given length would a GPU serve in a day?
-- The rate was measured at another length where measured_output_tokens_per_request says so.
select
    chip_id,
    model_id,
    workload_id,
    gpu_scope,
    evidence,
    max(million_output_tokens_per_gpu_hour) as most_million_output_tokens_per_gpu_hour,
    max(million_output_tokens_per_gpu_day) as most_million_output_tokens_per_gpu_day,
    output_tokens_per_request,
    any_value(measured_output_tokens_per_request) as measured_output_tokens_per_request,
    max(requests_per_gpu_day) as most_request_count_per_gpu_day,
from mart.capacity
where assumption_id is null and null_reason is null
group by chip_id, model_id, workload_id, gpu_scope, evidence, output_tokens_per_request
order by model_id, workload_id, gpu_scope, evidence, output_tokens_per_request, most_million_output_tokens_per_gpu_day desc
