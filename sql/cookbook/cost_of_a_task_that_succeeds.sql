-- What does a task that succeeds cost, failed attempts included?
-- Under a named assumption of attempts and tokens; a task that never succeeds has no such cost.
select
    task_assumption_id,
    description,
    chip_id,
    precision,
    price_series_id,
    attempts as attempt_count,
    successes as success_count,
    output_tokens_per_attempt,
    usd_per_attempt,
    usd_per_successful_task,
    null_reason,
from mart.cost_per_successful_task
order by task_assumption_id, price_series_id, usd_per_successful_task nulls last, chip_id, precision
