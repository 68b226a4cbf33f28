-- The rent at which a chip would make tokens as cheaply as another does at its price today, at equal speed per user:
-- what an older chip is worth per hour; one row per comparison, tier, price series, chip and reference chip.
-- grain: comparison_id, speed_tok_s_user, price_series_id, chip_id, reference_chip_id
-- column: comparison_id | model, workload, token kind, GPU scope, allocation, evidence, traffic and speed percentile
-- column: model_id | the model
-- column: workload_id | the workload
-- column: token_kind | output, input or total
-- column: gpu_scope | all, decode or prefill
-- column: cost_allocation | total, by_role or whole_bill
-- column: evidence | evidence class of both
-- column: speed_percentile | which user the speed is of
-- column: speed_tok_s_user | output speed that one user sees
-- column: price_series_id | the price series of the reference
-- column: price_type | its price type
-- column: chip_id | the chip whose worth is asked
-- column: precision | precision of its weights
-- column: reference_chip_id | the chip that sets the cost
-- column: reference_precision | precision of its weights
-- column: throughput_tok_s_gpu | tokens per second per GPU of the chip
-- column: reference_throughput_tok_s_gpu | the same of the reference
-- column: reference_usd_per_gpu_hour | price of the reference in US dollars per GPU-hour
-- column: parity_rent_usd_per_gpu_hour | reference price x throughput / throughput of the reference; null: see null_reason
-- column: usd_per_gpu_hour | what the chip rents for on the same series; null: unknown
-- column: rent_over_parity | what it rents for / what it is worth against the reference
-- column: null_reason | why there is no parity rent, and of which of the two
-- column: below_point_id | slower point of the chip's bracket
-- column: above_point_id | faster point of it
-- column: reference_below_point_id | slower point of the reference's bracket
-- column: reference_above_point_id | faster point of it
-- column: passes_on | the terms of all points' publishers let us pass it on
-- column: method_version | version of the curve
-- check: (parity_rent_usd_per_gpu_hour is null) = (null_reason is not null)
with

chips as (
    select * from core.chip_at_speed where is_tier
)

select
    chips.comparison_id,
    chips.model_id,
    chips.workload_id,
    chips.token_kind,
    chips.gpu_scope,
    chips.cost_allocation,
    chips.evidence,
    chips.speed_percentile,
    chips.speed_tok_s_user,
    chips.price_series_id,
    chips.price_type,
    chips.chip_id,
    chips.precision,
    reference.chip_id as reference_chip_id,
    reference.precision as reference_precision,
    chips.throughput_tok_s_gpu,
    reference.throughput_tok_s_gpu as reference_throughput_tok_s_gpu,
    reference.usd_per_gpu_hour as reference_usd_per_gpu_hour,
    reference.usd_per_gpu_hour * chips.throughput_tok_s_gpu / reference.throughput_tok_s_gpu
        as parity_rent_usd_per_gpu_hour,
    chips.usd_per_gpu_hour,
    chips.usd_per_gpu_hour * reference.throughput_tok_s_gpu
    / (reference.usd_per_gpu_hour * chips.throughput_tok_s_gpu) as rent_over_parity,
    case
        when reference.null_reason is not null then concat('reference_', reference.null_reason)
        when chips.throughput_tok_s_gpu is null then chips.null_reason
    end as null_reason,
    chips.below_point_id,
    chips.above_point_id,
    reference.below_point_id as reference_below_point_id,
    reference.above_point_id as reference_above_point_id,
    chips.passes_on and reference.passes_on as passes_on,
    'frontier-v1' as method_version,
from chips
inner join chips as reference
    on chips.comparison_id = reference.comparison_id
    and chips.price_series_id = reference.price_series_id
    and chips.speed_tok_s_user = reference.speed_tok_s_user
    and chips.chip_id <> reference.chip_id
