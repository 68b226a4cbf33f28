-- One point on a frontier: no comparable point is as fast for its users and makes as much, and better in one; one
-- row per frontier, stretch of days and point. A serving line is one deployable server in one run; a family pools
-- whatever is comparable, several software stacks among it, and is no server.
-- grain: frontier_id, valid_from, benchmark_point_id
-- column: frontier_id | key: the family, and for a serving line its server and run
-- column: frontier_kind | serving_line or family
-- column: family_id | chip, model, precision, workload, token kind, GPU scope, allocation, evidence, traffic and speed percentile
-- column: serving_line_id | the server and run of the point
-- column: benchmark_point_id | the point
-- column: chip_id | the chip
-- column: model_id | the model
-- column: precision | precision of the weights; null: not stated
-- column: workload_id | the workload
-- column: engine | serving engine of the point
-- column: token_kind | output, input or total
-- column: gpu_scope | all, decode or prefill
-- column: cost_allocation | total, by_role or whole_bill
-- column: evidence | measured, vendor_claim, read_off_chart, derived or assumed; never blended in a frontier
-- column: traffic_basis | benchmark, replay or live
-- column: speed_percentile | which user the speed is of
-- column: eligible | the point may be ranked
-- column: eligibility_reason | eligible, or the first gate that it fails
-- column: knot | place on the curve, 1 is the slowest
-- column: knots | points on the curve
-- column: interactivity_tok_s_user | output speed that one user sees
-- column: throughput_tok_s_gpu | tokens per second per GPU of the scope
-- column: log_slope | slope of the natural logarithm of throughput there, per tok/s of interactivity; null: one point has no curve
-- column: method_version | version of frontier and curve
-- column: measured_from | day of measurement, else of publication
-- column: valid_from | first day on which this frontier stands
-- column: valid_to | first day after it; null: open
-- check: valid_to is null or valid_to > valid_from
with

knots as (
    select * from core.frontier_knot
),

eligibility as (
    select * from core.benchmark_eligibility
)

select
    knots.frontier_id,
    knots.frontier_kind,
    knots.family_id,
    knots.serving_line_id,
    knots.benchmark_point_id,
    knots.chip_id,
    knots.model_id,
    knots.precision,
    knots.workload_id,
    knots.engine,
    knots.token_kind,
    knots.gpu_scope,
    knots.cost_allocation,
    knots.evidence,
    knots.traffic_basis,
    knots.speed_percentile,
    eligibility.eligible and knots.evidence = 'measured' as eligible,
    case
        when eligibility.eligible and knots.evidence <> 'measured' then concat('evidence_is_', knots.evidence)
        else eligibility.eligibility_reason
    end as eligibility_reason,
    knots.knot,
    knots.knots,
    knots.interactivity_tok_s_user,
    knots.throughput_tok_s_gpu,
    knots.log_slope,
    'frontier-v1' as method_version,
    knots.measured_from,
    knots.valid_from,
    knots.valid_to,
from knots
inner join eligibility on knots.benchmark_point_id = eligibility.benchmark_point_id
