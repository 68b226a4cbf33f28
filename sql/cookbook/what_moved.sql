-- What moved, and why?
-- The newest changes first. A cause that nothing stated shows is `unknown`; what a publisher claims stands apart.
select
    after_on,
    before_on,
    chip_id,
    model_id,
    metric,
    token_kind,
    gpu_scope,
    before_value as before_tok_s,
    after_value as after_tok_s,
    percent as change_percent,
    conditional_cost_percent as cost_change_at_equal_price_percent,
    cause,
    claimed_cause,
    withdrawn,
    evidence,
    note,
from mart.yield_change
order by after_on desc, abs(percent) desc, line_id
limit 50
