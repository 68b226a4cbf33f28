-- Each provider's part in the rental index of a day; one row per UTC day, chip, price type, commitment and provider.
-- grain: date, chip_id, price_type, commitment_months, provider_id
-- column: date | UTC day
-- column: chip_id | the chip
-- column: price_type | price type; each is an index of its own
-- column: commitment_months | months of commitment of a reserved price
-- column: segment | specialist or hyperscaler; each is an index of its own
-- column: provider_id | who votes
-- column: usd_per_gpu_hour | the vote
-- column: sd_usd_per_gpu_hour | its spread: larger of its own history's sd and 3 %
-- column: history_votes | own accepted votes in the 90 days before
-- column: status | counted, carried (does not count towards the minimum), or why it is held out
-- column: weight | share among the votes of its segment, equal unless seeds/vote_weight.csv says otherwise; null: held out
-- column: partial_node | no full node is offered
-- column: listed_only | the source says nothing of stock
-- column: quote_id | the quote behind it; null for a marketplace's median
-- column: source | slug of the source
-- column: age_days | days since the look behind it
-- column: observed_at | moment of that look
with

votes as (
    select * from core.rental_vote
)

select
    date,
    chip_id,
    price_type,
    commitment_months,
    segment,
    provider_id,
    usd_per_gpu_hour,
    sd_usd_per_gpu_hour,
    history_votes,
    status,
    weight,
    partial_node,
    listed_only,
    quote_id,
    source,
    age_days,
    observed_at,
from votes
