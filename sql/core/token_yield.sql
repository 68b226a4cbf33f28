-- What one GPU makes in a second, apart by the kinds of token that a price deck knows; one row per point, chip and
-- GPU scope. A decode GPU is credited with output and a prefill GPU with input, so that both roles together make
-- what all GPUs make. A mix is that of the point's own workload: no throughput is carried over to another.
-- grain: benchmark_point_id, chip_id, gpu_scope
-- column: uncached_input_tok_s_gpu | input tokens computed, per second and GPU of the scope, before the live-traffic factor
-- column: cached_input_tok_s_gpu | input tokens read from a cache
-- column: output_tok_s_gpu | output tokens
-- column: cached_share | share of input read from a cache
-- column: mix_class | how that share is known: measured (hit rate of the run), stated, derived or assumed (of the workload)
-- column: evidence | of the throughput; assumed where the mix is
-- column: null_reason | why the three are not all known
-- check: (null_reason is null) = (uncached_input_tok_s_gpu + cached_input_tok_s_gpu + output_tok_s_gpu is not null)
-- check: cached_share is null or (cached_share >= 0 and cached_share <= 1)
with

views as (
    select * from core.benchmark_view
),

points as (
    select * from core.benchmark_point
),

workloads as (
    select * from raw.workload
),

scopes as (
    select
        benchmark_point_id,
        chip_id,
        gpu_scope,
        max(case when token_kind = 'output' then throughput_tok_s_gpu end) as output_tok_s_gpu,
        max(case when token_kind = 'input' then throughput_tok_s_gpu end) as input_tok_s_gpu,
        max(case when token_kind = 'total' then throughput_tok_s_gpu end) as total_tok_s_gpu,
        max(case when token_kind = 'output' then evidence end) as output_evidence,
        max(case when token_kind = 'input' then evidence end) as input_evidence,
        max(case when token_kind = 'output' then null_reason end) as null_reason,
        max(live_traffic_factor) as live_traffic_factor,
    from views
    group by benchmark_point_id, chip_id, gpu_scope
),

flows as (
    select
        scopes.benchmark_point_id,
        scopes.chip_id,
        scopes.gpu_scope,
        scopes.live_traffic_factor,
        coalesce(scopes.output_evidence, scopes.input_evidence) as evidence,
        case when scopes.gpu_scope = 'prefill' then cast(0 as double) else scopes.output_tok_s_gpu end
            as output_tok_s_gpu,
        case
            when scopes.gpu_scope = 'decode' then cast(0 as double)
            else coalesce(scopes.input_tok_s_gpu, scopes.total_tok_s_gpu - scopes.output_tok_s_gpu)
        end as input_tok_s_gpu,
        -- A hit rate of the run says more than the mix of its workload.
        coalesce(
            points.cache_hit_rate,
            workloads.cached_input_tokens / (workloads.cached_input_tokens + workloads.uncached_input_tokens)
        ) as cached_share,
        case when points.cache_hit_rate is null then workloads.mix_class else 'measured' end as mix_class,
        scopes.null_reason,
    from scopes
    inner join points on scopes.benchmark_point_id = points.benchmark_point_id
    left join workloads on points.workload_id = workloads.workload_id
),

judged as (
    select
        benchmark_point_id,
        chip_id,
        gpu_scope,
        live_traffic_factor,
        evidence,
        output_tok_s_gpu,
        input_tok_s_gpu,
        case when gpu_scope <> 'decode' then cached_share end as cached_share,
        case when gpu_scope <> 'decode' and cached_share is not null then mix_class end as mix_class,
        case
            when null_reason is not null then null_reason
            when output_tok_s_gpu is null then 'no_throughput'
            when input_tok_s_gpu is null then 'no_input_throughput'
            when gpu_scope <> 'decode' and cached_share is null then 'no_mix'
        end as null_reason,
    from flows
)

select
    benchmark_point_id,
    chip_id,
    gpu_scope,
    input_tok_s_gpu * (1 - coalesce(cached_share, case when gpu_scope = 'decode' then 0 end))
        as uncached_input_tok_s_gpu,
    input_tok_s_gpu * coalesce(cached_share, case when gpu_scope = 'decode' then 0 end) as cached_input_tok_s_gpu,
    output_tok_s_gpu,
    cached_share,
    mix_class,
    live_traffic_factor,
    case when mix_class = 'assumed' then 'assumed' else evidence end as evidence,
    null_reason,
from judged
