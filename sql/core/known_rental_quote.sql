-- The quotes that this run may know: published by its as_of and not withdrawn; one row per quote.
-- grain: quote_id
with

quotes as (
    select * from core.rental_quote
),

run as (
    select * from core.run
),

known as (
    select quotes.*
    from quotes
    cross join run
    where quotes.known_at <= run.as_of
        and quotes.recorded_to is null
),

corrected as (
    select
        source,
        snapshot_id,
        row_number,
        max(version) as version,
    from known
    where version > 0
    group by source, snapshot_id, row_number
)

-- One look shows one price: of a row that was corrected the version in force stands, and not beside the stated one.
select known.*
from known
left join corrected
    on known.source = corrected.source
    and known.snapshot_id = corrected.snapshot_id
    and known.row_number = corrected.row_number
where known.version = coalesce(corrected.version, 0)
