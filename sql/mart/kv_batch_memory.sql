-- The memory that the KV cache of a point's batch takes on each GPU; one row per point and chip. Whether memory is
-- what bounds the batch shows in its share of the chip.
-- grain: benchmark_point_id, chip_id
-- column: benchmark_point_id | the point
-- column: point_label | the publisher's own name of the point
-- column: chip_id | the chip; another than the point's where a hardware factor leads to it
-- column: model_id | the model
-- column: workload_id | the workload
-- column: sequences_per_gpu | sequences in flight per GPU, as stated
-- column: context_tokens | tokens that one session holds in the cache, as the workload says
-- column: kv_bytes_per_token | bytes of KV cache per token
-- column: kv_gb_per_gpu | sequences x context x bytes / 10^9
-- column: memory_gb | memory of one chip in GB; null: not known
-- column: share_of_memory | kv_gb_per_gpu / memory_gb; null where either is
-- column: null_reason | why kv_gb_per_gpu is null
-- check: (kv_gb_per_gpu is null) = (null_reason is not null)
with

points as (
    select * from core.benchmark_point
),

read_on as (
    select distinct
        benchmark_point_id,
        chip_id,
    from core.benchmark_view
),

workloads as (
    select * from raw.workload
),

models as (
    select * from raw.model
),

chips as (
    select * from raw.chip
)

select
    points.benchmark_point_id,
    points.point_label,
    read_on.chip_id,
    points.model_id,
    points.workload_id,
    points.sequences_per_gpu,
    workloads.context_tokens,
    models.kv_bytes_per_token,
    points.sequences_per_gpu * workloads.context_tokens * models.kv_bytes_per_token / 1e9 as kv_gb_per_gpu,
    chips.memory_gb,
    points.sequences_per_gpu * workloads.context_tokens * models.kv_bytes_per_token / 1e9 / chips.memory_gb
        as share_of_memory,
    case
        when points.sequences_per_gpu is null then 'batch_unknown'
        when workloads.context_tokens is null then 'context_unknown'
        when models.kv_bytes_per_token is null then 'kv_bytes_unknown'
    end as null_reason,
from points
inner join read_on on points.benchmark_point_id = read_on.benchmark_point_id
left join workloads on points.workload_id = workloads.workload_id
left join models on points.model_id = models.model_id
left join chips on read_on.chip_id = chips.chip_id
