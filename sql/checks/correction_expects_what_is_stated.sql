-- A correction of a figure that its source states otherwise by now was decided on something else: what is right must be
-- looked up by a person.
select
    concat(
        'seeds/correction/',
        corrections.source,
        '.csv:',
        corrections.row_number + 2,
        ': ',
        corrections.locator,
        ': expects ',
        corrections.field,
        ' ',
        corrections.value_expected,
        ', and the source says ',
        outcomes.value_stated,
        '. See which is right, then mend value_expected and value_new, or take the row out'
    ) as message,
from core.known_correction as corrections
inner join core.correction_outcome as outcomes on corrections.correction_id = outcomes.correction_id
where outcomes.status = 'not_as_expected'
