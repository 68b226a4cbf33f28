-- How many tokens per second does a megawatt make, and what did the power constants change?
-- Greatest throughput of each chip, output and total apart, under each constant that its cost model used.
select
    chip_id,
    model_id,
    workload_id,
    token_kind,
    valid_from,
    valid_to,
    provisioned_power_kw_gpu,
    max(throughput_tok_s_gpu) as most_throughput_tok_s_gpu,
    max(tokens_per_s_per_mw) as most_tokens_per_s_per_mw,
from mart.energy_cost
where gpu_scope = 'all' and token_kind in ('output', 'total') and eligible and superseded_on is null
    and tokens_per_s_per_mw is not null
group by chip_id, model_id, workload_id, token_kind, valid_from, valid_to, provisioned_power_kw_gpu
qualify row_number() over (
    partition by chip_id, model_id, workload_id, token_kind, provisioned_power_kw_gpu
    order by max(throughput_tok_s_gpu) desc, valid_from
) = 1
order by model_id, workload_id, token_kind, most_tokens_per_s_per_mw desc
