-- What a point makes if it runs on without a pause: output tokens in an hour and in a day, and the requests of a
-- given length that these would fill; one row per point, chip, GPU scope, assumption and request length. A point
-- that states only a speed per user has a figure per session, and one per GPU under each named assumption. Pure
-- arithmetic at the point's own rate: no queue, no peak, no downtime, and requests of another length would run at
-- another rate. What may be sold is less.
-- grain: capacity_id
-- column: capacity_id | key
-- column: benchmark_point_id | the point
-- column: point_label | the publisher's own name of the point
-- column: chip_id | the chip; another than the point's where a hardware factor leads to it
-- column: model_id | the model
-- column: workload_id | the workload under which the rate was measured
-- column: gpu_scope | GPUs that the figures per GPU divide by: all or decode; none where only a speed is known
-- column: assumption_id | the assumption behind the figures per GPU of a point that states only a speed; null: none is needed
-- column: sessions_per_gpu | sessions that share one GPU, assumed; null: none is assumed
-- column: interactivity_tok_s_user | speed of one session as stated
-- column: million_output_tokens_per_session_hour | speed x 3600 / 10^6: one session, never idle
-- column: million_output_tokens_per_session_day | speed x 86400 / 10^6
-- column: million_output_tokens_per_gpu_hour | output tokens of one GPU of the scope in an hour, before the live-traffic factor
-- column: million_output_tokens_per_gpu_day | the same in a day
-- column: live_traffic_factor | share of a benchmark throughput that live traffic reaches; 1 for live figures
-- column: million_output_tokens_live_per_gpu_hour | the same under live traffic, in an hour
-- column: million_output_tokens_live_per_gpu_day | the same under live traffic, in a day
-- column: request_length_id | the stated value that gives the length of a request; null: none is known
-- column: output_tokens_per_request | that length
-- column: request_length_class | assumed: a hypothetical length; else as stated_value says
-- column: requests_per_session_day | tokens of one session in a day / that length
-- column: requests_per_gpu_day | tokens of one GPU in a day / that length, before the live-traffic factor
-- column: requests_live_per_gpu_day | the same under live traffic
-- column: measured_output_tokens_per_request | mean length at which the rate was measured; null: not stated
-- column: null_reason | why the figures per GPU are null
-- column: live_null_reason | why those under live traffic are null
-- column: evidence | assumed where an assumption is behind the figures per GPU; else of the throughput
-- column: traffic_basis | what the rate was measured under: benchmark, replay or live
-- column: measured_on | day of measurement; null: not stated
-- column: superseded_on | day of the next point of the line; null: the newest
-- check: (million_output_tokens_per_gpu_day is null) = (null_reason is not null)
-- check: (million_output_tokens_live_per_gpu_day is null) = (live_null_reason is not null)
-- check: million_output_tokens_per_gpu_day is null or million_output_tokens_per_gpu_day > 0
with

views as (
    select * from core.benchmark_view where token_kind = 'output'
),

points as (
    select * from core.benchmark_point
),

workloads as (
    select * from raw.workload
),

assumptions as (
    select * from raw.session_assumption
),

run as (
    select * from core.run
),

lengths as (
    select
        figures.stated_value_id as request_length_id,
        case when figures.unit = 'tokens' and figures.value > 0 then figures.value end as output_tokens_per_request,
        figures.value_class as request_length_class,
    from raw.stated_value as figures
    cross join run
    where figures.metric = 'output_tokens_per_request'
        and figures.known_at <= run.as_of
),

rates as (
    select
        views.benchmark_point_id,
        views.chip_id,
        views.gpu_scope,
        assumptions.assumption_id,
        assumptions.sessions_per_gpu,
        points.interactivity_tok_s_user,
        case
            when views.gpu_scope = 'none' then points.interactivity_tok_s_user * assumptions.sessions_per_gpu
            else views.throughput_tok_s_gpu
        end as output_tok_s_gpu,
        views.live_traffic_factor,
        case
            when views.gpu_scope = 'none' then case when points.interactivity_tok_s_user is null then 'no_speed' end
            else views.null_reason
        end as null_reason,
        case when views.gpu_scope = 'none' then 'assumed' else views.evidence end as evidence,
    from views
    inner join points on views.benchmark_point_id = points.benchmark_point_id
    left join assumptions on views.gpu_scope = 'none'
)

select
    substr(
        md5(
            concat_ws(
                '|',
                rates.benchmark_point_id,
                rates.chip_id,
                rates.gpu_scope,
                coalesce(rates.assumption_id, '-'),
                coalesce(lengths.request_length_id, '-')
            )
        ),
        1,
        16
    ) as capacity_id,
    rates.benchmark_point_id,
    points.point_label,
    rates.chip_id,
    points.model_id,
    points.workload_id,
    rates.gpu_scope,
    rates.assumption_id,
    rates.sessions_per_gpu,
    rates.interactivity_tok_s_user,
    rates.interactivity_tok_s_user * 3600 / 1e6 as million_output_tokens_per_session_hour,
    rates.interactivity_tok_s_user * 86400 / 1e6 as million_output_tokens_per_session_day,
    rates.output_tok_s_gpu * 3600 / 1e6 as million_output_tokens_per_gpu_hour,
    rates.output_tok_s_gpu * 86400 / 1e6 as million_output_tokens_per_gpu_day,
    rates.live_traffic_factor,
    rates.output_tok_s_gpu * rates.live_traffic_factor * 3600 / 1e6 as million_output_tokens_live_per_gpu_hour,
    rates.output_tok_s_gpu * rates.live_traffic_factor * 86400 / 1e6 as million_output_tokens_live_per_gpu_day,
    lengths.request_length_id,
    lengths.output_tokens_per_request,
    lengths.request_length_class,
    rates.interactivity_tok_s_user * 86400 / lengths.output_tokens_per_request as requests_per_session_day,
    rates.output_tok_s_gpu * 86400 / lengths.output_tokens_per_request as requests_per_gpu_day,
    rates.output_tok_s_gpu * rates.live_traffic_factor * 86400 / lengths.output_tokens_per_request
        as requests_live_per_gpu_day,
    coalesce(points.osl_mean, workloads.output_tokens) as measured_output_tokens_per_request,
    coalesce(
        rates.null_reason,
        case when rates.output_tok_s_gpu is null then 'no_assumption' end
    ) as null_reason,
    coalesce(
        rates.null_reason,
        case
            when rates.output_tok_s_gpu is null then 'no_assumption'
            when rates.live_traffic_factor is null then 'no_factor'
        end
    ) as live_null_reason,
    rates.evidence,
    points.traffic_basis,
    points.measured_on,
    points.superseded_on,
from rates
inner join points on rates.benchmark_point_id = points.benchmark_point_id
left join workloads on points.workload_id = workloads.workload_id
left join lengths on true
