-- Of which chips is there no rental index of our own today, and why?
-- The newest day of each chip, price type, commitment and segment.
with

newest as (
    select *
    from mart.rental_index_daily
    qualify row_number() over (
        partition by chip_id, price_type, commitment_months, segment, index_id
        order by date desc
    ) = 1
)

select
    chip_id,
    price_type,
    commitment_months,
    segment,
    date,
    provider_count,
    null_reason,
from newest
where null_reason is not null
order by chip_id, price_type, commitment_months, segment
