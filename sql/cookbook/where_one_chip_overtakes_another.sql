-- At which speed does one chip become cheaper than another?
-- A speed is empty where they change places in between, and one of them was not measured there.
select
    model_id,
    workload_id,
    gpu_scope,
    evidence,
    price_series_id,
    crossover_speed_tok_s_user,
    null_reason,
    usd_per_million_tokens,
    cheaper_below_chip_id,
    cheaper_above_chip_id,
from mart.chip_crossover
where token_kind = 'output' and crossing > 0
order by model_id, workload_id, gpu_scope, price_series_id, crossover_speed_tok_s_user, cheaper_below_chip_id
