"""The reader's own numbers, asked of the published file: any speed, an own price, own factors.

Belongs here: the table macros below, and which tables an argument stands in for. Does not belong here: how
a macro is made of a mart (`macros.py`), any rule of a mart, or storing anything: what a reader brings is an
argument and nothing more. An argument that cannot be meant (a price of 0, a share above 1) is an error.

- `mart.cheapest_at(speed)`, `mart.cost_at(speed)`, `mart.parity_rent_at(speed)`: the marts at one speed.
- `mart.cost_with_price(chip, own_usd_per_gpu_hour)`: every reading of a chip at one price.
- `mart.cost_with(...)`, `mart.cost_at_with(speed, ...)`: the same with own live factor and utilisation.
- `mart.cost_per_request_with(...)`: a request of one's own size, bought from each price deck.
"""

from __future__ import annotations

from collections.abc import Mapping

from pipelines.macros import Macro, Replace, Rewriting
from pipelines.sql_models import Model


def _checked(argument: str, condition: str, meaning: str) -> str:
    # The condition is unknown for null: the argument is then refused too.
    refused = f"error('{argument} must be {meaning}')"
    return f"case when {condition} then cast({argument} as double) else {refused} end"


SPEED = _checked("speed", "speed > 0 and speed < 'infinity'::double", "an output speed in tok/s, above 0")
PRICE = _checked(
    "own_usd_per_gpu_hour",
    "own_usd_per_gpu_hour > 0 and own_usd_per_gpu_hour < 'infinity'::double",
    "a price in US dollars per GPU-hour, above 0",
)
FACTOR = _checked(
    "own_live_traffic_factor",
    "own_live_traffic_factor > 0 and own_live_traffic_factor <= 1",
    "a share above 0, at most 1; null: as sourced",
)
UTILISATION = _checked(
    "own_utilisation", "own_utilisation >= 0 and own_utilisation <= 1", "a share from 0 to 1"
)

INPUT = _checked(
    "own_input_tokens",
    "own_input_tokens >= 0 and own_input_tokens < 'infinity'::double",
    "tokens of a request, 0 or more",
)
CACHED = _checked(
    "own_cached_input_tokens",
    "own_cached_input_tokens >= 0 and own_cached_input_tokens <= own_input_tokens",
    "tokens of a request, 0 or more, at most its input tokens",
)
OUTPUT = _checked(
    "own_output_tokens",
    "own_output_tokens >= 0 and own_output_tokens < 'infinity'::double",
    "tokens of a request, 0 or more",
)

# A speed that is asked for is treated as the speeds that headlines compare.
ONE_SPEED = {"core.speed_grid": f"select {SPEED} as speed_tok_s_user, true as is_tier"}
# One price for ever. It is no quote, so that no fact stands behind it, and it is not rounded to six decimals.
OWN_PRICE = {
    "core.price_timeline": (
        "select 'own' as price_series_id, cast(chip as varchar) as chip_id, "
        f"{PRICE} as usd_per_gpu_hour, cast(null as varchar) as price_fact_id, "
        "cast(null as varchar) as null_reason, cast(null as date) as valid_from, "
        "cast(null as date) as valid_to"
    ),
    "core.price_series": (
        "select 'own' as price_series_id, 'own' as price_type, cast(null as varchar) as segment, "
        "'own' as price_basis"
    ),
    "core.price_segment": (
        "select 'own' as price_series_id, cast(chip as varchar) as chip_id, "
        "cast(null as date) as priced_on, cast(null as date) as valid_from, cast(null as date) as valid_to "
        "where false"
    ),
}
# A factor is of benchmark throughputs: live ones have arrived, and for replays none is known.
OWN_FACTOR_OR_SOURCED = (
    "case when {basis} = 'benchmark' and own_live_traffic_factor is not null "
    f"then {FACTOR} else {{sourced}} end as live_traffic_factor"
)
OWN_FACTOR = {
    "core.benchmark_view": (
        "select views.* replace ("
        + OWN_FACTOR_OR_SOURCED.format(basis="points.traffic_basis", sourced="views.live_traffic_factor")
        + ") from core.benchmark_view as views "
        "inner join core.benchmark_point as points on views.benchmark_point_id = points.benchmark_point_id"
    ),
    "core.frontier_knot": (
        "select knots.* replace ("
        + OWN_FACTOR_OR_SOURCED.format(basis="knots.traffic_basis", sourced="knots.live_traffic_factor")
        + ") from core.frontier_knot as knots"
    ),
}
# Who states the size of a request states how much of it is cached.
OWN_WORKLOAD = (
    "select 'own' as workload_id, 'stated' as mix_class, "
    f"{INPUT} as input_tokens, {CACHED} as cached_input_tokens, "
    f"{INPUT} - {CACHED} as uncached_input_tokens, {OUTPUT} as output_tokens"
)
# Peak and utilisation side by side, each divided from what is not rounded.
AT_UTILISATION = f"""
    *,
    {UTILISATION} as utilisation,
    usd_per_million_tokens / nullif({UTILISATION}, 0) as usd_per_million_tokens_at_utilisation,
    usd_per_million_tokens_live / nullif({UTILISATION}, 0) as usd_per_million_tokens_live_at_utilisation,
    coalesce(
        null_reason,
        case when {UTILISATION} = 0 then 'zero_utilisation' end
    ) as at_utilisation_null_reason,
    coalesce(
        null_reason,
        case when usd_per_million_tokens_live is null then 'no_factor' end,
        case when {UTILISATION} = 0 then 'zero_utilisation' end
    ) as live_at_utilisation_null_reason
"""
AT_SPEED = {
    "mart.cheapest_at": "mart.cheapest_at_speed",
    "mart.cost_at": "mart.cost_at_speed",
    "mart.parity_rent_at": "mart.parity_rent",
}
COSTS = "mart.cost_per_million_tokens"
COSTS_AT_SPEED = "mart.cost_at_speed"
COSTS_PER_REQUEST = "mart.cost_per_request"
CHIP_AND_PRICE = ("chip", "own_usd_per_gpu_hour")
FACTORS = ("own_live_traffic_factor := null", "own_utilisation := 1")
AT_ANY_SPEED = "{mart} at one output speed in tok/s of one user, on the grid or not."
AT_PRICE = (
    "of one chip at one price of your own in US dollars per GPU-hour, as price series `own`; "
    "a chip that is not known has no rows."
)
WITH_FACTORS = (
    "own_live_traffic_factor, above 0 and at most 1, stands in place of the sourced one for rows of traffic "
    "basis benchmark alone; null: as sourced. own_utilisation, 0 to 1, adds utilisation, "
    "usd_per_million_tokens_at_utilisation and usd_per_million_tokens_live_at_utilisation, with the reason "
    "where one of them is null."
)
OWN_REQUEST = (
    f"{COSTS_PER_REQUEST} for a request of your own size, as workload `own`: own_input_tokens, of which "
    "own_cached_input_tokens are read from a cache, and own_output_tokens. Bought requests alone: a measured "
    "throughput is of its own workload and is carried over to no other size."
)


def macros(models: Mapping[str, Model]) -> list[Macro]:
    """The macros named above, of those marts that `models` hold."""
    made = []
    grid = Rewriting(models, ("speed",), _stands_in(ONE_SPEED))
    for name, mart in AT_SPEED.items():
        if mart in models:
            made.append(grid.macro(name, mart, AT_ANY_SPEED.format(mart=mart)))
    if COSTS in models:
        price = Rewriting(models, CHIP_AND_PRICE, _stands_in(OWN_PRICE))
        made.append(price.macro("mart.cost_with_price", COSTS, f"{COSTS} {AT_PRICE}"))
        own = Rewriting(models, (*CHIP_AND_PRICE, *FACTORS), _stands_in(OWN_PRICE | OWN_FACTOR))
        made.append(own.macro("mart.cost_with", COSTS, f"{COSTS} {AT_PRICE} {WITH_FACTORS}", AT_UTILISATION))
    if COSTS_AT_SPEED in models:
        replaced = _stands_in(ONE_SPEED | OWN_PRICE | OWN_FACTOR)
        own = Rewriting(models, ("speed", *CHIP_AND_PRICE, *FACTORS), replaced)
        meaning = f"{COSTS_AT_SPEED} at any speed {AT_PRICE} {WITH_FACTORS}"
        made.append(own.macro("mart.cost_at_with", COSTS_AT_SPEED, meaning, AT_UTILISATION))
    if COSTS_PER_REQUEST in models:
        request = Rewriting(
            models,
            ("own_input_tokens", "own_cached_input_tokens", "own_output_tokens"),
            # Readings of points keep the workloads that they were measured with.
            lambda model, table: (
                OWN_WORKLOAD if (model.name, table) == (COSTS_PER_REQUEST, "raw.workload") else None
            ),
        )
        made.append(
            request.macro(
                "mart.cost_per_request_with", COSTS_PER_REQUEST, OWN_REQUEST, condition="supply = 'bought'"
            )
        )
    return made


def _stands_in(replaced: Mapping[str, str]) -> Replace:
    return lambda model, table: replaced.get(table)
