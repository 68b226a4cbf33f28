-- What would a million output tokens cost at my own price per GPU-hour?
-- Type your prices by chip below: every precision and workload of the chip follows, and nothing that is stored changes.
with

my_prices as (
    select unnest([
        {'chip_id': 'h100-sxm-80', 'usd_per_gpu_hour': 1.90},
        {'chip_id': 'b200-sxm-180', 'usd_per_gpu_hour': 3.50}
    ], recursive := true)
)

select
    headline.chip_id,
    headline.precision,
    headline.model_id,
    headline.workload_id,
    headline.throughput_tok_s_gpu,
    headline.usd_per_gpu_hour as market_usd_per_gpu_hour,
    headline.usd_per_million_tokens as market_usd_per_million_tokens,
    my_prices.usd_per_gpu_hour as my_usd_per_gpu_hour,
    my_prices.usd_per_gpu_hour / (headline.throughput_tok_s_gpu * 3600 / 1e6) as my_usd_per_million_tokens,
from mart.headline as headline
inner join my_prices on headline.chip_id = my_prices.chip_id
order by headline.chip_id, headline.precision, headline.workload_id
