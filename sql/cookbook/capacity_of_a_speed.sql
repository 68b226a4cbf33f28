-- How many tokens and requests would 848 tokens per second make in a day?
-- If that speed ran on without a pause. It is a speed per session: what a GPU makes needs an assumption.
select distinct
    point_label,
    interactivity_tok_s_user,
    million_output_tokens_per_session_hour,
    million_output_tokens_per_session_day,
    output_tokens_per_request,
    request_length_class,
    requests_per_session_day as request_count_per_session_day,
from mart.capacity
where point_label = 'speed-848'
order by output_tokens_per_request
