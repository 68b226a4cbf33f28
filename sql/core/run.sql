-- What a run was told; the only clock that a model may read. One row.
-- grain: as_of
-- column: as_of | the moment up to which facts are known to this run
with

runs as (
    select * from raw.run
)

select as_of
from runs
