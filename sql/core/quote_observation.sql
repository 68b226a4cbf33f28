-- One look at one quote: a payload's quotes were seen at every look at the payload, a typed fact when its row
-- says so; one row per quote and look.
-- grain: quote_id, looked_at
-- column: looked_at | moment of the look
-- column: priced_on | its UTC day
-- column: next_look_at | next look at the same slice of the source; null: none yet, or a typed fact
-- column: is_last_of_day | from the last payload of that UTC day; what that one no longer lists is gone
with

quotes as (
    select * from core.known_rental_quote
),

sightings as (
    select * from core.known_sighting
),

looks as (
    select
        source,
        slice,
        observed_at,
        lead(observed_at) over (partition by source, slice order by observed_at) as next_look_at,
        max(observed_at) over (
            partition by source, slice, cast(observed_at at time zone 'UTC' as date)
        ) as last_look_of_day_at,
    from (
        select distinct
            source,
            slice,
            observed_at,
        from sightings
    ) as distinct_looks
)

select
    quotes.*,
    looks.observed_at as looked_at,
    cast(looks.observed_at at time zone 'UTC' as date) as priced_on,
    looks.next_look_at,
    looks.observed_at = looks.last_look_of_day_at as is_last_of_day,
from quotes
inner join sightings
    on quotes.source = sightings.source
    and quotes.snapshot_id = sightings.snapshot_id
inner join looks
    on sightings.source = looks.source
    and sightings.slice = looks.slice
    and sightings.observed_at = looks.observed_at
where not quotes.is_seed

union all

select
    quotes.*,
    quotes.observed_at as looked_at,
    cast(quotes.observed_at at time zone 'UTC' as date) as priced_on,
    cast(null as timestamptz) as next_look_at,
    true as is_last_of_day,
from quotes
where quotes.is_seed
