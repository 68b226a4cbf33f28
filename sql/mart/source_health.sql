-- How a source is doing: when it last gave a good payload, and what became of its candidates; one row per source.
-- A source may come in several slices. Each is judged by its newest payload, and the worst of them speaks for the source,
-- by name; a slice that has not come for the source's age limit while others did is over, and is judged no more.
-- grain: source
-- column: source | slug
-- column: kind | rental, benchmark, token_price or index
-- column: title | who publishes what
-- column: status | ok, degraded (a larger share of its newest payload is refused than a person should leave unseen, it gave no payload when it was last asked, or a stored one is damaged), stale (older than its limit), failing (its newest payload was not loaded, or for a day it was asked and gave none) or empty (nothing stored yet)
-- column: reason | why it is not ok, and in which slice
-- column: is_fetched | has a live fetch; false: typed in seeds, or imported only
-- column: seen_live | a person has watched the live fetch succeed
-- column: last_success_at | newest moment at which a good payload was seen
-- column: age_hours | hours between it and the run's as_of
-- column: last_attempt_at | newest moment at which it was asked, or a payload came, good or not
-- column: failed_looks | times that a slice was asked and gave no payload
-- column: slices | parts that are judged
-- column: snapshots | payloads stored
-- column: damaged_snapshots | those whose files are not as they were stored
-- column: later_snapshots | those that show a moment after the run's as_of: no price in them is used; seeds state their moments themselves
-- column: candidates | candidate prices or points in those that could be read
-- column: accepted | became rows
-- column: rejected | wrong, each with a reason in rejected_row
-- column: not_applicable | no price or point of ours
-- column: newest_candidates | of these, those in the newest payload of each slice; null, as the three below: none could be read
-- column: newest_accepted | became rows
-- column: newest_rejected | wrong
-- column: newest_not_applicable | no price or point of ours
-- column: unmapped_names | names that no alias explains
-- check: candidates = accepted + rejected + not_applicable
-- check: case when newest_candidates is null then true else newest_candidates = newest_accepted + newest_rejected + newest_not_applicable end
-- check: (status = 'ok') = (reason is null)
with

sources as (
    select * from raw.source
),

health as (
    select * from mart.snapshot_health
),

sightings as (
    select * from core.known_sighting
),

run as (
    select * from core.run
),

failed as (
    select failed_look.*
    from raw.failed_look
    cross join run
    where failed_look.tried_at <= run.as_of
),

unmapped as (
    select
        source,
        count(*) as unmapped_names,
    from clean.unmapped_name
    group by source
),

parameters as (
    select
        max(case when method = 'price' and parameter = 'warned_anomaly_share' then value end) as warned_anomaly_share,
        max(case when method = 'alert' and parameter = 'failed_look_hours' then value end) as failed_look_hours,
    from raw.method_parameter
    where version = 'v1'
),

looks as (
    select
        source,
        max(observed_at) as last_success_at,
    from sightings
    group by source
),

slice_looks as (
    select
        source,
        slice,
        max(observed_at) as last_success_at,
    from sightings
    group by source, slice
),

failures as (
    select
        source,
        slice,
        max(tried_at) as last_failed_at,
        arg_max(told, tried_at) as told,
    from failed
    group by source, slice
),

newest_payload as (
    select health.*
    from health
    inner join sources on health.source = sources.source
    cross join run
    where health.slice is not null
        and (health.observed_at <= run.as_of or sources.is_seed)
    qualify row_number() over (
        partition by health.source, health.slice
        order by health.observed_at desc, health.recorded_at desc, health.snapshot_id desc
    ) = 1
),

-- A slice may have been asked and never have given anything.
tried_slices as (
    select
        coalesce(newest_payload.source, failures.source) as source,
        coalesce(newest_payload.slice, failures.slice) as slice,
        newest_payload.status,
        newest_payload.reason,
        newest_payload.candidates,
        newest_payload.accepted,
        newest_payload.rejected,
        newest_payload.not_applicable,
        newest_payload.observed_at,
        failures.last_failed_at,
        failures.told,
    from newest_payload
    full outer join failures
        on newest_payload.source = failures.source
        and newest_payload.slice = failures.slice
),

moments as (
    select source, slice, observed_at as tried_at from tried_slices where observed_at is not null
    union all
    select source, slice, last_failed_at as tried_at from tried_slices where last_failed_at is not null
    union all
    select source, slice, last_success_at as tried_at from slice_looks
),

attempts as (
    select
        source,
        max(tried_at) as last_attempt_at,
    from moments
    group by source
),

slice_attempts as (
    select
        source,
        slice,
        max(tried_at) as last_attempt_at,
    from moments
    group by source, slice
),

weighed_slices as (
    select
        tried_slices.*,
        case
            when tried_slices.last_failed_at > coalesce(slice_looks.last_success_at, tried_slices.observed_at)
                or tried_slices.observed_at is null
                then tried_slices.told
        end as failed_look,
        -- Null where nothing good ever came: no time has passed since.
        date_diff(
            'hour',
            slice_looks.last_success_at at time zone 'UTC',
            tried_slices.last_failed_at at time zone 'UTC'
        ) as hours_without,
        tried_slices.rejected / nullif(tried_slices.accepted + tried_slices.rejected, 0) as refused_share,
    from tried_slices
    left join slice_looks
        on tried_slices.source = slice_looks.source
        and tried_slices.slice = slice_looks.slice
),

judged_slices as (
    select
        weighed.source,
        weighed.slice,
        weighed.candidates,
        weighed.accepted,
        weighed.rejected,
        weighed.not_applicable,
        case
            when weighed.failed_look is not null and coalesce(weighed.hours_without >= parameters.failed_look_hours, true) then 1
            when weighed.status <> 'loaded' then 2
            when weighed.failed_look is not null then 3
            when weighed.refused_share > parameters.warned_anomaly_share then 4
            else 5
        end as severity,
        case
            when weighed.failed_look is not null and coalesce(weighed.hours_without >= parameters.failed_look_hours, true)
                then weighed.failed_look
            when weighed.status <> 'loaded' then coalesce(weighed.reason, weighed.status)
            when weighed.failed_look is not null then weighed.failed_look
            when weighed.refused_share > parameters.warned_anomaly_share
                then concat(cast(round(100 * weighed.refused_share) as varchar), ' % of the newest payload is refused')
        end as reason,
    from weighed_slices as weighed
    inner join sources on weighed.source = sources.source
    cross join parameters
    inner join attempts on weighed.source = attempts.source
    inner join slice_attempts
        on weighed.source = slice_attempts.source
        and weighed.slice = slice_attempts.slice
    where date_diff('hour', slice_attempts.last_attempt_at at time zone 'UTC', attempts.last_attempt_at at time zone 'UTC')
        <= sources.max_age_days * 24
),

sliced as (
    select
        source,
        count(*) as slices,
        cast(sum(candidates) as bigint) as newest_candidates,
        cast(sum(accepted) as bigint) as newest_accepted,
        cast(sum(rejected) as bigint) as newest_rejected,
        cast(sum(not_applicable) as bigint) as newest_not_applicable,
        count(case when severity < 5 then 1 end) as troubled_slices,
    from judged_slices
    group by source
),

worst as (
    select *
    from judged_slices
    qualify row_number() over (partition by source order by severity, slice) = 1
),

failed_looks as (
    select
        source,
        count(*) as failed_looks,
    from failed
    group by source
),

counted as (
    select
        health.source,
        count(*) as snapshots,
        count(case when health.status = 'damaged' then 1 end) as damaged_snapshots,
        count(case when health.observed_at > run.as_of and not sources.is_seed then 1 end) as later_snapshots,
        cast(coalesce(sum(health.candidates), 0) as bigint) as candidates,
        cast(coalesce(sum(health.accepted), 0) as bigint) as accepted,
        cast(coalesce(sum(health.rejected), 0) as bigint) as rejected,
        cast(coalesce(sum(health.not_applicable), 0) as bigint) as not_applicable,
    from health
    inner join sources on health.source = sources.source
    cross join run
    group by health.source
),

weighed as (
    select
        sources.source,
        sources.kind,
        sources.title,
        sources.is_fetched,
        sources.seen_live,
        sources.max_age_days,
        case
            when worst.source is null and coalesce(counted.damaged_snapshots, 0) = 0 then 'empty'
            when worst.severity <= 2 then 'failing'
            when not sources.is_seed
                and date_diff('hour', looks.last_success_at at time zone 'UTC', run.as_of at time zone 'UTC') > sources.max_age_days * 24
                then 'stale'
            when worst.severity in (3, 4) or counted.damaged_snapshots > 0 then 'degraded'
            else 'ok'
        end as status,
        case
            when sliced.slices > 1 and worst.reason is not null
                then concat('slice ', worst.slice, ' (', sliced.troubled_slices, ' of ', sliced.slices, ' slices): ', worst.reason)
            else worst.reason
        end as worst_reason,
        looks.last_success_at,
        date_diff('hour', looks.last_success_at at time zone 'UTC', run.as_of at time zone 'UTC') as age_hours,
        attempts.last_attempt_at,
        coalesce(failed_looks.failed_looks, 0) as failed_looks,
        coalesce(sliced.slices, 0) as slices,
        coalesce(counted.snapshots, 0) as snapshots,
        coalesce(counted.damaged_snapshots, 0) as damaged_snapshots,
        coalesce(counted.later_snapshots, 0) as later_snapshots,
        coalesce(counted.candidates, 0) as candidates,
        coalesce(counted.accepted, 0) as accepted,
        coalesce(counted.rejected, 0) as rejected,
        coalesce(counted.not_applicable, 0) as not_applicable,
        sliced.newest_candidates,
        sliced.newest_accepted,
        sliced.newest_rejected,
        sliced.newest_not_applicable,
        coalesce(unmapped.unmapped_names, 0) as unmapped_names,
    from sources
    cross join run
    left join worst on sources.source = worst.source
    left join sliced on sources.source = sliced.source
    left join counted on sources.source = counted.source
    left join looks on sources.source = looks.source
    left join attempts on sources.source = attempts.source
    left join failed_looks on sources.source = failed_looks.source
    left join unmapped on sources.source = unmapped.source
)

select
    source,
    kind,
    title,
    status,
    case
        when status = 'empty' and later_snapshots > 0
            then concat('nothing of it was seen by then; ', later_snapshots, ' payloads show a later moment')
        when status = 'empty' then 'nothing fetched or imported yet'
        when status = 'stale' then concat('last good payload is older than ', max_age_days, ' days')
        when worst_reason is not null then worst_reason
        when status = 'degraded'
            then concat(damaged_snapshots, ' stored payloads are damaged on the disk; mart.snapshot_health names them')
    end as reason,
    is_fetched,
    seen_live,
    last_success_at,
    age_hours,
    last_attempt_at,
    failed_looks,
    slices,
    snapshots,
    damaged_snapshots,
    later_snapshots,
    candidates,
    accepted,
    rejected,
    not_applicable,
    newest_candidates,
    newest_accepted,
    newest_rejected,
    newest_not_applicable,
    unmapped_names,
from weighed
