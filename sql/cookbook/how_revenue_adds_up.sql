-- How does 38 $ of revenue per GPU-hour add up?
-- One hour of a decode GPU with the prefill GPUs that feed it, at off-peak prices: most tokens are read from a cache,
-- most revenue is not. The cached share is solved for so that the pair averages what was stated: no measurement.
with

solved as (
    select * from mart.cached_share_solution where cached_share is not null
),

kinds as (
    select
        stated_value_id,
        provider_id,
        tier,
        point_label,
        1 + prefill_gpus_per_decode_gpu as gpu_count,
        unnest([
            {
                'token_kind': 'output',
                'tok_s': output_tok_s_decode_gpu_live
            },
            {
                'token_kind': 'input',
                'tok_s': uncached_input_tok_s_prefill_gpu_live * prefill_gpus_per_decode_gpu
            },
            {
                'token_kind': 'cached_input',
                'tok_s': cached_input_tok_s_prefill_gpu_live * prefill_gpus_per_decode_gpu
            }
        ], recursive := true),
        deck_effective_from,
    from solved
),

sold as (
    select
        kinds.*,
        prices.usd_per_million_tokens,
        kinds.tok_s * 3600 / 1e6 as million_tokens_per_hour,
        kinds.tok_s * 3600 / 1e6 * cast(prices.usd_per_million_tokens as double) as revenue_usd_per_hour,
    from kinds
    inner join mart.benchmark_point as points on kinds.point_label = points.point_label
    inner join mart.token_price_daily as prices
        on kinds.provider_id = prices.provider_id
        and kinds.tier = prices.tier
        and points.model_id = prices.model_id
        and kinds.token_kind = prices.token_kind
        and kinds.deck_effective_from = prices.date
)

select
    point_label,
    token_kind,
    million_tokens_per_hour,
    usd_per_million_tokens,
    revenue_usd_per_hour,
    million_tokens_per_hour / sum(million_tokens_per_hour) over same_point as token_share,
    revenue_usd_per_hour / sum(revenue_usd_per_hour) over same_point as revenue_share,
    gpu_count,
    sum(revenue_usd_per_hour) over same_point / gpu_count as all_kinds_usd_per_gpu_hour,
from sold
window same_point as (partition by stated_value_id, provider_id, tier, point_label)
order by point_label, tier, revenue_usd_per_hour desc
