-- How a source is doing: when it last gave a good payload, and what became of its candidates; one row per source.
-- grain: source
-- column: source | slug
-- column: kind | rental, benchmark, token_price or index
-- column: title | who publishes what
-- column: status | ok, degraded (a larger share of its newest payload is refused than a person should leave unseen), stale (older than its limit), failing (its newest payload was not loaded) or empty (nothing stored yet)
-- column: reason | why it is not ok
-- column: is_fetched | has a live fetch; false: typed in seeds, or imported only
-- column: seen_live | a person has watched the live fetch succeed
-- column: last_success_at | newest moment at which a good payload was seen
-- column: age_hours | hours between it and the run's as_of
-- column: snapshots | payloads stored
-- column: candidates | candidate prices or points in them
-- column: accepted | became rows
-- column: rejected | wrong, each with a reason in rejected_row
-- column: not_applicable | no price or point of ours
-- column: unmapped_names | names that no alias explains
-- check: candidates = accepted + rejected + not_applicable
with

sources as (
    select * from raw.source
),

health as (
    select * from mart.snapshot_health
),

looks as (
    select
        source,
        max(observed_at) as last_success_at,
    from core.known_sighting
    group by source
),

unmapped as (
    select
        source,
        count(*) as unmapped_names,
    from clean.unmapped_name
    group by source
),

run as (
    select * from core.run
),

parameters as (
    select max(value) as warned_anomaly_share
    from raw.method_parameter
    where method = 'price' and version = 'v1' and parameter = 'warned_anomaly_share'
),

newest as (
    select
        source,
        status,
        reason,
        rejected / nullif(accepted + rejected, 0) as refused_share,
    from health
    qualify row_number() over (
        partition by source
        order by observed_at desc, recorded_at desc, snapshot_id desc
    ) = 1
),

counted as (
    select
        source,
        count(*) as snapshots,
        cast(sum(candidates) as bigint) as candidates,
        cast(sum(accepted) as bigint) as accepted,
        cast(sum(rejected) as bigint) as rejected,
        cast(sum(not_applicable) as bigint) as not_applicable,
    from health
    group by source
)

select
    sources.source,
    sources.kind,
    sources.title,
    case
        when newest.source is null then 'empty'
        when newest.status <> 'loaded' then 'failing'
        when not sources.is_seed
            and date_diff('hour', looks.last_success_at at time zone 'UTC', run.as_of at time zone 'UTC') > sources.max_age_days * 24
            then 'stale'
        when newest.refused_share > parameters.warned_anomaly_share then 'degraded'
        else 'ok'
    end as status,
    case
        when newest.source is null then 'nothing fetched or imported yet'
        when newest.status <> 'loaded' then newest.reason
        when not sources.is_seed
            and date_diff('hour', looks.last_success_at at time zone 'UTC', run.as_of at time zone 'UTC') > sources.max_age_days * 24
            then concat('last good payload is older than ', sources.max_age_days, ' days')
        when newest.refused_share > parameters.warned_anomaly_share
            then cast(round(100 * newest.refused_share) as varchar) || ' % of the newest payload is refused'
    end as reason,
    sources.is_fetched,
    sources.seen_live,
    looks.last_success_at,
    date_diff('hour', looks.last_success_at at time zone 'UTC', run.as_of at time zone 'UTC') as age_hours,
    coalesce(counted.snapshots, 0) as snapshots,
    coalesce(counted.candidates, 0) as candidates,
    coalesce(counted.accepted, 0) as accepted,
    coalesce(counted.rejected, 0) as rejected,
    coalesce(counted.not_applicable, 0) as not_applicable,
    coalesce(unmapped.unmapped_names, 0) as unmapped_names,
from sources
cross join run
cross join parameters
left join newest on sources.source = newest.source
left join counted on sources.source = counted.source
left join looks on sources.source = looks.source
left join unmapped on sources.source = unmapped.source
