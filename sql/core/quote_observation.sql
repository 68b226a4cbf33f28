-- One look at one quote: a payload's quotes were seen at every look at the payload, a typed fact when its row
-- says so; one row per quote and look. A price announced for a later day counts from that day and not before.
-- grain: quote_id, seen_at
-- column: seen_at | moment of the look
-- column: looked_at | moment from which the look speaks: the look itself, or the later start of an announced price
-- column: priced_on | its UTC day
-- column: next_look_at | next look at the same slice of the source; null: none yet, a typed fact, or an announced price
-- column: is_last_of_day | from the last look that speaks of that UTC day; what that one no longer lists is gone
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
        lead(observed_at) over (partition by source, slice order by observed_at) as look_after_at,
    from (
        select distinct
            source,
            slice,
            observed_at,
        from sightings
    ) as distinct_looks
),

seen as (
    select
        quotes.*,
        looks.observed_at as seen_at,
        looks.look_after_at,
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
        quotes.observed_at as seen_at,
        cast(null as timestamptz) as look_after_at,
    from quotes
    where quotes.is_seed
),

days as (
    select
        source,
        slice,
        cast(observed_at at time zone 'UTC' as date) as look_on,
        max(observed_at) as last_look_at,
    from sightings
    group by source, slice, cast(observed_at at time zone 'UTC' as date)
),

speaking as (
    select
        *,
        greatest(seen_at, effective_from) as looked_at,
        cast(greatest(seen_at, effective_from) at time zone 'UTC' as date) as priced_on,
        case when effective_from <= seen_at then look_after_at end as next_look_at,
    from seen
)

select
    speaking.*,
    speaking.seen_at = coalesce(
        case when not speaking.is_seed then days.last_look_at end,
        max(speaking.seen_at) over (partition by speaking.source, speaking.slice, speaking.priced_on)
    ) as is_last_of_day,
from speaking
left join days
    on speaking.source = days.source
    and speaking.slice = days.slice
    and speaking.priced_on = days.look_on
