-- A chip that a provider priced at one look and no longer at the next: renamed, sold out or lost by a parser; one
-- row per source, provider, chip, price type and commitment. The index carries its vote for some days and then
-- drops it, so a person should know before the panel changes.
-- grain: source, provider_id, chip_id, price_type, commitment_months
-- column: source | slug of the source
-- column: provider_id | who rented it out
-- column: chip_id | the chip
-- column: price_type | its price type
-- column: commitment_months | months of commitment of a reserved price
-- column: last_priced_on | day of its last price
-- column: seen_without_on | next day on which the source was seen, without it
-- column: last_usd_per_gpu_hour | its last price
-- column: still_offered | always false; the warning of a build counts these rows
-- warn: still_offered
with

prices as (
    select * from core.provider_price where not is_seed
),

newest as (
    select *
    from prices
    qualify row_number() over (
        partition by source, provider_id, chip_id, price_type, commitment_months
        order by priced_on desc
    ) = 1
),

run as (
    select * from core.run
)

select
    newest.source,
    newest.provider_id,
    newest.chip_id,
    newest.price_type,
    newest.commitment_months,
    newest.priced_on as last_priced_on,
    newest.next_source_on as seen_without_on,
    newest.usd_per_gpu_hour as last_usd_per_gpu_hour,
    false as still_offered,
from newest
cross join run
where newest.next_source_on is not null
    -- News for a month; after that it is history.
    and date_diff('day', newest.next_source_on, cast(run.as_of at time zone 'UTC' as date)) <= 31
