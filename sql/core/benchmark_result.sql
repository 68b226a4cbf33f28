-- One accepted benchmark point as one payload states it, as a fact with its three times; one row per point
-- of a snapshot and version of it. The same point stated by several payloads shares a benchmark_point_id.
-- grain: benchmark_result_id
-- column: benchmark_result_id | key: source, snapshot and row, and the version where it is not the row as stated
-- column: benchmark_point_id | key of the point: who published it, run, chip, model, server, workload and load, without the attempt;
--    the publisher's own key where it has one
-- column: config_id | key of how it was served: engine, version, image, precisions, parallelism
-- column: load_point | what fixes the load: concurrency, request rate, or the publisher's label
-- column: cache_state | of the prefix cache: cold, warm or unstated; each is a series of its own
-- column: parallelism | ranks in words, tp4-ep4-dpa; what is not stated is left out
-- column: parallelism_stated | the ranks are stated, and agree with the GPUs
-- column: corrected_by | locator of the correction that makes the version; null: as stated
-- column: recorded_to | moment that a newer version of a seed or a correction replaced it; null: in force
with

results as (
    select * from clean.benchmark_result
),

snapshots as (
    select * from clean.snapshot
),

versions as (
    select * from clean.corrected_row where row_kind = 'benchmark_result'
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
),

identified as (
    select
        *,
        -- A corrected row is the same point, whatever condition of it was stated wrongly.
        first_value(
            substr(
                md5(
                    case
                        -- What its publisher has a key for stays the same result when a condition of it is corrected.
                        when result_id is not null then concat_ws('|', publisher, 'result', result_id)
                        else concat_ws(
                            '|',
                            publisher,
                            coalesce(point_label, '-'),
                            coalesce(run_id, coalesce(cast(measured_on as varchar), '-')),
                            coalesce(chip_id, raw_chip_name),
                            coalesce(model_id, raw_model_name),
                            coalesce(weight_precision, '-'),
                            coalesce(engine, '-'),
                            coalesce(speculative_method, '-'),
                            topology,
                            parallelism,
                            workload_id,
                            load_point
                        )
                    end
                ),
                1,
                16
            )
        ) over (
            partition by source, snapshot_id, row_number
            order by version, corrected_by
            rows between unbounded preceding and current row
        ) as benchmark_point_id,
    from keyed
)

select
    concat(
        identified.source,
        '/',
        identified.snapshot_id,
        '/',
        identified.row_number,
        case when identified.version > 0 then concat('/version-', identified.version) else '' end
    ) as benchmark_result_id,
    substr(
        md5(
            concat_ws(
                '|',
                coalesce(identified.engine, '-'),
                coalesce(identified.engine_version, '-'),
                coalesce(identified.image, '-'),
                coalesce(identified.weight_precision, '-'),
                coalesce(identified.kv_precision, '-'),
                identified.parallelism
            )
        ),
        1,
        16
    ) as config_id,
    identified.*,
    snapshots.source_rank,
    snapshots.passes_on,
    coalesce(versions.recorded_at, snapshots.recorded_at) as recorded_at,
    case when versions.source is null then snapshots.recorded_to else versions.recorded_to end as recorded_to,
from identified
inner join snapshots
    on identified.source = snapshots.source
    and identified.snapshot_id = snapshots.snapshot_id
left join versions
    on identified.source = versions.source
    and identified.snapshot_id = versions.snapshot_id
    and identified.row_number = versions.row_number
    and identified.version = versions.version
    and coalesce(identified.corrected_by, versions.locator) = versions.locator
    and coalesce(versions.benchmark_point_id, identified.benchmark_point_id) = identified.benchmark_point_id
where identified.chip_id is not null
    and identified.model_id is not null
    -- A locator that means another point of the run makes no version of this one.
    and (identified.version = 0 or versions.source is not null)
-- Two names of one row are found by a check; until it is mended, the row as stated ends with the first.
qualify row_number() over (
    partition by identified.source, identified.snapshot_id, identified.row_number, identified.version
    order by versions.recorded_to nulls last
) = 1
