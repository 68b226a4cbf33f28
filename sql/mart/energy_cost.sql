-- What the electricity of a million tokens costs at one point, by two powers that are never blended: that of the
-- boards as measured, and the all-in power that a published cost model provides for a chip, facility included; one
-- row per point, chip, token kind, GPU scope, allocation, electricity price and stretch of the constant. Rows of
-- whole_bill each carry all the power: never add them.
-- grain: energy_cost_id
-- column: energy_cost_id | key
-- column: benchmark_point_id | the point
-- column: chip_id | the chip; another than the point's where a hardware factor leads to it
-- column: model_id | the model
-- column: workload_id | the workload
-- column: token_kind | output, input or total
-- column: gpu_scope | all, decode, prefill; none where only a speed is known
-- column: cost_allocation | total, by_role (additive) or whole_bill (never additive)
-- column: throughput_tok_s_gpu | tokens per second per GPU of the scope, before the live-traffic factor
-- column: electricity_price_id | the assumed price of electricity; null: none is known
-- column: usd_per_kwh | that price
-- column: board_power_w_gpu | board power per GPU as measured; boards alone, no host and no cooling
-- column: board_joules_per_token | board_power_w_gpu / throughput
-- column: board_usd_per_million_tokens | electricity of the boards alone
-- column: board_null_reason | why board_usd_per_million_tokens is null
-- column: provisioned_power_kw_gpu | all-in power per GPU that is provided, whether drawn or not
-- column: provisioned_power_basis | stated (with the point) or constant (of a published cost model)
-- column: provisioned_joules_per_token | provisioned_power_kw_gpu x 1000 / throughput
-- column: tokens_per_s_per_mw | throughput x 1000 / provisioned_power_kw_gpu: tokens per second of one megawatt provided
-- column: provisioned_usd_per_million_tokens | electricity if all that is provided were drawn: an upper bound
-- column: provisioned_null_reason | why provisioned_usd_per_million_tokens is null
-- column: traffic_basis | what the throughput was measured under: benchmark, replay or live
-- column: evidence | evidence class of the throughput
-- column: eligible | the point may be ranked, and the throughput is of its own evidence class
-- column: valid_from | first day of the row
-- column: valid_to | first day after it; null: open
-- column: measured_on | day of measurement; null: not stated
-- column: superseded_on | day of the next point of the line; null: the newest
-- check: (board_usd_per_million_tokens is null) = (board_null_reason is not null)
-- check: (provisioned_usd_per_million_tokens is null) = (provisioned_null_reason is not null)
-- check: valid_to is null or valid_to > valid_from
with

views as (
    select * from core.benchmark_view
),

points as (
    select * from core.benchmark_point
),

eligibility as (
    select * from core.benchmark_eligibility
),

chips as (
    select * from raw.chip
),

run as (
    select * from core.run
),

electricity as (
    select prices.*
    from raw.electricity_price as prices
    cross join run
    where prices.known_at <= run.as_of
),

-- Of two statements on the same stretch the later one stands.
constants as (
    select powers.*
    from raw.power_constant as powers
    cross join run
    where powers.known_at <= run.as_of
    qualify row_number() over (
        partition by powers.chip_id, powers.valid_from order by powers.known_at desc
    ) = 1
),

-- Without holes: before the first constant, and for a chip without any, the power is not known.
stretches as (
    select
        chip_id,
        power_kw_all_in,
        valid_from,
        lead(valid_from) over (partition by chip_id order by valid_from) as valid_to,
    from constants

    union all

    select
        chips.chip_id,
        cast(null as double) as power_kw_all_in,
        cast(null as date) as valid_from,
        min(constants.valid_from) as valid_to,
    from chips
    left join constants on chips.chip_id = constants.chip_id
    group by chips.chip_id
),

powered as (
    select
        points.benchmark_point_id,
        points.chip_id,
        points.power_kw_gpu_provisioned as power_kw_gpu,
        'stated' as power_basis,
        points.measured_from as valid_from,
        cast(null as date) as valid_to,
    from points
    where points.power_kw_gpu_provisioned is not null

    union all

    select
        points.benchmark_point_id,
        stretches.chip_id,
        stretches.power_kw_all_in as power_kw_gpu,
        case when stretches.power_kw_all_in is not null then 'constant' end as power_basis,
        case
            when stretches.valid_from > points.measured_from then stretches.valid_from
            else points.measured_from
        end as valid_from,
        stretches.valid_to,
    from points
    cross join stretches
    where (stretches.valid_to is null or stretches.valid_to > points.measured_from)
        -- What is stated with a point holds for its own chip alone.
        and (points.power_kw_gpu_provisioned is null or stretches.chip_id <> points.chip_id)
),

-- Power per GPU is the mean over all of them; of one role it is not known.
measured as (
    select
        views.benchmark_point_id,
        views.chip_id,
        views.token_kind,
        views.gpu_scope,
        views.cost_allocation,
        case
            when views.gpu_scope = 'all' and views.chip_id = points.chip_id then points.power_w_gpu
        end as board_power_w_gpu,
        coalesce(
            views.null_reason,
            case
                when points.power_w_gpu is null then 'no_board_power'
                when views.chip_id <> points.chip_id then 'power_of_another_chip'
                when views.gpu_scope <> 'all' then 'power_of_role_unknown'
            end
        ) as board_null_reason,
    from views
    inner join points on views.benchmark_point_id = points.benchmark_point_id
)

select
    substr(
        md5(
            concat_ws(
                '|',
                views.benchmark_point_id,
                views.chip_id,
                views.token_kind,
                views.gpu_scope,
                views.cost_allocation,
                coalesce(electricity.electricity_price_id, '-'),
                cast(powered.valid_from as varchar)
            )
        ),
        1,
        16
    ) as energy_cost_id,
    views.benchmark_point_id,
    views.chip_id,
    points.model_id,
    points.workload_id,
    views.token_kind,
    views.gpu_scope,
    views.cost_allocation,
    views.throughput_tok_s_gpu,
    electricity.electricity_price_id,
    electricity.usd_per_kwh,
    measured.board_power_w_gpu,
    measured.board_power_w_gpu / views.throughput_tok_s_gpu as board_joules_per_token,
    measured.board_power_w_gpu / views.throughput_tok_s_gpu * 1e6 / 3.6e6 * electricity.usd_per_kwh
        as board_usd_per_million_tokens,
    coalesce(
        measured.board_null_reason,
        case when electricity.usd_per_kwh is null then 'no_electricity_price' end
    ) as board_null_reason,
    powered.power_kw_gpu as provisioned_power_kw_gpu,
    powered.power_basis as provisioned_power_basis,
    powered.power_kw_gpu * 1000 / views.throughput_tok_s_gpu as provisioned_joules_per_token,
    views.throughput_tok_s_gpu * 1000 / powered.power_kw_gpu as tokens_per_s_per_mw,
    powered.power_kw_gpu * 1000 / views.throughput_tok_s_gpu * 1e6 / 3.6e6 * electricity.usd_per_kwh
        as provisioned_usd_per_million_tokens,
    coalesce(
        views.null_reason,
        case
            when powered.power_kw_gpu is null then 'no_power_constant'
            when electricity.usd_per_kwh is null then 'no_electricity_price'
        end
    ) as provisioned_null_reason,
    points.traffic_basis,
    views.evidence,
    eligibility.eligible and views.evidence = points.evidence as eligible,
    powered.valid_from,
    powered.valid_to,
    points.measured_on,
    points.superseded_on,
from views
inner join points on views.benchmark_point_id = points.benchmark_point_id
inner join eligibility on views.benchmark_point_id = eligibility.benchmark_point_id
inner join powered
    on views.benchmark_point_id = powered.benchmark_point_id
    and views.chip_id = powered.chip_id
inner join measured
    on views.benchmark_point_id = measured.benchmark_point_id
    and views.chip_id = measured.chip_id
    and views.token_kind = measured.token_kind
    and views.gpu_scope = measured.gpu_scope
    and views.cost_allocation = measured.cost_allocation
left join electricity on true
