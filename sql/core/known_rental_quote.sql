-- The quotes that this run may know: published by its as_of and not withdrawn; one row per quote.
-- grain: quote_id
with

quotes as (
    select * from core.rental_quote
),

run as (
    select * from core.run
)

select quotes.*
from quotes
cross join run
where quotes.known_at <= run.as_of
    and quotes.recorded_to is null
