-- How far two runs of one configuration lie apart where nothing that is stated changed between them: the band inside
-- which a change says nothing; one row per publisher, chip and engine, and one per publisher over all of them.
-- Points of one line with one configuration that follow each other, output tokens over all GPUs, measured ones alone.
-- Where image and version, or ranks, are not stated, two runs are not known to be of one configuration and are no
-- repeat, for of runs a day apart without them some differ by a third.
-- grain: publisher, chip_id, engine
-- column: chip_id | the chip; null: all of the publisher's
-- column: engine | serving engine; null: all of the publisher's
-- column: repeat_count | pairs of runs
-- column: log_ratio_sd | sample standard deviation of ln(later / earlier); null: fewer than two pairs
-- check: repeat_count > 0
-- check: log_ratio_sd is null or log_ratio_sd >= 0
with

points as (
    select * from core.benchmark_point where evidence = 'measured'
),

views as (
    select *
    from core.benchmark_view
    where token_kind = 'output'
        and gpu_scope = 'all'
        and cost_allocation = 'whole_bill'
        and evidence = 'measured'
),

runs as (
    select
        points.publisher,
        points.chip_id,
        points.engine,
        points.config_id,
        views.throughput_tok_s_gpu,
        lag(points.config_id) over line as before_config_id,
        lag(views.throughput_tok_s_gpu) over line as before_tok_s_gpu,
    from points
    inner join views
        on points.benchmark_point_id = views.benchmark_point_id
        and points.chip_id = views.chip_id
    where coalesce(points.image, points.engine_version) is not null
        and points.parallelism_stated
    window line as (
        partition by points.line_id
        order by
            points.measured_from,
            try_cast(points.run_id as bigint) nulls first,
            points.known_at,
            points.benchmark_point_id
    )
),

repeats as (
    select
        publisher,
        chip_id,
        engine,
        ln(throughput_tok_s_gpu / before_tok_s_gpu) as log_ratio,
    from runs
    where config_id = before_config_id
)

select
    publisher,
    chip_id,
    engine,
    count(*) as repeat_count,
    stddev_samp(log_ratio) as log_ratio_sd,
from repeats
where engine is not null
group by publisher, chip_id, engine

union all

select
    publisher,
    cast(null as varchar) as chip_id,
    cast(null as varchar) as engine,
    count(*) as repeat_count,
    stddev_samp(log_ratio) as log_ratio_sd,
from repeats
group by publisher
