-- One candidate that was not accepted, with the reason; one row per rejected candidate. Refused by the source's
-- parser (it could not be read) or by a rule of clean (it could be read and cannot be right).
-- grain: source, snapshot_id, row_number, kind
-- column: source | slug of the source
-- column: snapshot_id | stored payload
-- column: row_number | candidate within the payload
-- column: kind | row kind that it would have become
-- column: reason | why it was rejected
-- column: field | the field at fault, where one is
-- column: value | its value as received
-- column: locator | where it stands in the payload
with

refused as (
    select * from raw.refused_candidate where verdict = 'rejected'
),

sources as (
    select * from raw.source
),

quotes as (
    select * from clean.rental_quote where reject_reason is not null
),

published as (
    select * from clean.rental_index_value where reject_reason is not null
),

prices as (
    select * from clean.token_price where reject_reason is not null
),

results as (
    select * from clean.benchmark_result where reject_reason is not null and version = 0
),

evaluations as (
    select * from clean.evaluation_result where reject_reason is not null
),

jobs as (
    select * from clean.run_reliability where reject_reason is not null
),

notes as (
    select * from clean.change_note where reject_reason is not null
)

select
    refused.source,
    refused.snapshot_id,
    refused.row_number,
    refused.kind,
    refused.reason,
    refused.field,
    refused.value,
    refused.locator,
from refused
inner join sources on refused.source = sources.source

union all

select
    source,
    snapshot_id,
    row_number,
    'rental_quote' as kind,
    reject_reason as reason,
    'price' as field,
    cast(price as varchar) as value,
    concat_ws(' ', offer_key, region, price_type, cast(commitment_months as varchar)) as locator,
from quotes

union all

select
    source,
    snapshot_id,
    row_number,
    'rental_index_value' as kind,
    reject_reason as reason,
    'value' as field,
    cast(usd_per_gpu_hour as varchar) as value,
    concat_ws(' ', index_name, raw_gpu_name, cast(value_date as varchar)) as locator,
from published

union all

select
    source,
    snapshot_id,
    row_number,
    'token_price' as kind,
    reject_reason as reason,
    'price' as field,
    cast(usd_per_million_tokens as varchar) as value,
    concat_ws(' ', model_id, tier, token_kind) as locator,
from prices

union all

select
    source,
    snapshot_id,
    row_number,
    'benchmark_result' as kind,
    reject_reason as reason,
    'throughput' as field,
    cast(output_tok_s as varchar) as value,
    concat_ws(' ', raw_chip_name, engine, workload_id, run_id) as locator,
from results

union all

select
    source,
    snapshot_id,
    row_number,
    'evaluation_result' as kind,
    reject_reason as reason,
    'value' as field,
    cast(value as varchar) as value,
    concat_ws(' ', raw_chip_name, engine, task, metric, run_id) as locator,
from evaluations

union all

select
    source,
    snapshot_id,
    row_number,
    'run_reliability' as kind,
    reject_reason as reason,
    'succeeded_jobs' as field,
    cast(succeeded_jobs as varchar) as value,
    concat_ws(' ', raw_chip_name, cast(day as varchar)) as locator,
from jobs

union all

select
    source,
    snapshot_id,
    row_number,
    'change_note' as kind,
    reject_reason as reason,
    'note_key' as field,
    note_key as value,
    config_key as locator,
from notes
