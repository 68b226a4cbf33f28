-- The token prices that this run may know; one row per price.
-- grain: token_price_id
with

prices as (
    select * from core.token_price
),

run as (
    select * from core.run
)

select prices.*
from prices
cross join run
where prices.known_at <= run.as_of
    and prices.recorded_to is null
