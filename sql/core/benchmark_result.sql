-- One accepted benchmark point as one payload states it, as a fact with its three times; one row per point
-- of a snapshot. The same point stated by several payloads shares a benchmark_point_id.
-- grain: benchmark_result_id
-- column: benchmark_result_id | key: source, snapshot and row
-- column: benchmark_point_id | key of the point: who published it, run, chip, model, server, workload and load, without the attempt;
--    the publisher's own key where it has one
-- column: config_id | key of how it was served: engine, version, image, precisions, parallelism
-- column: load_point | what fixes the load: concurrency, request rate, or the publisher's label
-- column: cache_state | of the prefix cache: cold, warm or unstated; each is a series of its own
-- column: parallelism | ranks in words, tp4-ep4-dpa; what is not stated is left out
-- column: parallelism_stated | the ranks are stated, and agree with the GPUs
-- column: recorded_to | moment that a newer version of a seed replaced it; null: in force
with

results as (
    select * from clean.benchmark_result
),

snapshots as (
    select * from clean.snapshot
),

parameters as (
    select max(case when parameter = 'max_cold_cache_hit_rate' then value end) as max_cold_cache_hit_rate,
    from raw.method_parameter
    where method = 'eligibility' and version = 'v1'
),

keyed as (
    select
        results.*,
        case
            when concurrency is not null then concat('c', concurrency)
            when request_rate is not null then concat('r', request_rate)
            when coalesce(output_tok_s_gpu, total_tok_s_gpu, output_tok_s_decode_gpu) is null then 'speed'
            else coalesce(point_label, 'unstated')
        end as load_point,
        case
            when not coalesce(disaggregated, false) then concat('agg', coalesce(cast(accelerator_count as varchar), '?'))
            else concat(
                'disagg',
                coalesce(cast(prefill_accelerator_count as varchar), '?'),
                '+',
                coalesce(cast(decode_accelerator_count as varchar), '?')
            )
        end as topology,
        -- Prompts read from a warm prefix cache cost next to nothing: such a run is another series.
        case
            when cache_hit_rate is null then 'unstated'
            when cache_hit_rate > parameters.max_cold_cache_hit_rate then 'warm'
            else 'cold'
        end as cache_state,
        concat_ws(
            '-',
            concat('tp', coalesce(cast(tp as varchar), '?')),
            'pp' || pp,
            'cp' || cp,
            'ep' || ep,
            'dp' || dp,
            case when dp_attention then 'dpa' when not dp_attention then 'nodpa' end,
            'w' || workers,
            'prefill' || prefill_tp,
            'pp' || prefill_pp,
            'ep' || prefill_ep,
            'dp' || prefill_dp,
            case when prefill_dp_attention then 'dpa' when not prefill_dp_attention then 'nodpa' end,
            'prefillw' || prefill_workers
        ) as parallelism,
        -- Some disaggregated rows carry tp = 1 as a placeholder beside true counts.
        tp is not null and (
            not coalesce(disaggregated, false) or tp * coalesce(pp, 1) * coalesce(workers, 1) = decode_accelerator_count
        ) as parallelism_stated,
    from results
    cross join parameters
    where reject_reason is null
)

select
    concat(keyed.source, '/', keyed.snapshot_id, '/', keyed.row_number) as benchmark_result_id,
    substr(
        md5(
            case
                -- What its publisher has a key for stays the same result when a condition of it is corrected.
                when keyed.result_id is not null then concat_ws('|', keyed.publisher, 'result', keyed.result_id)
                else concat_ws(
                    '|',
                    keyed.publisher,
                    coalesce(keyed.point_label, '-'),
                    coalesce(keyed.run_id, coalesce(cast(keyed.measured_on as varchar), '-')),
                    coalesce(keyed.chip_id, keyed.raw_chip_name),
                    coalesce(keyed.model_id, keyed.raw_model_name),
                    coalesce(keyed.weight_precision, '-'),
                    coalesce(keyed.engine, '-'),
                    coalesce(keyed.speculative_method, '-'),
                    keyed.topology,
                    keyed.parallelism,
                    keyed.workload_id,
                    keyed.load_point
                )
            end
        ),
        1,
        16
    ) as benchmark_point_id,
    substr(
        md5(
            concat_ws(
                '|',
                coalesce(keyed.engine, '-'),
                coalesce(keyed.engine_version, '-'),
                coalesce(keyed.image, '-'),
                coalesce(keyed.weight_precision, '-'),
                coalesce(keyed.kv_precision, '-'),
                keyed.parallelism
            )
        ),
        1,
        16
    ) as config_id,
    keyed.*,
    snapshots.source_rank,
    snapshots.passes_on,
    snapshots.recorded_at,
    snapshots.recorded_to,
from keyed
inner join snapshots
    on keyed.source = snapshots.source
    and keyed.snapshot_id = snapshots.snapshot_id
where keyed.chip_id is not null
    and keyed.model_id is not null
