-- One vote of the rental index, fresh or carried, with its own history's verdict; one row per UTC day, chip,
-- price type, commitment and provider. A vote is carried for some days after its last look, and then does
-- not count towards the minimum. The screen is the provider's own history alone, never the others' level:
-- off its own mean by more than three of its own standard deviations is held out, unless two others moved
-- as far as ten per cent on that day.
-- grain: date, chip_id, price_type, commitment_months, provider_id
-- column: usd_per_gpu_hour | the vote
-- column: fx_usd_per_unit | US dollars that one unit of `currency` was worth; both null: asks in several currencies
-- column: sd_usd_per_gpu_hour | larger of the sample sd of its accepted votes of the window and 3 % of the vote; 3 % below ten of them
-- column: history_votes | accepted votes in the window before the day
-- column: status | counted, carried, or why it is held out: own_history_outlier, too_few_machines, too_few_hosts
-- column: provider_weight | what the vote weighs against another: as seeds/vote_weight.csv sets it, else 1
-- column: weight | share of provider_weight among the votes counted and carried of its segment; null: held out
-- column: age_days | days since the look behind it
-- check: sd_usd_per_gpu_hour > 0
-- check: provider_weight > 0
-- check: segment <> 'blend'
-- check: (weight is null) = (status not in ('counted', 'carried'))
with

votes as (
    select * from core.provider_vote
),

run as (
    select * from core.run
),

set_weights as (
    select
        provider_id,
        weight,
    from raw.vote_weight
    where method = 'index' and version = 'v1'
),

parameters as (
    select
        max(case when parameter = 'sd_floor_share' then value end) as sd_floor_share,
        max(case when parameter = 'sd_min_votes' then value end) as sd_min_votes,
        max(case when parameter = 'vote_max_age_days' then value end) as vote_max_age_days,
        max(case when parameter = 'outlier_sds' then value end) as outlier_sds,
        max(case when parameter = 'others_move_share' then value end) as others_move_share,
        max(case when parameter = 'others_needed' then value end) as others_needed,
    from raw.method_parameter
    where method = 'index' and version = 'v1'
),

-- First look at history with every vote in it, then again with those alone that passed the first.
first_history as (
    select
        votes.*,
        lag(usd_per_gpu_hour) over votes_of_provider as previous_usd,
        avg(usd_per_gpu_hour) over window_before as mean_usd,
        stddev_samp(usd_per_gpu_hour) over window_before as sd_usd,
        count(*) over window_before as n_votes,
    from votes
    window
        votes_of_provider as (
            partition by provider_id, chip_id, price_type, commitment_months
            order by voted_on
        ),
        window_before as (
            partition by provider_id, chip_id, price_type, commitment_months
            order by voted_on
            range between interval 90 day preceding and interval 1 day preceding
        )
),

movers as (
    select
        chip_id,
        price_type,
        commitment_months,
        voted_on,
        provider_id,
        case
            when usd_per_gpu_hour >= previous_usd * (1 + parameters.others_move_share) then 1
            when usd_per_gpu_hour <= previous_usd * (1 - parameters.others_move_share) then -1
            else 0
        end as move,
    from first_history
    cross join parameters
),

moved_others as (
    select
        mine.provider_id,
        mine.chip_id,
        mine.price_type,
        mine.commitment_months,
        mine.voted_on,
        count(other.provider_id) as others,
    from movers as mine
    left join movers as other
        on mine.chip_id = other.chip_id
        and mine.price_type = other.price_type
        and mine.commitment_months is not distinct from other.commitment_months
        and mine.voted_on = other.voted_on
        and mine.provider_id <> other.provider_id
        and mine.move <> 0
        and mine.move = other.move
    group by mine.provider_id, mine.chip_id, mine.price_type, mine.commitment_months, mine.voted_on
),

first_screen as (
    select
        first_history.*,
        moved_others.others,
        coalesce(
            n_votes >= parameters.sd_min_votes
            and moved_others.others < parameters.others_needed
            and abs(usd_per_gpu_hour - mean_usd)
            > parameters.outlier_sds * greatest(sd_usd, parameters.sd_floor_share * mean_usd),
            false
        ) as is_outlier,
    from first_history
    inner join moved_others
        on first_history.provider_id = moved_others.provider_id
        and first_history.chip_id = moved_others.chip_id
        and first_history.price_type = moved_others.price_type
        and first_history.commitment_months is not distinct from moved_others.commitment_months
        and first_history.voted_on = moved_others.voted_on
    cross join parameters
),

second_history as (
    select
        *,
        avg(case when not is_outlier then usd_per_gpu_hour end) over window_before as accepted_mean_usd,
        stddev_samp(case when not is_outlier then usd_per_gpu_hour end) over window_before as accepted_sd_usd,
        count(case when not is_outlier then 1 end) over window_before as accepted_votes,
    from first_screen
    window window_before as (
        partition by provider_id, chip_id, price_type, commitment_months
        order by voted_on
        range between interval 90 day preceding and interval 1 day preceding
    )
),

judged as (
    select
        second_history.*,
        case
            when accepted_votes >= parameters.sd_min_votes
                and accepted_sd_usd > parameters.sd_floor_share * usd_per_gpu_hour
                then accepted_sd_usd
            else parameters.sd_floor_share * usd_per_gpu_hour
        end as sd_usd_per_gpu_hour,
        case
            when held_out is not null then held_out
            when accepted_votes >= parameters.sd_min_votes
                and others < parameters.others_needed
                and abs(usd_per_gpu_hour - accepted_mean_usd)
                > parameters.outlier_sds * greatest(
                    coalesce(accepted_sd_usd, 0), parameters.sd_floor_share * accepted_mean_usd
                )
                then 'own_history_outlier'
            else 'counted'
        end as verdict,
        lead(voted_on) over (
            partition by provider_id, chip_id, price_type, commitment_months
            order by voted_on
        ) as next_voted_on,
    from second_history
    cross join parameters
),

-- Carried until the provider's next vote or the age limit, whichever comes first: also while its source is seen
-- without the chip, marked as carried and outside the minimum.
days as (
    select
        judged.*,
        cast(
            unnest(
                generate_series(
                    judged.voted_on,
                    least(
                        coalesce(judged.next_voted_on - 1, cast(run.as_of at time zone 'UTC' as date)),
                        cast(run.as_of at time zone 'UTC' as date),
                        judged.voted_on + cast(parameters.vote_max_age_days as integer)
                    ),
                    interval 1 day
                )
            ) as date
        ) as date,
    from judged
    cross join run
    cross join parameters
),

standing as (
    select
        days.*,
        coalesce(set_weights.weight, 1.0) as provider_weight,
        case
            when days.verdict = 'counted' and days.date > days.voted_on then 'carried'
            else days.verdict
        end as status,
    from days
    left join set_weights on days.provider_id = set_weights.provider_id
    -- A vote that was held out on its day is not carried into others.
    where days.verdict = 'counted' or days.date = days.voted_on
)

select
    date,
    chip_id,
    price_type,
    commitment_months,
    segment,
    provider_id,
    usd_per_gpu_hour,
    currency,
    fx_usd_per_unit,
    sd_usd_per_gpu_hour,
    accepted_votes as history_votes,
    status,
    provider_weight,
    case
        when status in ('counted', 'carried') then provider_weight / sum(
            case when status in ('counted', 'carried') then provider_weight end
        ) over (partition by date, chip_id, price_type, commitment_months, segment)
    end as weight,
    partial_node,
    listed_only,
    quote_id,
    source,
    date_diff('day', voted_on, date) as age_days,
    voted_on,
    observed_at,
from standing
