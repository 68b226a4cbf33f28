-- What a source's name of a chip, a model or a provider stands for; one row per domain, source, name and
-- stated memory. A name resolves by the source's own alias, then by an alias of every source, then as the
-- canonical id itself, then by the patterns of chip names: tokens, never substrings, and every token must be
-- known. Names are compared in upper case with punctuation as blanks. A benchmark source names runners, a chip
-- with words for the cluster it stands in: the words of seeds/runner_word.csv, and a number behind one of them,
-- are left out there and nowhere else. Anything else stays unmapped: a name is never guessed, and two meanings of
-- one name are none.
-- grain: domain, source, raw_name, memory_gb
-- column: memory_gb | memory of one chip as the source states it beside the name; null: it does not
-- column: domain | chip, model or provider
-- column: raw_name | the name as the source writes it
-- column: canonical_id | chip_id, model_id or provider_id; null: unmapped
-- column: matched_by | source_alias, any_alias, canonical_id, pattern, refused (a person said: do not map) or unmapped
-- column: row_count | raw rows that carry the name
-- check: (canonical_id is null) = (matched_by in ('refused', 'unmapped'))
with

named_rows as (
    select 'chip' as domain, source, raw_gpu_name as raw_name, raw_memory_gb as memory_gb, snapshot_id
    from raw.rental_quote
    union all
    select 'chip' as domain, source, raw_gpu_name as raw_name, null as memory_gb, snapshot_id
    from raw.rental_index_value
    union all
    select 'chip' as domain, source, raw_chip_name as raw_name, null as memory_gb, snapshot_id
    from raw.benchmark_result
    union all
    select 'chip' as domain, source, raw_chip_name as raw_name, null as memory_gb, snapshot_id
    from raw.evaluation_result
    union all
    select 'chip' as domain, source, raw_chip_name as raw_name, null as memory_gb, snapshot_id
    from raw.run_reliability
    union all
    select 'chip' as domain, source, raw_chip_name as raw_name, null as memory_gb, snapshot_id
    from raw.change_note
    where raw_chip_name is not null
    union all
    select 'model' as domain, source, raw_model_name as raw_name, null as memory_gb, snapshot_id
    from raw.benchmark_result
    union all
    select 'model' as domain, source, raw_model_name as raw_name, null as memory_gb, snapshot_id
    from raw.evaluation_result
    union all
    select 'model' as domain, source, raw_model_name as raw_name, null as memory_gb, snapshot_id
    from raw.change_note
    where raw_model_name is not null
    union all
    select 'model' as domain, source, raw_model_name as raw_name, null as memory_gb, snapshot_id
    from raw.token_price
    union all
    select 'provider' as domain, source, provider as raw_name, null as memory_gb, snapshot_id
    from raw.rental_quote
    union all
    select 'provider' as domain, source, provider as raw_name, null as memory_gb, snapshot_id
    from raw.token_price
),

written_names as (
    select
        named_rows.domain,
        named_rows.source,
        named_rows.raw_name,
        named_rows.memory_gb,
        trim(regexp_replace(upper(named_rows.raw_name), '[^A-Z0-9]+', ' ', 'g')) as written_key,
        count(*) as row_count,
        min(snapshots.observed_at) as first_seen_at,
        max(snapshots.last_seen_at) as last_seen_at,
    from named_rows
    inner join clean.snapshot as snapshots
        on named_rows.source = snapshots.source
        and named_rows.snapshot_id = snapshots.snapshot_id
    group by named_rows.domain, named_rows.source, named_rows.raw_name, named_rows.memory_gb
),

written_aliases as (
    select 'chip' as domain, source, raw_name, chip_id as canonical_id from raw.chip_alias
    union all
    select 'model' as domain, source, raw_name, model_id as canonical_id from raw.model_alias
),

aliases as (
    select
        domain,
        source,
        trim(regexp_replace(upper(raw_name), '[^A-Z0-9]+', ' ', 'g')) as name_key,
        max(canonical_id) as canonical_id,
    from written_aliases
    group by domain, source, trim(regexp_replace(upper(raw_name), '[^A-Z0-9]+', ' ', 'g'))
    having count(distinct coalesce(canonical_id, '')) = 1
),

written_ids as (
    select 'chip' as domain, chip_id as canonical_id from raw.chip
    union all
    select 'model' as domain, model_id as canonical_id from raw.model
    union all
    select 'provider' as domain, provider_id as canonical_id from raw.provider
),

ids as (
    select
        domain,
        trim(regexp_replace(upper(canonical_id), '[^A-Z0-9]+', ' ', 'g')) as name_key,
        max(canonical_id) as canonical_id,
    from written_ids
    group by domain, trim(regexp_replace(upper(canonical_id), '[^A-Z0-9]+', ' ', 'g'))
    having count(*) = 1
),

known_keys as (
    select domain, name_key from aliases
    union
    select domain, name_key from ids
),

runner_words as (
    select ' (' || string_agg(upper(word), '|' order by word) || ')(  [0-9]+)? ' as pattern
    from raw.runner_word
),

names as (
    select
        written_names.*,
        case
            when known_keys.name_key is null and written_names.domain = 'chip' and sources.kind = 'benchmark'
                then trim(
                    regexp_replace(
                        regexp_replace(
                            '  ' || replace(written_names.written_key, ' ', '  ') || '  ',
                            runner_words.pattern, ' ', 'g'
                        ),
                        ' +', ' ', 'g'
                    )
                )
            else written_names.written_key
        end as name_key,
    from written_names
    cross join runner_words
    left join raw.source as sources on written_names.source = sources.source
    left join known_keys
        on written_names.domain = known_keys.domain
        and written_names.written_key = known_keys.name_key
),

-- The alias of a source; one of `inferencex*` holds for every source whose name starts so.
own_aliases as (
    select
        names.domain,
        names.source,
        names.name_key,
        aliases.canonical_id,
    from (select distinct domain, source, name_key from names) as names
    inner join aliases
        on names.domain = aliases.domain
        and names.name_key = aliases.name_key
        and aliases.source <> '*'
        and (
            names.source = aliases.source
            or (aliases.source like '%*' and starts_with(names.source, replace(aliases.source, '*', '')))
        )
    qualify row_number() over (
        partition by names.domain, names.source, names.name_key
        order by aliases.source like '%*', length(aliases.source) desc, aliases.source
    ) = 1
),

-- Two blanks between tokens: each can then be cut out with a blank on either side.
tokens as (
    select distinct
        name_key,
        memory_gb,
        '  ' || replace(name_key, ' ', '  ') || '  ' as spaced,
        coalesce(
            try_cast(nullif(regexp_extract(name_key, '(^| )([0-9]+) ?(GB|GIB|GI|G)( |$)', 2), '') as double),
            memory_gb
        ) as stated_memory_gb,
    from names
    where domain = 'chip'
),

fitting as (
    select
        tokens.name_key,
        tokens.memory_gb,
        patterns.chip_id,
        row_number() over (
            partition by tokens.name_key, tokens.memory_gb
            order by patterns.pattern_order
        ) as trial,
    from tokens
    inner join raw.chip_pattern as patterns
        on regexp_matches(tokens.spaced, ' (' || replace(patterns.family, ' ', '  ') || ') ')
        and (
            patterns.form is null
            or regexp_matches(tokens.spaced, ' (' || replace(patterns.form, ' ', '  ') || ') ')
        )
    inner join raw.chip as chips on patterns.chip_id = chips.chip_id
    where (tokens.stated_memory_gb is not null or not patterns.needs_memory)
        and coalesce(tokens.stated_memory_gb >= coalesce(chips.memory_gb_low, chips.memory_gb), true)
        and coalesce(tokens.stated_memory_gb <= coalesce(chips.memory_gb_high, chips.memory_gb * 1.05), true)
        -- What is left beside the pattern must be words that say nothing of the chip.
        and trim(
            regexp_replace(
                regexp_replace(
                    regexp_replace(
                        regexp_replace(
                            tokens.spaced, ' (' || replace(patterns.family, ' ', '  ') || ') ', ' ', 'g'
                        ),
                        ' (' || replace(coalesce(patterns.form, 'NVIDIA'), ' ', '  ') || ') ', ' ', 'g'
                    ),
                    ' ([0-9]+(GB|GIB|GI|G)|[0-9]+  (GB|GIB|GI|G)|[0-9]+X|X[0-9]+) ', ' ', 'g'
                ),
                ' (NVIDIA|AMD|INTEL|INSTINCT|GEFORCE|TESLA|GPU|GPUS|TENSOR|CORE|HBM2|HBM2E|HBM3|HBM3E) ', ' ', 'g'
            )
        ) = ''
)

select
    names.domain,
    names.source,
    names.raw_name,
    names.memory_gb,
    case
        when own.name_key is not null then own.canonical_id
        when shared.name_key is not null then shared.canonical_id
        when ids.name_key is not null then ids.canonical_id
        else fitting.chip_id
    end as canonical_id,
    case
        when own.name_key is not null and own.canonical_id is null then 'refused'
        when own.name_key is not null then 'source_alias'
        when shared.name_key is not null and shared.canonical_id is null then 'refused'
        when shared.name_key is not null then 'any_alias'
        when ids.canonical_id is not null then 'canonical_id'
        when fitting.chip_id is not null then 'pattern'
        else 'unmapped'
    end as matched_by,
    names.row_count,
    names.first_seen_at,
    names.last_seen_at,
from names
left join own_aliases as own
    on names.domain = own.domain
    and names.source = own.source
    and names.name_key = own.name_key
left join aliases as shared
    on shared.source = '*'
    and names.domain = shared.domain
    and names.name_key = shared.name_key
left join ids
    on names.domain = ids.domain
    and names.name_key = ids.name_key
left join fitting
    on names.domain = 'chip'
    and names.name_key = fitting.name_key
    and names.memory_gb is not distinct from fitting.memory_gb
    and fitting.trial = 1
