-- How many GPUs would carry a daily token volume at the best point of each family in force, if all of it looked
-- like that family's workload; one row per volume, family and utilisation assumed. The best point is the one of
-- most tokens per GPU among those that may be ranked, and among all of the family only where none may. A volume
-- is of one token kind and meets that kind's throughput over all GPUs, never one of a role.
-- grain: fleet_size_id
-- column: fleet_size_id | key
-- column: volume_id | the daily volume
-- column: tokens_per_day | tokens a day, of token_kind
-- column: volume_class | stated, derived, assumed or not_reproducible, as stated_value says
-- column: token_kind | output or total (input and output)
-- column: chip_id | the chip
-- column: model_id | the model of the family, not of the volume
-- column: precision | precision of the weights
-- column: workload_id | the workload that all of the volume is taken for
-- column: benchmark_point_id | the best point
-- column: throughput_tok_s_gpu | tokens per second / all GPUs there, before the live-traffic factor
-- column: interactivity_tok_s_user | speed that one user sees there
-- column: utilisation_id | the assumption on utilisation
-- column: utilisation | share of hours at that rate, assumed; never blended with the live-traffic factor
-- column: live_traffic_factor | share of a benchmark throughput that live traffic reaches; 1 for live figures
-- column: gpu_count | whole GPUs at the point's own rate and that utilisation
-- column: gpu_count_live | the same under live traffic
-- column: null_reason | why gpu_count is null
-- column: live_null_reason | why gpu_count_live is null
-- column: traffic_basis | what the throughput was measured under: benchmark, replay or live
-- column: evidence | evidence class of the throughput
-- column: eligible | the point may be ranked
-- column: eligibility_reason | eligible, or the first gate that it fails
-- column: measured_on | day on which the point was measured; null: not stated
-- check: (gpu_count is null) = (null_reason is not null)
-- check: (gpu_count_live is null) = (live_null_reason is not null)
-- check: gpu_count is null or gpu_count >= 1
with

views as (
    select *
    from core.benchmark_view
    where gpu_scope = 'all'
        and token_kind in ('output', 'total')
        and throughput_tok_s_gpu is not null
),

points as (
    select * from core.benchmark_point where superseded_on is null
),

eligibility as (
    select * from core.benchmark_eligibility
),

assumptions as (
    select * from raw.utilisation_assumption
),

run as (
    select * from core.run
),

volumes as (
    select
        daily.volume_id,
        daily.token_kind,
        case when figures.unit = 'tokens per day' and figures.value > 0 then figures.value end as tokens_per_day,
        figures.value_class,
    from raw.daily_volume as daily
    inner join raw.stated_value as figures on daily.stated_value_id = figures.stated_value_id
    cross join run
    where figures.known_at <= run.as_of
),

best as (
    select
        views.benchmark_point_id,
        views.chip_id,
        points.model_id,
        points.weight_precision as precision,
        points.workload_id,
        views.token_kind,
        views.throughput_tok_s_gpu,
        views.live_traffic_factor,
        points.interactivity_tok_s_user,
        points.traffic_basis,
        points.measured_on,
        views.evidence,
        eligibility.eligible and views.evidence = points.evidence as eligible,
        case
            when eligibility.eligible and views.evidence <> points.evidence
                then concat('evidence_is_', views.evidence)
            else eligibility.eligibility_reason
        end as eligibility_reason,
    from views
    inner join points on views.benchmark_point_id = points.benchmark_point_id
    inner join eligibility on views.benchmark_point_id = eligibility.benchmark_point_id
    qualify row_number() over (
        partition by
            views.chip_id,
            points.model_id,
            points.weight_precision,
            points.workload_id,
            views.token_kind,
            views.evidence,
            points.traffic_basis
        order by
            (eligibility.eligible and views.evidence = points.evidence) desc,
            views.throughput_tok_s_gpu desc,
            views.benchmark_point_id
    ) = 1
),

sized as (
    select
        volumes.volume_id,
        volumes.tokens_per_day,
        volumes.value_class,
        best.*,
        assumptions.utilisation_id,
        assumptions.utilisation,
        volumes.tokens_per_day / 86400 / best.throughput_tok_s_gpu / nullif(assumptions.utilisation, 0) as gpus,
        case
            when volumes.tokens_per_day is null then 'volume_unknown'
            when assumptions.utilisation = 0 then 'zero_utilisation'
        end as null_reason,
    from volumes
    inner join best on volumes.token_kind = best.token_kind
    cross join assumptions
)

select
    substr(
        md5(concat_ws('|', volume_id, benchmark_point_id, chip_id, token_kind, evidence, utilisation_id)), 1, 16
    ) as fleet_size_id,
    volume_id,
    tokens_per_day,
    value_class as volume_class,
    token_kind,
    chip_id,
    model_id,
    precision,
    workload_id,
    benchmark_point_id,
    throughput_tok_s_gpu,
    interactivity_tok_s_user,
    utilisation_id,
    utilisation,
    live_traffic_factor,
    -- Rounded first, for a whole number must not become the next one by the last bit of a double.
    cast(case when gpus < 1 then 1 else ceil(round(gpus, 6)) end as bigint) as gpu_count,
    cast(case when gpus / live_traffic_factor < 1 then 1 else ceil(round(gpus / live_traffic_factor, 6)) end as bigint)
        as gpu_count_live,
    null_reason,
    coalesce(null_reason, case when live_traffic_factor is null then 'no_factor' end) as live_null_reason,
    traffic_basis,
    evidence,
    eligible,
    eligibility_reason,
    measured_on,
from sized
