"""JarvisLabs' table of servers: US dollars per GPU and hour, by GPU, region and kind of workload.

Traps: one GPU of one region stands once for containers and once for virtual machines, at one price; a
workload of null is a virtual machine of before; only containers can be had as spot, though rows of virtual
machines repeat the figure; counts and memory are texts; `num_gpus` is the size of the server, while the
price is that of one GPU.
Does not belong here: which card it is (`RTX-PRO6000` and `RTX PRO 6000` are one; that is a chip alias).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pipelines.contracts import ContractError
from pipelines.decode import amount, strict_json
from pipelines.outcomes import (
    at,
    availability,
    by,
    offered,
    one_of_each,
    only_part,
    present,
    some_text,
    without_duplicates,
)
from pipelines.source import (
    Accepted,
    NotApplicable,
    Outcome,
    Provider,
    Rejected,
    Request,
    Snapshot,
    Source,
    SourceError,
    secret,
)

URL = "https://backendn.jarvislabs.net/misc/server_meta"
KEY_VARIABLE = "JL_API_KEY"
KIND = "rental_quote"

# In the order in which the row of one price is kept.
TIER_OF_WORKLOAD = {"container": "container", "vm": "vm", None: "vm"}
PRICES = {
    "price_per_hour": ("on_demand", "effective_num_free_devices"),
    "spot_price": ("spot", "spot_num_free_devices"),
}
SPOT_TIER = "container"
PRICE_LIKE = re.compile(r"price|cost|cents|usd", re.IGNORECASE)
IMPLAUSIBLE_PRICE = 1_000


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per price of a server row and one per combination of CPUs.

    Prices are US dollars per GPU and hour. Raises SourceError when the payload is not the table or lists
    no server.
    """
    document = strict_json(only_part(snapshot.parts, "the table is one answer").body)
    servers = at(document, "server_meta")
    if not isinstance(servers, list) or not servers:
        raise SourceError("no rows called 'server_meta': not the table of servers")
    outcomes = [found for number, row in enumerate(servers) for found in _outcomes(snapshot, number, row)]
    distinct = without_duplicates(outcomes, by("offer_key", "region", "price_type"))
    # Containers first: which of two equal rows stays does not depend on the order of the answer.
    ordered = sorted(distinct, key=_is_other_tier)
    yield from one_of_each(ordered, by("raw_gpu_name", "region", "price_type", "price"))
    combinations = at(document, "cpu_meta", "combinations")
    for number, _ in enumerate(combinations if isinstance(combinations, list) else []):
        yield NotApplicable(KIND, "no_gpu", f"cpu_meta {number}")


def _is_other_tier(outcome: Outcome) -> bool:
    return not (isinstance(outcome, Accepted) and outcome.row["offer_key"].endswith(f"/{SPOT_TIER}"))


def _outcomes(snapshot: Snapshot, number: int, server: Any) -> Iterator[Outcome]:
    locator = f"server_meta {number}"
    if not isinstance(server, dict):
        yield Rejected(KIND, "wrong_type", locator, "server_meta", server)
        return
    for key, value in server.items():
        if PRICE_LIKE.search(key) and key not in PRICES:
            yield Rejected(KIND, "unknown_price_key", locator, key, value)
    for key in PRICES:
        try:
            yield _quote(snapshot, f"{locator} {key}", server, key)
        except ContractError as error:
            yield Rejected(KIND, error.reason, f"{locator} {key}", error.field, error.value)


def _quote(snapshot: Snapshot, locator: str, server: dict[str, Any], key: str) -> Outcome:
    gpu, region = (some_text(name, server.get(name)) for name in ("gpu_type", "region"))
    workload = present("workload_type", server)
    if not (workload is None or isinstance(workload, str)) or workload not in TIER_OF_WORKLOAD:
        raise ContractError("unknown_workload", "workload_type", workload)
    tier = TIER_OF_WORKLOAD[workload]
    price = offered(key, present(key, server), IMPLAUSIBLE_PRICE)
    if price is None:
        return NotApplicable(KIND, "not_offered", locator)
    price_type, free = PRICES[key]
    if price_type == "spot" and tier != SPOT_TIER:
        return NotApplicable(KIND, "spot_is_for_containers", locator)
    row = {
        "provider": "jarvislabs",
        "offer_key": f"{gpu}/{tier}",
        "raw_gpu_name": gpu,
        "raw_memory_gb": None if server.get("vram") is None else amount("vram", server["vram"]),
        "gpu_count": 1,
        "price": price,
        "currency": "USD",
        "price_unit": "gpu_hour",
        "price_type": price_type,
        "region": region,
        "availability": availability(server.get(free)),
        "listing_kind": "bundle",
        "observed_at": snapshot.observed_at,
    }
    return Accepted(KIND, row, locator)


def requests() -> list[Request]:
    """The whole table is one answer."""
    return [Request(URL, headers={"Authorization": f"Bearer {secret(KEY_VARIABLE)}"})]


SOURCE = Source(
    kind="rental",
    title="JarvisLabs servers",
    homepage="https://jarvislabs.ai/pricing",
    licence="Prices behind a free key; the terms could not be read.",
    passes_on=False,
    cadence="hourly",
    source_rank=10,
    max_age_days=7,
    parse=parse,
    requests=requests,
    key_variable=KEY_VARIABLE,
    providers=(
        Provider("jarvislabs", "JarvisLabs", "neocloud", "specialist", homepage="https://jarvislabs.ai"),
    ),
)
