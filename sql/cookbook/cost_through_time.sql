-- How has the cost of a million output tokens moved on each chip, month by month?
-- On the 36-month rent of a published cost model, first day of each month, best point in force that may be ranked.
select
    date,
    chip_id,
    precision,
    model_id,
    workload_id,
    usd_per_gpu_hour,
    throughput_tok_s_gpu,
    usd_per_million_tokens,
    benchmark_age_days,
from mart.cost_per_million_tokens_daily
where price_series_id = 'index:inferencex_reserved_36m:reserved:36m'
    and token_kind = 'output'
    and gpu_scope = 'all'
    and cost_allocation = 'whole_bill'
    and evidence = 'measured'
    and speed_tier = 'max_throughput'
    and eligible
    and usd_per_million_tokens is not null
    and day(date) = 1
order by chip_id, precision, date
