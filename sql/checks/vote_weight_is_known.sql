-- A weight of a provider or of a method that nobody knows would weigh nothing, and nobody would notice.
select
    weights.provider_id,
    weights.method,
    weights.version,
from raw.vote_weight as weights
left join raw.provider as providers on weights.provider_id = providers.provider_id
left join (
    select distinct
        method,
        version,
    from raw.method_parameter
) as methods
    on weights.method = methods.method
    and weights.version = methods.version
where providers.provider_id is null
    or methods.method is null
