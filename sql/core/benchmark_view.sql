-- One way of reading a point's throughput: which tokens, over which GPUs, on which chip; one row per point,
-- token kind, GPU scope, cost allocation and chip. A point whose chip is not disclosed is read on every chip
-- for which its publisher gives a hardware factor. Points that were retracted are read too: an account of changes
-- wants them, and a cost joins the points that stand.
-- grain: benchmark_point_id, chip_id, token_kind, gpu_scope, cost_allocation
-- column: token_kind | output, input or total
-- column: gpu_scope | all, decode, prefill; none where only a speed per user is known
-- column: cost_allocation | total, by_role (additive) or whole_bill (never additive)
-- column: throughput_tok_s_gpu | tokens per second per GPU of the scope, hardware factor applied; null: see null_reason
-- column: evidence | of the throughput: derived where it is computed from total tokens and the mix of the
--    workload, or measured on another chip
-- column: live_traffic_factor | share of a benchmark throughput that live traffic reaches; 1 for live figures; null: none sourced
-- column: null_reason | why there is no throughput
-- check: (throughput_tok_s_gpu is null) = (null_reason is not null)
-- check: throughput_tok_s_gpu is null or throughput_tok_s_gpu > 0
with

points as (
    select * from core.benchmark_statement
),

hardware as (
    select * from raw.hardware_factor
),

live_factors as (
    select * from raw.live_traffic_factor
),

run as (
    select * from core.run
),

-- Input and output tokens of a request, for the share of output in a total.
mixes as (
    select
        points.benchmark_point_id,
        coalesce(points.osl_mean, workloads.output_tokens)
        / (
            coalesce(points.osl_mean, workloads.output_tokens)
            + coalesce(points.isl_mean, workloads.input_tokens)
        ) as output_share,
    from points
    left join raw.workload as workloads on points.workload_id = workloads.workload_id
),

readings as (
    select
        benchmark_point_id,
        'output' as token_kind,
        'all' as gpu_scope,
        'whole_bill' as cost_allocation,
        coalesce(points.output_tok_s_gpu, points.total_tok_s_gpu * mixes.output_share) as stated_tok_s_gpu,
        case
            when points.output_tok_s_gpu is null and points.total_tok_s_gpu is not null then 'derived'
            else points.evidence
        end as evidence,
        case
            when points.output_tok_s_decode_gpu is not null then 'role_ratio_unknown'
            else 'no_throughput'
        end as missing_reason,
    from points
    inner join mixes using (benchmark_point_id)
    where coalesce(
        points.output_tok_s_gpu,
        points.total_tok_s_gpu,
        points.output_tok_s_decode_gpu,
        points.input_tok_s_gpu
    ) is not null

    union all

    select
        benchmark_point_id,
        'input' as token_kind,
        'all' as gpu_scope,
        'whole_bill' as cost_allocation,
        input_tok_s_gpu as stated_tok_s_gpu,
        evidence,
        'no_throughput' as missing_reason,
    from points
    where input_tok_s_gpu is not null

    union all

    select
        benchmark_point_id,
        'total' as token_kind,
        'all' as gpu_scope,
        'total' as cost_allocation,
        total_tok_s_gpu as stated_tok_s_gpu,
        evidence,
        'no_throughput' as missing_reason,
    from points
    where total_tok_s_gpu is not null

    union all

    select
        benchmark_point_id,
        'output' as token_kind,
        'decode' as gpu_scope,
        'by_role' as cost_allocation,
        output_tok_s_decode_gpu as stated_tok_s_gpu,
        evidence,
        'no_throughput' as missing_reason,
    from points
    where output_tok_s_decode_gpu is not null

    union all

    select
        benchmark_point_id,
        'input' as token_kind,
        'prefill' as gpu_scope,
        'by_role' as cost_allocation,
        input_tok_s_prefill_gpu as stated_tok_s_gpu,
        evidence,
        'no_throughput' as missing_reason,
    from points
    where input_tok_s_prefill_gpu is not null

    union all

    -- A speed that one user sees is a condition and no throughput.
    select
        benchmark_point_id,
        'output' as token_kind,
        'none' as gpu_scope,
        'whole_bill' as cost_allocation,
        cast(null as double) as stated_tok_s_gpu,
        evidence,
        'speed_is_not_throughput' as missing_reason,
    from points
    where coalesce(output_tok_s_gpu, total_tok_s_gpu, output_tok_s_decode_gpu, input_tok_s_gpu) is null
),

chips as (
    select
        benchmark_point_id,
        chip_id,
        cast(1 as double) as hardware_factor,
    from points

    union all

    select
        points.benchmark_point_id,
        hardware.to_chip_id as chip_id,
        hardware.factor as hardware_factor,
    from points
    inner join hardware
        on points.publisher = hardware.publisher
        and points.chip_id = hardware.from_chip_id
        and starts_with(points.point_label, hardware.point_label_prefix)
    cross join run
    where hardware.known_at <= run.as_of
)

select
    points.benchmark_point_id,
    chips.chip_id,
    readings.token_kind,
    readings.gpu_scope,
    readings.cost_allocation,
    concat_ws('/', points.line_id, readings.token_kind, readings.gpu_scope) as line_id,
    -- What was measured on one chip is worked out on another.
    case
        when readings.evidence = 'measured' and chips.chip_id <> points.chip_id then 'derived'
        else readings.evidence
    end as evidence,
    chips.hardware_factor,
    readings.stated_tok_s_gpu * chips.hardware_factor as throughput_tok_s_gpu,
    case points.traffic_basis
        when 'live' then 1
        when 'benchmark' then case when live_factors.known_at <= run.as_of then live_factors.factor end
    end as live_traffic_factor,
    case when readings.stated_tok_s_gpu is null then readings.missing_reason end as null_reason,
from readings
inner join points on readings.benchmark_point_id = points.benchmark_point_id
inner join chips on readings.benchmark_point_id = chips.benchmark_point_id
cross join run
left join live_factors
    on points.publisher = live_factors.publisher
    and points.engine = live_factors.engine
