-- A figure that a text states and that is neither price, point nor deck; one row per figure.
-- grain: stated_value_id
-- column: stated_value_id | key
-- column: subject | what it is about
-- column: metric | what is measured
-- column: value | the figure as stated
-- column: unit | its unit
-- column: value_class | stated, derived, assumed or not_reproducible
-- column: source | the text
-- column: note | what a reader must know
-- column: stated_on | day it holds for
-- column: date_precision | how precise that day is: day, month or unknown
-- column: known_at | when it was published
with

figures as (
    select * from raw.stated_value
),

run as (
    select * from core.run
)

select
    figures.stated_value_id,
    figures.subject,
    figures.metric,
    figures.value,
    figures.unit,
    figures.value_class,
    figures.source,
    figures.note,
    figures.stated_on,
    figures.date_precision,
    figures.known_at,
from figures
cross join run
where figures.known_at <= run.as_of
