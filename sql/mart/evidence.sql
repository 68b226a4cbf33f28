-- Where a fact comes from: the row that a cost, a change or a chart can be traced to; one row per fact.
-- grain: fact_kind, fact_id
-- column: fact_kind | benchmark_result, rental_quote, rental_index_value, token_price or stated_value
-- column: fact_id | id that the other tables carry
-- column: source | slug of the source, or the text
-- column: snapshot_id | stored payload; null for a stated value
-- column: evidence | measured, vendor_claim, read_off_chart, derived, assumed, or listed for a price as published; a derived quote's derivation stands in core.rental_quote
-- column: passes_on | its publisher's terms let us pass it on
-- column: url | where a person can look
-- column: note | what a reader must know
-- column: known_at | when the world could know it
-- column: recorded_at | when we stored it; null for a stated value
with

results as (
    select * from core.known_benchmark_result
),

quotes as (
    select * from core.known_rental_quote
),

published as (
    select * from core.known_rental_index_value
),

prices as (
    select * from core.known_token_price
),

figures as (
    select * from mart.stated_value
)

select
    'benchmark_result' as fact_kind,
    benchmark_result_id as fact_id,
    source,
    snapshot_id,
    evidence,
    passes_on,
    url,
    note,
    known_at,
    recorded_at,
from results

union all

select
    'rental_quote' as fact_kind,
    quote_id as fact_id,
    source,
    snapshot_id,
    case when derivation is null then 'listed' else 'derived' end as evidence,
    passes_on,
    url,
    note,
    known_at,
    recorded_at,
from quotes

union all

select
    'rental_index_value' as fact_kind,
    index_value_id as fact_id,
    source,
    snapshot_id,
    'listed' as evidence,
    passes_on,
    url,
    note,
    known_at,
    recorded_at,
from published

union all

select
    'token_price' as fact_kind,
    token_price_id as fact_id,
    source,
    snapshot_id,
    'listed' as evidence,
    passes_on,
    url,
    note,
    known_at,
    recorded_at,
from prices

union all

select
    'stated_value' as fact_kind,
    stated_value_id as fact_id,
    source,
    cast(null as varchar) as snapshot_id,
    value_class as evidence,
    true as passes_on,
    cast(null as varchar) as url,
    note,
    known_at,
    cast(null as timestamptz) as recorded_at,
from figures
