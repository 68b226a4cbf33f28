-- What rent would make one chip as cheap per token as another is at its price?
-- At equal speed per user; above 1, the chip rents for more than its tokens are worth against the reference.
select
    model_id,
    workload_id,
    speed_tok_s_user,
    price_series_id,
    chip_id,
    precision,
    reference_chip_id,
    reference_precision,
    reference_usd_per_gpu_hour,
    parity_rent_usd_per_gpu_hour,
    usd_per_gpu_hour as market_usd_per_gpu_hour,
    rent_over_parity as rent_over_parity_ratio,
from mart.parity_rent
where token_kind = 'output'
    and evidence = 'measured'
    and gpu_scope = 'all'
    and parity_rent_usd_per_gpu_hour is not null
order by model_id, workload_id, price_series_id, speed_tok_s_user, chip_id, precision, reference_chip_id, reference_precision
