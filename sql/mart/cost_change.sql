-- One change of what a million output tokens cost on a price series beside the headline, all GPUs and the whole bill,
-- and how much of it is price and how much throughput; one row per line, series and day on which the cost moved, and
-- one per change that was in the record alone. Standing rows follow each other: after is the next one's before. A
-- carried value makes no row, nor does a move that leaves the cost as it was. Effects are split by logarithmic means,
-- effect = L x ln(ratio) with L = (after - before) / ln(after / before), which depend on no order and sum exactly.
-- grain: change_id
-- column: change_id | key
-- column: line_id | the line, with token kind and GPU scope
-- column: chip_id | the chip priced
-- column: model_id | the model
-- column: workload_id | the workload
-- column: price_series_id | the price series
-- column: cause | price, both (price and benchmark on one day), new (the line's first cost on the series), retraction, correction, or why the throughput moved as in yield_change
-- column: benchmark_cause | why the throughput moved; unknown too where points without a cost lie between; null: it did not
-- column: claimed_cause | what the publisher of the later point says
-- column: standing | part of the history as it is known now: add these alone; false: in the record alone, as withdrawn, retraction or correction
-- column: withdrawn | the change was published with a point that was retracted later; retraction takes it back
-- column: before_point_id | point before; null: new
-- column: after_point_id | point after; null: nothing stood in its place
-- column: before_price_fact_id | quote or index value behind the price before
-- column: after_price_fact_id | and after
-- column: before_usd_per_gpu_hour | price before, DECIMAL(18,6)
-- column: after_usd_per_gpu_hour | price after, DECIMAL(18,6)
-- column: before_throughput_tok_s_gpu | throughput before, hardware factor applied
-- column: after_throughput_tok_s_gpu | throughput after
-- column: before_usd_per_million_tokens | cost before; null: new
-- column: after_usd_per_million_tokens | cost after; null: nothing stood in the place of a retracted point
-- column: change_usd_per_million_tokens | after - before
-- column: percent | (after / before - 1) x 100; the base is the cost before
-- column: throughput_effect_usd | part that is throughput, US dollars per million tokens
-- column: price_effect_usd | part that is price
-- column: factor_effect_usd | part that is another hardware factor
-- column: record_effect_usd | part that is a record which was mended or withdrawn
-- column: matched_panel_effect_usd | of price_effect_usd, what the providers present on both days moved in their own currencies; null: no own index, or a day between has no matched panel or an unknown currency
-- column: currency_effect_usd | of price_effect_usd, what exchange rates moved; null likewise
-- column: composition_effect_usd | of price_effect_usd, the rest: other providers vote, and rounding of the index; null likewise
-- column: sequential_throughput_effect_usd | another split, throughput first: at the price before
-- column: sequential_price_effect_usd | and price second: at the throughput after
-- column: null_reason | why the effects are null: new, or retracted
-- column: evidence | evidence class of the later throughput
-- column: before_price_age_days | age of the price before on that cost's last day; null: new
-- column: after_price_age_days | age of the price after on the day of the change
-- column: before_benchmark_age_days | age of the point before on its cost's last day; null: new
-- column: after_benchmark_age_days | age of the point after on the day of the change; null: nothing stood in its place
-- column: before_until | last day of the cost before; null: new. Days between it and changed_on had no cost
-- column: changed_on | day of the change; of a correction the day on which it could be known
-- check: (throughput_effect_usd is null) = (null_reason is not null)
-- check: null_reason is not null or abs(throughput_effect_usd + price_effect_usd + factor_effect_usd + record_effect_usd
--    - change_usd_per_million_tokens) <= 1e-12 * greatest(1, before_usd_per_million_tokens, after_usd_per_million_tokens)
-- check: sequential_price_effect_usd is null or abs(sequential_throughput_effect_usd + sequential_price_effect_usd
--    - change_usd_per_million_tokens) <= 1e-12 * greatest(1, before_usd_per_million_tokens, after_usd_per_million_tokens)
-- check: matched_panel_effect_usd is null or abs(matched_panel_effect_usd + currency_effect_usd + composition_effect_usd
--    - price_effect_usd) <= 1e-12 * greatest(1, before_usd_per_million_tokens, after_usd_per_million_tokens)
-- check: before_until is null or before_until < changed_on
with

series as (
    select * from core.price_series
),

points as (
    select * from core.benchmark_statement
),

views as (
    select *
    from core.benchmark_view
    where token_kind = 'output'
        and gpu_scope = 'all'
        and cost_allocation = 'whole_bill'
),

moves as (
    select * from core.cost_move
),

steps as (
    select * from core.benchmark_step
),

own_index as (
    select * from core.rental_index_daily
),

-- What can be unknown of a move: a first cost has no before, a retracted point may have nothing in its place.
named as (
    select
        moves.*,
        points.model_id,
        points.workload_id,
        series.index_name,
        series.price_basis,
        -- A price that was seen later than the day since which its source says it holds is of that day.
        case
            when moves.before_priced_on > moves.before_until then 0
            else date_diff('day', moves.before_priced_on, moves.before_until)
        end as before_price_age_days,
        case
            when moves.after_priced_on > moves.moved_on then 0
            else date_diff('day', moves.after_priced_on, moves.moved_on)
        end as after_price_age_days,
        date_diff('day', earlier_points.measured_from, moves.before_until) as before_benchmark_age_days,
        date_diff('day', later_points.measured_from, moves.moved_on) as after_benchmark_age_days,
        coalesce(later.evidence, earlier.evidence) as evidence,
        earlier.hardware_factor / later.hardware_factor as factor_ratio,
        steps.claimed_cause,
        case
            when moves.before_tok_s_gpu <> moves.after_tok_s_gpu and moves.kind in ('standing', 'withdrawn_change')
                then coalesce(steps.throughput_cause, 'unknown')
        end as benchmark_cause,
        cast(moves.before_usd_per_gpu_hour as double) as before_usd,
        cast(moves.after_usd_per_gpu_hour as double) as after_usd,
    from moves
    inner join series on moves.price_series_id = series.price_series_id
    inner join points on coalesce(moves.after_point_id, moves.before_point_id) = points.benchmark_point_id
    left join points as earlier_points on moves.before_point_id = earlier_points.benchmark_point_id
    left join points as later_points on moves.after_point_id = later_points.benchmark_point_id
    left join views as later
        on moves.after_point_id = later.benchmark_point_id
        and moves.chip_id = later.chip_id
    left join views as earlier
        on moves.before_point_id = earlier.benchmark_point_id
        and moves.chip_id = earlier.chip_id
    left join steps
        on moves.before_point_id = steps.before_point_id
        and moves.after_point_id = steps.after_point_id
        and steps.withdrawn = (moves.kind = 'withdrawn_change')
),

costs as (
    select
        *,
        before_usd / (before_tok_s_gpu * 3600 / 1e6) as before_cost,
        after_usd / (after_tok_s_gpu * 3600 / 1e6) as after_cost,
        -- Throughput at the price before: where the sequential split changes hands.
        before_usd / (after_tok_s_gpu * 3600 / 1e6) as between_cost,
        kind in ('retraction', 'correction', 'price_correction') as is_record,
        -- What each does to the cost: throughput and factor divide it. The throughput has the factor in it.
        ln(after_usd / before_usd) as price_log,
        ln(factor_ratio) as factor_log,
        ln(before_tok_s_gpu / after_tok_s_gpu) as throughput_log,
    from named
),

-- L = (after - before) / ln(after / before). Close to each other both are rounding; there the series of
-- L = sqrt(before x after) x sinh(x / 2) / (x / 2), x = ln(after / before), is exact to the last digit.
weighed as (
    select
        *,
        case
            when abs(price_log + throughput_log) < 1e-3
                then sqrt(before_cost * after_cost) * (1 + power(price_log + throughput_log, 2) / 24)
            else (after_cost - before_cost) / (price_log + throughput_log)
        end as mean_cost,
    from costs
    where before_cost is null
        or after_cost is null
        or before_cost <> after_cost
),

split as (
    select
        *,
        case when is_record then 0 else mean_cost * (throughput_log - factor_log) end as throughput_effect,
        case when is_record then 0 else mean_cost * price_log end as price_effect,
        case when is_record then 0 else mean_cost * factor_log end as factor_effect,
        case when is_record then after_cost - before_cost else 0 end as record_effect,
    from weighed
),

-- Movement of the matched panels, day by day from the value that stood before to the one after.
matched as (
    select
        split.line_id,
        split.chip_id,
        split.price_series_id,
        split.kind,
        split.after_point_id,
        split.moved_on,
        sum(ln(1 + own_index.matched_panel_change)) as matched_log,
        sum(ln(1 + own_index.exchange_rate_change)) as currency_log,
        count(own_index.matched_panel_change + own_index.exchange_rate_change) = date_diff('day', split.before_priced_on, split.after_priced_on)
            as every_day_is_matched,
    from split
    inner join own_index
        on split.index_name = own_index.index_id
        and split.chip_id = own_index.chip_id
        and own_index.date > split.before_priced_on
        and own_index.date <= split.after_priced_on
    where split.price_basis = 'own_index'
        and split.kind = 'standing'
    group by
        split.line_id,
        split.chip_id,
        split.price_series_id,
        split.kind,
        split.after_point_id,
        split.moved_on,
        split.before_priced_on,
        split.after_priced_on
)

select
    substr(
        md5(
            concat_ws(
                '|',
                split.line_id,
                split.chip_id,
                split.price_series_id,
                split.kind,
                coalesce(split.before_point_id, '-'),
                coalesce(split.after_point_id, '-'),
                cast(split.moved_on as varchar),
                coalesce(cast(epoch_us(split.known_at) as varchar), '-')
            )
        ),
        1,
        16
    ) as change_id,
    split.line_id,
    split.chip_id,
    split.model_id,
    split.workload_id,
    split.price_series_id,
    case
        when split.before_point_id is null then 'new'
        when split.kind = 'retraction' then 'retraction'
        when split.is_record then 'correction'
        when split.benchmark_cause is not null and split.price_log <> 0 then 'both'
        when split.benchmark_cause is not null then split.benchmark_cause
        else 'price'
    end as cause,
    split.benchmark_cause,
    split.claimed_cause,
    split.kind = 'standing' as standing,
    split.kind = 'withdrawn_change' as withdrawn,
    split.before_point_id,
    split.after_point_id,
    split.before_price_fact_id,
    split.after_price_fact_id,
    split.before_usd_per_gpu_hour,
    split.after_usd_per_gpu_hour,
    split.before_tok_s_gpu as before_throughput_tok_s_gpu,
    split.after_tok_s_gpu as after_throughput_tok_s_gpu,
    split.before_cost as before_usd_per_million_tokens,
    split.after_cost as after_usd_per_million_tokens,
    split.after_cost - split.before_cost as change_usd_per_million_tokens,
    (split.after_cost / split.before_cost - 1) * 100 as percent,
    case when split.mean_cost is not null then split.throughput_effect end as throughput_effect_usd,
    case when split.mean_cost is not null then split.price_effect end as price_effect_usd,
    case when split.mean_cost is not null then split.factor_effect end as factor_effect_usd,
    case when split.mean_cost is not null then split.record_effect end as record_effect_usd,
    case
        when split.before_priced_on = split.after_priced_on and split.price_basis = 'own_index' and not split.is_record
            then 0
        when matched.every_day_is_matched then split.mean_cost * (matched.matched_log - matched.currency_log)
    end as matched_panel_effect_usd,
    case
        when split.before_priced_on = split.after_priced_on and split.price_basis = 'own_index' and not split.is_record
            then 0
        when matched.every_day_is_matched then split.mean_cost * matched.currency_log
    end as currency_effect_usd,
    case
        when split.before_priced_on = split.after_priced_on and split.price_basis = 'own_index' and not split.is_record
            then 0
        when matched.every_day_is_matched then split.price_effect - split.mean_cost * matched.matched_log
    end as composition_effect_usd,
    case when not split.is_record then split.between_cost - split.before_cost end as sequential_throughput_effect_usd,
    case when not split.is_record then split.after_cost - split.between_cost end as sequential_price_effect_usd,
    case
        when split.before_point_id is null then 'new'
        when split.after_point_id is null then 'retracted'
    end as null_reason,
    split.evidence,
    split.before_price_age_days,
    split.after_price_age_days,
    split.before_benchmark_age_days,
    split.after_benchmark_age_days,
    split.before_until,
    split.moved_on as changed_on,
from split
left join matched
    on split.line_id = matched.line_id
    and split.chip_id = matched.chip_id
    and split.price_series_id = matched.price_series_id
    and split.kind = matched.kind
    and split.after_point_id = matched.after_point_id
    and split.moved_on = matched.moved_on
