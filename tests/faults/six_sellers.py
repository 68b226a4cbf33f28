"""Six sellers of one chip on a local server, each in the shape of its own API, with prices by a rule.

Belongs here: their payloads, the rule, and the server. Does not belong here: when who fails (the tests) and
what is to be made of it. The chip is the L40S, whose name alone says which one it is, whoever sells it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import urlsplit

from misbehaving_server import Handler, MisbehavingServer

from pipelines.source import Request, Source, all_sources

CHIP = "l40s"
# First price in cents per GPU-hour, and after how many days it rises by one cent each time.
RULE = {
    "digitalocean": (157, 1), "jarvislabs": (120, 2), "nebius": (155, 3), "thunder_compute": (110, 4),
    "verda": (137, 5), "vultr": (167, 6),
}  # fmt: skip
KEYS = ("DIGITALOCEAN_TOKEN", "JL_API_KEY")


def cents(seller: str, day: int) -> int:
    """Price per GPU-hour on a day, the first being 0."""
    first, every = RULE[seller]
    return first + day // every


def payload(seller: str, day: int, path: str) -> bytes:
    """What a seller that works answers on a day."""
    usd = cents(seller, day) / 100
    if seller == "nebius":
        return NEBIUS.format(usd=usd).encode()
    if seller == "vultr":
        return json.dumps(_vultr(usd, path)).encode()
    return json.dumps(
        {
            "digitalocean": _digitalocean(usd),
            "jarvislabs": {"server_meta": [_jarvislabs(usd)], "cpu_meta": {"combinations": []}},
            "thunder_compute": {"pricing": {"l40s_x1_production": usd, "disk_gb": 0.0001}},
            "verda": [_verda(usd)],
        }[seller]
    ).encode()


NEBIUS = """# Pricing in Compute

#### NVIDIA® L40S PCIe, gpu-l40s-a

| **Item** | **Price** | **Per** |
| - | - | - |
| NVIDIA® L40S PCIe | \\${usd:.2f} | 1 GPU hour |
"""


def _digitalocean(usd: float) -> dict[str, object]:
    size = {
        "slug": "gpu-l40sx1-48gb", "memory": 65536, "vcpus": 8, "disk": 500, "transfer": 10.0,
        "price_monthly": round(744 * usd, 2), "price_hourly": usd, "regions": ["nyc9"], "available": True,
        "description": "L40S - 1X", "networking_throughput": 10000, "disk_info": [],
        "gpu_info": {"count": 1, "vram": {"amount": 48, "unit": "gib"}, "model": "nvidia_l40s"},
    }  # fmt: skip
    return {"sizes": [size], "links": {}, "meta": {"total": 1}}


def _jarvislabs(usd: float) -> dict[str, object]:
    return {
        "gpu_type": "L40S", "region": "place-01", "num_free_devices": 3, "effective_num_free_devices": 3,
        "spot_num_free_devices": 0, "price_per_hour": usd, "spot_price": None, "vram": "48",
        "workload_type": "container", "num_gpus": "8",
    }  # fmt: skip


def _verda(usd: float) -> dict[str, object]:
    return {
        "currency": "usd", "gpu": {"description": "1x L40S 48GB", "number_of_gpus": 1},
        "gpu_memory": {"size_in_gigabytes": 48}, "id": "a", "instance_type": "1L40S.20V",
        "manufacturer": "NVIDIA", "model": "L40S", "name": "L40S 48GB", "price_per_hour": f"{usd:.2f}",
        "spot_price": None,
    }  # fmt: skip


def _vultr(usd: float, path: str) -> dict[str, object]:
    meta = {"total": 1, "links": {"next": "", "prev": ""}}
    if "metal" in path:
        plan = {
            "id": "vbm-4c-32gb", "cpu_count": 4, "ram": 32768, "disk": 240, "monthly_cost": 120,
            "hourly_cost": 0.16, "type": "SSD", "locations": ["ewr"],
        }  # fmt: skip
        return {"plans_metal": [plan], "meta": meta}
    plan = {
        "id": "vcg-l40s-16c-180g-48vram", "vcpu_count": 16, "ram": 184320, "disk": 1200,
        "monthly_cost": round(730 * usd, 2), "hourly_cost": usd, "type": "vcg", "locations": ["ewr"],
        "gpu_vram_gb": 48, "gpu_type": "NVIDIA_L40S",
    }  # fmt: skip
    return {"plans": [plan], "meta": meta}


class Till(Handler):
    """Answers `/<seller>/...` with its payload of the day, or with its misbehaviour of the day."""

    server: Sellers

    def do_GET(self) -> None:
        """Serve the seller that the path names."""
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        seller, _, path = urlsplit(self.path).path.strip("/").partition("/")
        misbehaviour = self.server.failing.get(seller)
        try:
            if misbehaviour == "empty_list":
                self.answer(b"[]")
            elif misbehaviour:
                getattr(self, misbehaviour)()
            else:
                self.answer(payload(seller, self.server.day, path), Content_Type="text/plain")
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    do_POST = do_GET


class Sellers(MisbehavingServer):
    """The server. day: which day it is, from 0; failing: misbehaviour by seller, as `Handler` names it."""

    def __init__(self) -> None:
        super().__init__()
        self.RequestHandlerClass = Till
        self.day, self.failing = 0, dict[str, str]()

    def sources(self) -> list[Source]:
        """The real sources, asked here: parsers, slices and paging are theirs."""
        return [self._here(all_sources()[seller]) for seller in RULE]

    def _here(self, source: Source) -> Source:
        def requests() -> Iterable[Request]:
            for request in source.requests():
                path = urlsplit(request.url).path.strip("/")
                yield replace(request, url=self.url(f"/{source.slug}/{path}"))

        return replace(source, requests=requests)
