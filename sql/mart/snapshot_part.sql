-- Where the bytes behind every figure lie: one file of one stored payload, with its hash and the address that it was
-- asked of; one row per part. Payloads of sources and seeds; our own records are left to recorded_yield.
-- grain: source, snapshot_id, part
-- column: source | slug of the source; seeds: reference that a person typed
-- column: snapshot_id | stored payload, as the facts carry it
-- column: slice | part of the source that one payload covers
-- column: part | place within the payload, from 0
-- column: name | name of the file or the response
-- column: url | address that it was asked of, without keys; null: it was imported or typed
-- column: bytes | length, uncompressed
-- column: sha256 | SHA-256 of those bytes
-- column: observed_at | moment that the payload shows
-- column: recorded_at | moment that it was stored
-- check: length(sha256) = 64
with

parts as (
    select * from raw.snapshot_part
)

select
    source,
    snapshot_id,
    slice,
    part,
    name,
    url,
    bytes,
    sha256,
    observed_at,
    recorded_at,
from parts
where source <> 'record'
