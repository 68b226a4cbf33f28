-- What the tokens of an accounted stretch of serving cost, by two answers to two questions: what the GPUs that were
-- reserved cost per token, and what the part of them that was busy cost; one row per account.
-- grain: serving_account_id
-- column: serving_account_id | key
-- column: description | what was accounted
-- column: gpu_count | GPUs that were reserved
-- column: reserved_hours | hours for which they were paid
-- column: busy_hours | of these, hours in which they served
-- column: million_tokens | tokens served in them, in millions
-- column: token_kind | output, input or total
-- column: usd_per_gpu_hour | rent in US dollars per GPU-hour
-- column: busy_share | busy_hours / reserved_hours
-- column: allocation_usd_per_million_tokens | basis: every reserved GPU-hour
-- column: usage_usd_per_million_tokens | basis: the busy GPU-hours alone; idle hours are in no figure of it
-- column: idle_usd | rent of the reserved hours that were not busy
-- column: null_reason | why the costs are null
-- column: value_class | stated, derived, assumed or not_reproducible
-- column: source | where the account comes from
-- check: (allocation_usd_per_million_tokens is null) = (null_reason is not null)
-- check: (usage_usd_per_million_tokens is null) = (null_reason is not null)
-- check: null_reason is not null or usage_usd_per_million_tokens <= allocation_usd_per_million_tokens
with

run as (
    select * from core.run
),

accounts as (
    select
        entries.*,
        case
            when entries.busy_hours > entries.reserved_hours then 'busy_exceeds_reserved'
            when entries.million_tokens = 0 then 'no_tokens'
        end as null_reason,
    from raw.serving_account as entries
    cross join run
    where entries.known_at <= run.as_of
)

select
    serving_account_id,
    description,
    gpu_count,
    reserved_hours,
    busy_hours,
    million_tokens,
    token_kind,
    cast(usd_per_gpu_hour as decimal(18, 6)) as usd_per_gpu_hour,
    busy_hours / reserved_hours as busy_share,
    case
        when null_reason is null then cast(usd_per_gpu_hour as double) * gpu_count * reserved_hours / million_tokens
    end as allocation_usd_per_million_tokens,
    case
        when null_reason is null then cast(usd_per_gpu_hour as double) * gpu_count * busy_hours / million_tokens
    end as usage_usd_per_million_tokens,
    case
        when busy_hours <= reserved_hours
            then cast(usd_per_gpu_hour as double) * gpu_count * (reserved_hours - busy_hours)
    end as idle_usd,
    null_reason,
    value_class,
    source,
from accounts
