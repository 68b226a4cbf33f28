-- What is each model called?
select
    model_id,
    model_name,
from mart.model
order by model_id
