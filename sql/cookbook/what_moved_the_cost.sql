-- What moved the cost of a million tokens, the chip's price or its throughput?
-- The newest moves of the history as it is known now; the effects add up to the change, in whatever order they are taken.
select
    changed_on,
    chip_id,
    model_id,
    price_series_id,
    cause,
    benchmark_cause,
    before_usd_per_million_tokens,
    after_usd_per_million_tokens,
    throughput_effect_usd,
    price_effect_usd,
    factor_effect_usd,
    line_id,
from mart.cost_change
where standing
    and null_reason is null
order by changed_on desc, abs(change_usd_per_million_tokens) desc, line_id, price_series_id
limit 50
