-- How many requests of a given length would a GPU serve in a day?
-- The point of most tokens of each family, in force. Its rate was measured at the length that the last column says.
select
    chip_id,
    model_id,
    workload_id,
    gpu_scope,
    evidence,
    million_output_tokens_per_gpu_hour,
    million_output_tokens_per_gpu_day,
    output_tokens_per_request,
    requests_per_gpu_day as request_count_per_gpu_day,
    requests_live_per_gpu_day as request_count_live_per_gpu_day,
    interactivity_tok_s_user,
    measured_output_tokens_per_request,
from mart.capacity
where assumption_id is null and null_reason is null and superseded_on is null
qualify row_number() over (
    partition by chip_id, model_id, workload_id, gpu_scope, evidence, request_length_id
    order by million_output_tokens_per_gpu_day desc, capacity_id
) = 1
order by model_id, workload_id, gpu_scope, evidence, output_tokens_per_request, million_output_tokens_per_gpu_day desc
