-- On which price series are costs computed?
select
    price_series_id,
    title,
    price_basis,
    price_type,
    commitment_months,
    headline_order,
    max_age_days,
    last_priced_on,
from mart.price_series
where price_basis <> 'provider_price'
order by headline_order nulls last, price_series_id
