-- What could 596 and then 848 tokens per second per agent cost?
-- Nobody knows: the reports state no throughput. Here is what each named assumption would make of them.
select
    point_label,
    assumption_id,
    sessions_per_gpu as session_count_per_gpu,
    interactivity_tok_s_user,
    seconds_per_thousand_tokens,
    usd_per_gpu_hour,
    usd_per_million_tokens,
    break_even_sessions_per_gpu as break_even_session_count_per_gpu,
    price_series_id,
    valid_from,
    valid_to,
from mart.assumed_cost
where usd_per_million_tokens is not null
order by assumption_id, price_series_id, point_label, valid_from
