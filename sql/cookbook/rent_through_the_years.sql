-- What has a chip rented for, quarter by quarter, on every price series?
-- First day of each quarter; a value that is too old to stand is no price.
select
    date,
    chip_id,
    price_series_id,
    price_type,
    usd_per_gpu_hour,
    price_age_days,
from mart.price_coverage
where chip_id = 'h100-sxm-80'
    and status = 'priced'
    and day(date) = 1
    and month(date) in (1, 4, 7, 10)
order by date, price_type, price_series_id
