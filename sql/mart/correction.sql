-- What a person says of stored facts and what came of it: corrections and retractions in force; one row per
-- correction. One that finds nothing changes nothing, and is shown all the same.
-- grain: correction_id
-- column: correction_id | key: source, snapshot and row
-- column: row_kind | what is corrected: benchmark_result, rental_quote, rental_index_value or token_price
-- column: locator | which facts, in the words of their source
-- column: action | correct: a figure is another one; retract: they leave current views
-- column: field | the figure, a column of that row kind as its source states it; null: retracted as a whole
-- column: status | applied; no_such_fact: nothing stored here fits the locator; no_longer_needed: the source itself says the new value now; set_aside: the fact is rejected as stated (mart.rejected_row) or of no known name, so that the correction has no effect; not_as_expected: it says a third value, which stops a build, and stands in earlier views alone
-- column: fact_count | facts that the locator finds, each in its newest statement; of a retraction the points
-- column: value_expected | the figure as its source states it, digit by digit, in the unit of the field
-- column: value_stated | the figure as its source states it last; null: no such fact, or retracted as a whole
-- column: value_new | the figure that takes its place
-- column: reason | why
-- column: url | where it can be read
-- column: source | the file of corrections
-- column: passes_on | the terms of every source of these facts let them be published
-- column: decided_on | day of the decision at its publisher
-- column: known_at | when the world could know it
-- column: recorded_at | moment that we stored this version of the file
with

corrections as (
    select * from core.known_correction
),

outcomes as (
    select * from core.correction_outcome
)

select
    corrections.correction_id,
    corrections.row_kind,
    corrections.locator,
    corrections.action,
    corrections.field,
    outcomes.status,
    outcomes.fact_count,
    corrections.value_expected,
    outcomes.value_stated,
    corrections.value_new,
    corrections.reason,
    corrections.url,
    corrections.source,
    corrections.passes_on,
    corrections.decided_on,
    corrections.known_at,
    corrections.recorded_at,
from corrections
inner join outcomes on corrections.correction_id = outcomes.correction_id
