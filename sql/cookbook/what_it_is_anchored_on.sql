-- What are these figures anchored on?
-- Every stated figure, every operating point that no benchmark run proves, and every price series, with its source.
select
    'stated figure' as kind,
    subject as item,
    metric,
    value as figure_in_unit,
    unit,
    value_class as class,
    source,
    stated_on as day,
from mart.stated_value

union all

select
    'operating point' as kind,
    concat(publisher, ' ', point_label) as item,
    'interactivity_tok_s_user' as metric,
    interactivity_tok_s_user as figure_in_unit,
    'tokens per second per user' as unit,
    evidence as class,
    coalesce(url, note) as source,
    coalesce(measured_on, published_on) as day,
from mart.benchmark_point
where evidence <> 'measured'

union all

select
    'price series' as kind,
    title as item,
    'usd_per_gpu_hour' as metric,
    null as figure_in_unit,
    'USD per GPU-hour' as unit,
    price_basis as class,
    source,
    last_priced_on as day,
from mart.price_series
order by kind, source, item, metric
