-- One stored payload of a known source, with the times that its rows inherit; one row per snapshot.
-- grain: source, snapshot_id
-- column: source | slug of the source
-- column: snapshot_id | id of the stored payload
-- column: slice | part of the source that one payload covers
-- column: is_seed | typed by a person in seeds/, where each version of the file replaces the one before
-- column: status | loaded, or why not; anomalous: too large a share of it was refused for any of it to be believed
-- column: anomaly_share | refused by the parser / (accepted + refused)
-- column: observed_at | moment that the payload shows
-- column: last_seen_at | last moment at which the same payload was seen again
-- column: recorded_at | moment that we stored it
-- column: recorded_to | moment that the next version of a seed was stored; null: in force
-- check: observed_at is not null and recorded_at is not null
with

snapshots as (
    select * from raw.snapshot
),

sources as (
    select * from raw.source
),

parameters as (
    select
        max(case when parameter = 'max_anomaly_share' then value end) as max_anomaly_share,
        max(case when parameter = 'min_anomalies' then value end) as min_anomalies,
    from raw.method_parameter
    where method = 'price' and version = 'v1'
),

weighed as (
    select
        snapshots.*,
        snapshots.rejected / nullif(snapshots.accepted + snapshots.rejected, 0) as anomaly_share,
        case
            when snapshots.status = 'loaded'
                and snapshots.rejected >= parameters.min_anomalies
                and snapshots.rejected
                > parameters.max_anomaly_share * (snapshots.accepted + snapshots.rejected)
                then 'anomalous'
            else snapshots.status
        end as verdict,
    from snapshots
    cross join parameters
),

sightings as (
    select
        source,
        snapshot_id,
        max(observed_at) as last_seen_at,
    from raw.sighting
    group by source, snapshot_id
)

select
    snapshots.source,
    snapshots.snapshot_id,
    snapshots.slice,
    sources.kind as source_kind,
    sources.is_seed,
    sources.passes_on,
    sources.source_rank,
    sources.max_age_days,
    snapshots.verdict as status,
    snapshots.anomaly_share,
    snapshots.observed_at,
    coalesce(sightings.last_seen_at, snapshots.observed_at) as last_seen_at,
    snapshots.recorded_at,
    case
        when sources.is_seed then lead(snapshots.recorded_at) over (
            partition by snapshots.source, snapshots.slice, snapshots.verdict
            order by snapshots.recorded_at, snapshots.snapshot_id
        )
    end as recorded_to,
from weighed as snapshots
inner join sources on snapshots.source = sources.source
left join sightings
    on snapshots.source = sightings.source
    and snapshots.snapshot_id = sightings.snapshot_id
