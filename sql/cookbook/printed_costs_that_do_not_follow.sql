-- Which printed costs do not follow from the price and throughput printed beside them?
select
    printed_table_id,
    row_order,
    usd_per_gpu_hour,
    throughput_tok_s_gpu,
    printed_usd_per_million_tokens,
    rounded_usd_per_million_tokens,
    usd_per_million_tokens,
    off_by_percent,
    source,
from mart.printed_cost_check
where not agrees
order by printed_table_id, row_order
