-- One figure that a correction speaks of, as one payload states it; one row per raw row, locator and field. The locators
-- are those of pipelines/corrections.py, in the words of the source.
-- grain: row_kind, locator, field, source, snapshot_id, row_number
-- column: benchmark_point_id | the point that the locator means among those of the run that it names; null: it names no run
-- column: stated_value | the figure as its source states it, in the unit of the field
-- column: passes_on | the terms of its source let it be published
-- column: known_at | when the world could know it
-- column: recorded_to | moment that a newer version of a seed replaced it; null: in force
with

named as (
    select distinct
        row_kind,
        locator,
        field,
        case
            when row_kind = 'benchmark_result' and regexp_matches(locator, '^[^/]+/run/.*/[0-9a-f]{16}$')
                then substr(locator, 1, length(locator) - 17)
            else locator
        end as fact_locator,
        case
            when row_kind = 'benchmark_result' and regexp_matches(locator, '^[^/]+/run/.*/[0-9a-f]{16}$')
                then substr(locator, length(locator) - 15)
        end as benchmark_point_id,
    from raw.correction
    where action = 'correct'
),

results as (
    select * from raw.benchmark_result
),

quotes as (
    select * from raw.rental_quote
),

published as (
    select * from raw.rental_index_value
),

prices as (
    select * from raw.token_price
),

snapshots as (
    select * from clean.snapshot
),

series as (
    select * from raw.price_series
),

-- A result has up to three names.
result_names as (
    select source, snapshot_id, row_number, concat(publisher, '/result/', result_id) as fact_locator,
    from results
    where result_id is not null

    union all

    select source, snapshot_id, row_number, concat(publisher, '/label/', point_label) as fact_locator,
    from results
    where point_label is not null

    union all

    select source, snapshot_id, row_number, concat(publisher, '/run/', run_id) as fact_locator,
    from results
    where run_id is not null
),

figures as (
    select
        named.row_kind,
        named.locator,
        named.field,
        named.benchmark_point_id,
        results.source,
        results.snapshot_id,
        results.row_number,
        cast(null as varchar) as index_name,
        case named.field
            when 'output_tok_s' then results.output_tok_s
            when 'input_tok_s' then results.input_tok_s
            when 'total_tok_s' then results.total_tok_s
            when 'interactivity_tok_s_user' then results.interactivity_tok_s_user
            when 'ttft_p50_ms' then results.ttft_p50_ms
            when 'ttft_p99_ms' then results.ttft_p99_ms
            when 'tpot_p50_ms' then results.tpot_p50_ms
            when 'tpot_p99_ms' then results.tpot_p99_ms
            when 'accelerator_count' then cast(results.accelerator_count as double)
            when 'prefill_accelerator_count' then cast(results.prefill_accelerator_count as double)
            when 'decode_accelerator_count' then cast(results.decode_accelerator_count as double)
            when 'tp' then cast(results.tp as double)
        end as stated_value,
        results.known_at,
    from named
    inner join result_names
        on named.row_kind = 'benchmark_result'
        and named.fact_locator = result_names.fact_locator
    inner join results
        on result_names.source = results.source
        and result_names.snapshot_id = results.snapshot_id
        and result_names.row_number = results.row_number

    union all

    select
        named.row_kind,
        named.locator,
        named.field,
        named.benchmark_point_id,
        quotes.source,
        quotes.snapshot_id,
        quotes.row_number,
        cast(null as varchar) as index_name,
        cast(quotes.price as double) as stated_value,
        quotes.known_at,
    from named
    inner join quotes
        on named.row_kind = 'rental_quote'
        and named.field = 'price'
        and named.fact_locator = concat_ws(
            '/',
            quotes.source,
            quotes.offer_key,
            coalesce(quotes.region, '-'),
            quotes.price_type || coalesce(':' || quotes.commitment_months || 'm', ''),
            cast(cast(quotes.observed_at at time zone 'UTC' as date) as varchar)
        )

    union all

    select
        named.row_kind,
        named.locator,
        named.field,
        named.benchmark_point_id,
        published.source,
        published.snapshot_id,
        published.row_number,
        published.index_name,
        cast(published.value as double) as stated_value,
        published.known_at,
    from named
    inner join published
        on named.row_kind = 'rental_index_value'
        and named.field = 'value'
        and named.fact_locator = concat_ws(
            '/',
            published.source,
            published.index_name,
            published.raw_gpu_name,
            published.price_type || coalesce(':' || published.commitment_months || 'm', ''),
            cast(published.value_date as varchar)
        )

    union all

    select
        named.row_kind,
        named.locator,
        named.field,
        named.benchmark_point_id,
        prices.source,
        prices.snapshot_id,
        prices.row_number,
        cast(null as varchar) as index_name,
        cast(prices.price as double) as stated_value,
        prices.known_at,
    from named
    inner join prices
        on named.row_kind = 'token_price'
        and named.field = 'price'
        and named.fact_locator = concat_ws(
            '/',
            prices.source,
            prices.provider,
            prices.raw_model_name,
            prices.tier,
            prices.token_kind,
            cast(cast(prices.effective_from at time zone 'UTC' as date) as varchar)
        )
)

select
    figures.row_kind,
    figures.locator,
    figures.field,
    figures.benchmark_point_id,
    figures.source,
    figures.snapshot_id,
    figures.row_number,
    figures.stated_value,
    snapshots.passes_on and coalesce(series.passes_on, true) as passes_on,
    coalesce(figures.known_at, snapshots.observed_at) as known_at,
    snapshots.recorded_at,
    snapshots.recorded_to,
from figures
inner join snapshots
    on figures.source = snapshots.source
    and figures.snapshot_id = snapshots.snapshot_id
left join series on figures.index_name = series.index_name
-- Another payload that leaves the figure out says nothing against it.
where figures.stated_value is not null
