-- The quote that stands for one machine of a marketplace on a day; one row per source, provider, chip, price type,
-- commitment, UTC day, host and machine. A machine shows as one, two, four and eight GPUs at once: its largest
-- offer stands for it, from the last payload of the day. The medians of core.provider_vote are over these rows.
-- grain: quote_id, priced_on
-- column: quote_id | the quote
-- column: priced_on | UTC day of the look
-- column: looked_at | moment of that look
-- column: usd_per_gpu_hour | DECIMAL(18,6)
-- check: usd_per_gpu_hour > 0
with

observations as (
    select *
    from core.quote_observation
    where is_last_of_day
        and not is_seed
        and availability <> 'unavailable'
        and derivation is null
),

providers as (
    select * from raw.provider where provider_class = 'marketplace' and segment is not null
)

select
    observations.source,
    observations.source_rank,
    observations.provider_id,
    observations.chip_id,
    observations.price_type,
    observations.commitment_months,
    observations.host_key,
    observations.machine_key,
    observations.quote_id,
    observations.availability,
    observations.gpu_count,
    observations.usd_per_gpu_hour,
    observations.currency,
    observations.fx_usd_per_unit,
    observations.passes_on,
    observations.priced_on,
    observations.looked_at,
from observations
inner join providers on observations.provider_id = providers.provider_id
qualify row_number() over (
    partition by
        observations.source,
        observations.provider_id,
        observations.chip_id,
        observations.price_type,
        observations.commitment_months,
        observations.priced_on,
        observations.host_key,
        coalesce(observations.machine_key, observations.quote_id)
    order by observations.gpu_count desc nulls last, observations.usd_per_gpu_hour, observations.quote_id
) = 1
