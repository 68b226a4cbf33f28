-- What a publisher says it changed in one of its configurations: a claimed cause, and no measured one; one row per
-- entry, configuration and words. Where several payloads state it, the earliest run with the change stands.
-- grain: note_id
-- column: note_id | key
-- column: publisher | who published it
-- column: note_key | the publisher's own key of the entry, such as its pull request, or its place in a list
-- column: config_key | configuration as the publisher names it; a pattern where it writes one
-- column: chip_id | chip that the configuration names; null: it names none, or one that nobody knows
-- column: model_id | model that it names; null likewise
-- column: description | what was changed, in the publisher's words
-- column: run_id | first run with the change; null: not stated
-- column: changed_on | day of that run; null: not stated
-- column: source | slug of the source
-- column: url | the change itself
-- column: known_at | when the world could first know it
-- column: recorded_at | when we stored this statement of it
with

notes as (
    select * from core.known_change_note
)

select
    note_id,
    publisher,
    note_key,
    config_key,
    chip_id,
    model_id,
    description,
    run_id,
    changed_on,
    source,
    url,
    min(known_at) over (partition by note_id) as known_at,
    recorded_at,
from notes
qualify row_number() over (
    partition by note_id
    order by changed_on nulls last, source_rank, known_at, change_note_id
) = 1
