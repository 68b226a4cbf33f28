-- Two points of a line that follow each other, and what differs between them; one row per pair and whether it
-- stands. What a difference did to a figure or a cost is asked elsewhere: here stands why it may have come about.
-- grain: before_point_id, after_point_id, withdrawn
-- column: withdrawn | one of the two was retracted later: they stood beside each other once
-- column: throughput_cause | why a throughput moved: software, configuration, operating_point, unattributed (the publisher claims a cause, or nothing that is stated changed) or unknown (image, version or ranks not stated)
-- column: stated_cause | the same of a speed per user, which is the operating point's own measure
-- column: claimed_cause | what the publisher of the later point says
-- check: throughput_cause is not null and stated_cause is not null
with

points as (
    select * from core.benchmark_statement
),

standing as (
    select
        benchmark_point_id,
        lag(benchmark_point_id) over (
            partition by line_id
            order by measured_from, try_cast(run_id as bigint) nulls first, known_at, benchmark_point_id
        ) as before_point_id,
    from points
    where supersedes_label is null
        and retracted_on is null
),

-- With the points that were retracted later, as the line stood before: these changes were published once.
published as (
    select
        points.benchmark_point_id,
        points.retracted_on,
        points.known_at,
        lag(benchmark_point_id) over line as before_point_id,
        lag(retracted_on) over line as before_retracted_on,
        lag(retraction_known_at) over line as before_retraction_known_at,
    from points
    where supersedes_label is null
    window line as (
        partition by line_id
        order by measured_from, try_cast(run_id as bigint) nulls first, known_at, benchmark_point_id
    )
),

-- Where no date orders two points, their publisher does.
linked as (
    select
        later.benchmark_point_id,
        earlier.benchmark_point_id as before_point_id,
    from points as later
    inner join points as earlier
        on later.publisher = earlier.publisher
        and later.supersedes_label = earlier.point_label
    where later.retracted_on is null
        and earlier.retracted_on is null
),

pairs as (
    select benchmark_point_id, before_point_id, false as withdrawn from standing where before_point_id is not null
    union all
    select benchmark_point_id, before_point_id, false as withdrawn from linked
    union all
    select benchmark_point_id, before_point_id, true as withdrawn
    from published
    where before_point_id is not null
        and coalesce(retracted_on, before_retracted_on) is not null
        -- A point that was gone when the next one came never stood beside it.
        and (before_retraction_known_at is null or before_retraction_known_at > known_at)
),

compared as (
    select
        pairs.before_point_id,
        pairs.benchmark_point_id as after_point_id,
        pairs.withdrawn,
        later.claimed_cause,
        case
            when later.kv_precision <> earlier.kv_precision then 'configuration'
            when later.parallelism_stated and earlier.parallelism_stated and later.parallelism <> earlier.parallelism
                then 'configuration'
            when later.claimed_cause is not null then 'unattributed'
            when later.parallelism <> earlier.parallelism then 'unknown'
            when later.image <> earlier.image or later.engine_version <> earlier.engine_version then 'software'
            when later.image = earlier.image or later.engine_version = earlier.engine_version then 'unattributed'
            else 'unknown'
        end as stated_cause,
        -- Five per cent: a load point that serves each user at another speed is another operating point.
        later.supersedes_label is not null
        and abs(later.interactivity_tok_s_user / earlier.interactivity_tok_s_user - 1) > 0.05 as is_other_point,
    from pairs
    inner join points as later on pairs.benchmark_point_id = later.benchmark_point_id
    inner join points as earlier on pairs.before_point_id = earlier.benchmark_point_id
)

select
    before_point_id,
    after_point_id,
    withdrawn,
    case when is_other_point then 'operating_point' else stated_cause end as throughput_cause,
    stated_cause,
    claimed_cause,
from compared
