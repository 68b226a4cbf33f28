-- At which speed does one chip become cheaper than another?
-- Measured servers, all GPUs, the whole bill. Where two change places between speeds that were not both measured, that
-- is said and no speed.
select
    model_id,
    workload_id,
    coalesce(speed_percentile, 'not stated') as speed_percentile,
    price_series_id,
    cheaper_below_chip_id,
    cheaper_above_chip_id,
    crossover_speed_tok_s_user as speed_tok_s_user,
    usd_per_million_tokens,
    evidence,
    null_reason,
    method_version,
from mart.chip_crossover
where token_kind = 'output'
    and gpu_scope = 'all'
    and cost_allocation = 'whole_bill'
    and evidence = 'measured'
    and crossing > 0
order by
    model_id,
    workload_id,
    speed_percentile,
    price_series_id,
    crossover_speed_tok_s_user,
    cheaper_below_chip_id,
    cheaper_above_chip_id
