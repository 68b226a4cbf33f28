-- What became of one stored payload: every candidate accepted, rejected or not applicable; one row per payload.
-- grain: source, snapshot_id
-- column: source | slug of the source
-- column: snapshot_id | stored payload, or the file beside the payloads that is damaged
-- column: slice | part of the source that one payload covers; null: its sidecar is damaged
-- column: status | loaded, refused (not the document it should be), damaged (not the bytes that were stored), failed (the parser broke) or anomalous (too much of it refused or missing for any of it to be believed)
-- column: reason | why it was not loaded
-- column: candidates | candidate prices or points in it; null, as the three below: nobody could read it
-- column: accepted | became rows
-- column: rejected | wrong, each with a reason in rejected_row
-- column: not_applicable | no price or point of ours: no GPU, a price type that is not offered
-- column: reasons | why candidates were not accepted, with counts
-- column: observed_at | moment that it shows; of a damaged one as its name has it, null where it has none
-- column: recorded_at | moment that it was stored; null: its sidecar is damaged
-- check: (candidates is null) = (status not in ('loaded', 'anomalous'))
-- check: case when candidates is null then coalesce(accepted, rejected, not_applicable) is null else candidates = accepted + rejected + not_applicable end
with

snapshots as (
    select * from raw.snapshot
),

judged as (
    select * from clean.snapshot
),

rejected_rows as (
    select
        source,
        snapshot_id,
        count(*) as rejected,
    from mart.rejected_row
    group by source, snapshot_id
),

reason_counts as (
    select
        source,
        snapshot_id,
        reason,
        count(*) as candidates,
    from (
        select source, snapshot_id, reason from mart.rejected_row
        union all
        select source, snapshot_id, reason from raw.refused_candidate where verdict = 'not_applicable'
    ) as not_accepted
    group by source, snapshot_id, reason
),

reasons as (
    select
        source,
        snapshot_id,
        string_agg(reason || ' ' || cast(candidates as varchar), ', ' order by candidates desc, reason) as reasons,
    from reason_counts
    group by source, snapshot_id
)

select
    snapshots.source,
    snapshots.snapshot_id,
    snapshots.slice,
    judged.status,
    case
        when judged.status = 'anomalous' and judged.accepted_is_short
            then concat(
                'it brings ', cast(snapshots.accepted as varchar), ' prices, and the payloads before it ',
                cast(cast(round(judged.usual_accepted) as bigint) as varchar), ' (median)'
            )
        when judged.status = 'anomalous'
            then cast(round(100 * judged.anomaly_share) as varchar) || ' % of its prices are refused'
        else snapshots.reason
    end as reason,
    snapshots.candidates,
    snapshots.candidates - snapshots.not_applicable - coalesce(rejected_rows.rejected, 0) as accepted,
    case when snapshots.candidates is not null then coalesce(rejected_rows.rejected, 0) end as rejected,
    snapshots.not_applicable,
    reasons.reasons,
    snapshots.observed_at,
    snapshots.recorded_at,
from snapshots
inner join judged
    on snapshots.source = judged.source
    and snapshots.snapshot_id = judged.snapshot_id
left join rejected_rows
    on snapshots.source = rejected_rows.source
    and snapshots.snapshot_id = rejected_rows.snapshot_id
left join reasons
    on snapshots.source = reasons.source
    and snapshots.snapshot_id = reasons.snapshot_id
