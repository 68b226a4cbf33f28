-- Beside the headline stands one series of each basis: two would be blended by the column that shows them.
select
    price_type,
    commitment_months,
    count(*) as series_count,
from core.price_series
where headline_order is not null
group by price_type, commitment_months
having count(*) > 1
