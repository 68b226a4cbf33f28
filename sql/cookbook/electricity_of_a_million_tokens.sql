-- What does the electricity of a million output tokens cost, chip by chip?
-- By the all-in power that a cost model provides, at the price assumed; measured boards stand in columns of their own.
select
    chip_id,
    model_id,
    workload_id,
    electricity_price_id,
    usd_per_kwh,
    throughput_tok_s_gpu,
    provisioned_power_kw_gpu,
    provisioned_joules_per_token,
    provisioned_usd_per_million_tokens,
    board_power_w_gpu,
    board_usd_per_million_tokens,
    board_null_reason,
    valid_from,
from mart.energy_cost
where token_kind = 'output' and gpu_scope = 'all' and eligible and superseded_on is null and valid_to is null
    and provisioned_usd_per_million_tokens is not null
qualify row_number() over (
    partition by chip_id, model_id, workload_id, electricity_price_id order by throughput_tok_s_gpu desc, energy_cost_id
) = 1
order by model_id, workload_id, electricity_price_id, provisioned_usd_per_million_tokens
