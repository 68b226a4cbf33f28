-- What does our own rental index say, and how wide is its band?
-- The newest day of each chip, price type and segment. A band is a distance to each side of the index.
select
    date,
    chip_id,
    price_type,
    commitment_months,
    segment,
    usd_per_gpu_hour,
    usd_per_gpu_hour - band_usd_per_gpu_hour as low_usd_per_gpu_hour,
    usd_per_gpu_hour + band_usd_per_gpu_hour as high_usd_per_gpu_hour,
    provider_count,
    matched_panel_change as matched_panel_change_ratio,
    null_reason,
    method_version,
from mart.rental_index_daily
qualify row_number() over (
    partition by chip_id, price_type, commitment_months, segment order by date desc
) = 1
order by chip_id, price_type, segment, commitment_months
