-- The votes' history window is a literal in core.rental_vote, since a window frame takes no column.
select
    parameter,
    value,
from raw.method_parameter
where method = 'index' and parameter = 'sd_window_days' and value <> 90
