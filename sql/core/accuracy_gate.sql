-- How accurate the configuration of a point was when somebody asked it questions, beside its like; one row per
-- point. A score belongs to a point when publisher, chip, model, precision, engine, speculation and all ranks are
-- the same: the point's own run first, else the newest score known. Among scores equally near, the strictest
-- metric, and of that the one that fell furthest. It is compared with the median over all configurations of that
-- publisher, model, task and metric, the newest score of each.
-- grain: benchmark_point_id
-- column: accuracy_task | the evaluation; null: no score of this configuration is known
-- column: accuracy_metric | which of its scores
-- column: accuracy_value | the score, 0 to 1
-- column: accuracy_of_same_run | the run that measured the point also measured the score
-- column: accuracy_measured_on | day of the score
-- column: accuracy_reference | median score of all configurations; null: no other configuration is known
-- column: accuracy_configurations | configurations behind the median
-- column: accuracy_fallen | the score lies further below the median than a method allows; null: unknown
-- check: accuracy_value is not null or accuracy_fallen is null
-- check: accuracy_value is null or accuracy_task is not null
with

points as (
    select * from core.benchmark_point
),

scores as (
    select
        *,
        case metric when 'em_strict' then 1 when 'score' then 2 else 3 end as metric_rank,
    from core.evaluation
),

parameters as (
    select max(value) as max_accuracy_fall
    from raw.method_parameter
    where method = 'eligibility' and version = 'v1' and parameter = 'max_accuracy_fall'
),

newest as (
    select
        publisher,
        model_id,
        task,
        metric,
        value,
    from scores
    qualify row_number() over (
        partition by
            publisher, model_id, task, metric, chip_id, weight_precision, engine, speculative_method, disaggregated,
            tp, ep, dp_attention, workers, prefill_tp, prefill_ep, prefill_dp_attention, prefill_workers
        order by measured_on desc, value, evaluation_id
    ) = 1
),

medians as (
    select
        publisher,
        model_id,
        task,
        metric,
        count(*) as configurations,
        case when count(*) > 1 then median(value) end as reference_value,
    from newest
    group by publisher, model_id, task, metric
),

matched as (
    select
        points.benchmark_point_id,
        scores.task,
        scores.metric,
        scores.value,
        coalesce(scores.run_id = points.run_id, false) as of_same_run,
        scores.measured_on,
        medians.reference_value,
        medians.configurations,
        row_number() over (
            partition by points.benchmark_point_id
            order by
                coalesce(scores.run_id = points.run_id, false) desc,
                scores.measured_on desc,
                scores.metric_rank,
                scores.value - medians.reference_value nulls last,
                scores.value,
                scores.evaluation_id
        ) as nearest,
    from points
    inner join scores
        on points.publisher = scores.publisher
        and points.chip_id = scores.chip_id
        and points.model_id = scores.model_id
        and points.weight_precision = scores.weight_precision
        and points.engine = scores.engine
        and points.speculative_method = scores.speculative_method
        and points.tp = scores.tp
        and coalesce(points.disaggregated, false) = coalesce(scores.disaggregated, false)
        and points.ep is not distinct from scores.ep
        and points.dp_attention is not distinct from scores.dp_attention
        and points.workers is not distinct from scores.workers
        and points.prefill_tp is not distinct from scores.prefill_tp
        and points.prefill_ep is not distinct from scores.prefill_ep
        and points.prefill_dp_attention is not distinct from scores.prefill_dp_attention
        and points.prefill_workers is not distinct from scores.prefill_workers
    left join medians
        on scores.publisher = medians.publisher
        and scores.model_id = medians.model_id
        and scores.task = medians.task
        and scores.metric = medians.metric
)

select
    points.benchmark_point_id,
    matched.task as accuracy_task,
    matched.metric as accuracy_metric,
    matched.value as accuracy_value,
    matched.of_same_run as accuracy_of_same_run,
    matched.measured_on as accuracy_measured_on,
    matched.reference_value as accuracy_reference,
    matched.configurations as accuracy_configurations,
    -- Scores are shares of whole questions; a millionth keeps 0.03 itself inside the limit.
    matched.reference_value - matched.value > parameters.max_accuracy_fall + 0.000001 as accuracy_fallen,
from points
cross join parameters
left join matched
    on points.benchmark_point_id = matched.benchmark_point_id
    and matched.nearest = 1
