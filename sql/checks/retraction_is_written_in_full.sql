-- A retraction whose locator is of no known form would retract nothing, and nobody would notice. Whether what it
-- names is stored is not asked: a publisher withdraws runs that were never imported.
select
    correction_id,
    locator,
from core.correction
where action = 'retract'
    and not regexp_matches(locator, '^([^/A-Z ]+/(run|result)/[^ ].*|[0-9a-f]{16})$')
