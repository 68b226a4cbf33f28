-- What a chip's best server makes at a speed today, whatever its precision, on each price series; one row per
-- comparison, chip, speed of the grid and price series. Of measured servers only those that may be ranked; curves of
-- other evidence classes are compared among themselves, labelled and never ranked.
-- grain: comparison_id, chip_id, speed_tok_s_user, price_series_id
-- column: comparison_id | model, workload, token kind, GPU scope, allocation, evidence, traffic and speed percentile
-- column: usd_per_gpu_hour | price in US dollars per GPU-hour today; null: see null_reason
-- column: null_reason | why one of throughput and price is missing; null: neither is
with

best as (
    select * from core.best_at_speed
),

timeline as (
    select * from core.price_timeline
),

series as (
    select * from core.price_series where price_basis <> 'provider_price'
),

run as (
    select cast(as_of at time zone 'UTC' as date) as today from core.run
),

chosen as (
    select
        *,
        case
            when evidence <> 'measured' and throughput_tok_s_gpu is not null then null
            else unranked_reason
        end as missing_reason,
    from best
    qualify row_number() over (
        partition by comparison_id, chip_id, speed_tok_s_user
        order by unranked_reason is null desc, throughput_tok_s_gpu is null, throughput_tok_s_gpu desc, frontier_id
    ) = 1
)

select
    chosen.comparison_id,
    chosen.model_id,
    chosen.workload_id,
    chosen.token_kind,
    chosen.gpu_scope,
    chosen.cost_allocation,
    chosen.evidence,
    chosen.traffic_basis,
    chosen.speed_percentile,
    chosen.chip_id,
    chosen.precision,
    chosen.speed_tok_s_user,
    chosen.is_tier,
    series.price_series_id,
    series.price_type,
    case when chosen.missing_reason is null then chosen.throughput_tok_s_gpu end as throughput_tok_s_gpu,
    cast(timeline.usd_per_gpu_hour as double) as usd_per_gpu_hour,
    case
        when chosen.missing_reason is null
            then cast(timeline.usd_per_gpu_hour as double) / (chosen.throughput_tok_s_gpu * 3600 / 1e6)
    end as usd_per_million_tokens,
    coalesce(chosen.missing_reason, timeline.null_reason) as null_reason,
    chosen.below_point_id,
    chosen.above_point_id,
    chosen.passes_on,
    chosen.frontier_id,
    chosen.serving_line_id,
from chosen
cross join run
inner join timeline
    on chosen.chip_id = timeline.chip_id
    and (timeline.valid_from is null or timeline.valid_from <= run.today)
    and (timeline.valid_to is null or timeline.valid_to > run.today)
inner join series on timeline.price_series_id = series.price_series_id
