-- One stored payload of a known source, with the times that its rows inherit; one row per snapshot.
-- grain: source, snapshot_id
-- column: source | slug of the source
-- column: snapshot_id | id of the stored payload
-- column: slice | part of the source that one payload covers
-- column: is_seed | typed by a person in seeds/, where each version of the file replaces the one before
-- column: status | loaded, or why not; anomalous: too large a share of it was refused, or too much of what it usually brings is missing, for any of it to be believed
-- column: anomaly_share | refused by the parser / (accepted + refused)
-- column: usual_accepted | median of what the payloads stored before it in its slice brought; null: too few to say, or of a kind whose payloads have no usual size
-- column: accepted_is_short | it brings too small a share of usual_accepted
-- column: observed_at | moment that the payload shows; of a damaged one as its name has it
-- column: last_seen_at | last moment at which the same payload was seen again
-- column: recorded_at | moment that we stored it; null: its sidecar is damaged
-- column: recorded_to | moment that the next version of a seed was stored; null: in force
-- check: status = 'damaged' or (observed_at is not null and recorded_at is not null)
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
        max(case when parameter = 'min_accepted_share_of_usual' then value end) as min_accepted_share,
        max(case when parameter = 'usual_payloads' then value end) as usual_payloads,
        max(case when parameter = 'min_usual_payloads' then value end) as min_usual_payloads,
        max(case when parameter = 'min_usual_accepted' then value end) as min_usual_accepted,
    from raw.method_parameter
    where method = 'price' and version = 'v1'
),

-- A price list says everything at once, so its size is its own measure; a benchmark's payload is one run of many.
listed as (
    select
        snapshots.source,
        snapshots.snapshot_id,
        snapshots.slice,
        snapshots.accepted,
        snapshots.observed_at,
        row_number() over (
            partition by snapshots.source, snapshots.slice
            order by snapshots.recorded_at, snapshots.observed_at, snapshots.snapshot_id
        ) as place,
    from snapshots
    inner join sources on snapshots.source = sources.source
    where snapshots.status = 'loaded'
        and sources.kind in ('rental', 'token_price')
        and sources.is_fetched
        and not sources.is_seed
),

steps as (
    select cast(unnest(generate_series(1, cast(usual_payloads as bigint))) as bigint) as step
    from parameters
),

-- What was not believed counts here too: a list that has truly become shorter is believed once it is the usual one.
-- Only what was stored before it can judge a list, so that an archive that comes late changes no recorded price; and
-- only what shows an earlier moment: an old archive was smaller because the world was.
usual as (
    select
        listed.source,
        listed.snapshot_id,
        median(earlier.accepted) as usual_accepted,
    from listed
    cross join parameters
    cross join steps
    inner join listed as earlier
        on listed.source = earlier.source
        and listed.slice = earlier.slice
        and listed.place - steps.step = earlier.place
        and listed.observed_at >= earlier.observed_at
    group by listed.source, listed.snapshot_id, parameters.min_usual_payloads, parameters.min_usual_accepted
    having count(*) >= parameters.min_usual_payloads
        and median(earlier.accepted) >= parameters.min_usual_accepted
),

weighed as (
    select
        snapshots.*,
        usual.usual_accepted,
        snapshots.rejected / nullif(snapshots.accepted + snapshots.rejected, 0) as anomaly_share,
        case
            when snapshots.status = 'loaded'
                and snapshots.rejected >= parameters.min_anomalies
                and snapshots.rejected
                > parameters.max_anomaly_share * (snapshots.accepted + snapshots.rejected)
                then 'anomalous'
            when snapshots.accepted < parameters.min_accepted_share * usual.usual_accepted
                then 'anomalous'
            else snapshots.status
        end as verdict,
        coalesce(
            snapshots.accepted < parameters.min_accepted_share * usual.usual_accepted, false
        ) as accepted_is_short,
    from snapshots
    cross join parameters
    left join usual
        on snapshots.source = usual.source
        and snapshots.snapshot_id = usual.snapshot_id
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
    snapshots.usual_accepted,
    snapshots.accepted_is_short,
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
