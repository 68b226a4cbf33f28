"""What stands behind the price of a cost on a day: the series, and its quote, published value or votes.

Belongs here: the way from `core.price_segment` to a payload. Does not belong here: any rule of a price or of
the index (`sql/core/`): it is told in words and numbers, and each quote's division alone is worked out again.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from pipelines.chain import Chain, Link, number

SERIES = """
select price_series_id, title, price_basis, price_type, commitment_months, segment, provider_id, index_name,
    max_age_days, withdrawn_on, source
from core.price_series
where price_series_id = ?
"""
SEGMENT = """
select usd_per_gpu_hour, price_fact_id, priced_on, valid_from, valid_to
from core.price_segment
where price_series_id = ? and chip_id = ? and valid_from <= ? and (valid_to is null or valid_to > ?)
"""
NEIGHBOURS = """
select
    max(case when valid_from <= $day then valid_to end) as last_price_ended_on,
    arg_max(usd_per_gpu_hour, valid_from) filter (valid_from <= $day) as last_usd_per_gpu_hour,
    min(case when valid_from > $day then valid_from end) as next_price_from,
from core.price_segment
where price_series_id = $series and chip_id = $chip
"""
QUOTE = """
select quote_id, provider_id, offer_key, raw_gpu_name as raw_name, region, price, currency, price_unit,
    gpu_count, term_hours, fx_usd_per_unit, fx_rate_on, usd_per_gpu_hour, note, url, observed_at,
    effective_from, source, snapshot_id,
    concat_ws('/', source, offer_key, coalesce(region, '-'),
        price_type || coalesce(':' || commitment_months || 'm', ''),
        cast(cast(observed_at at time zone 'UTC' as date) as varchar)) as locator
from core.rental_quote
where quote_id = ?
"""
VALUE = """
select index_value_id, index_name, method_version, raw_gpu_name as raw_name, value, currency,
    usd_per_gpu_hour, provider_count, value_date, date_precision, note, url, known_at, source, snapshot_id,
    concat_ws('/', source, index_name, raw_gpu_name,
        price_type || coalesce(':' || commitment_months || 'm', ''), cast(value_date as varchar)) as locator
from core.rental_index_value
where index_value_id = ?
"""
INDEX = """
select date, index_id, method_version, usd_per_gpu_hour, band_usd_per_gpu_hour, provider_count, null_reason
from mart.rental_index_daily
where date = ? and chip_id = ? and index_id = ?
"""
VOTES = """
select provider_id, usd_per_gpu_hour, sd_usd_per_gpu_hour, weight, status, age_days, quote_id, source
from mart.rental_index_vote
where date = ? and chip_id = ? and price_type = ? and commitment_months is not distinct from ? and segment = ?
order by status in ('counted', 'carried') desc, usd_per_gpu_hour, provider_id
"""
MACHINES = """
select quote_id
from core.market_machine
where source = ? and provider_id = ? and chip_id = ? and price_type = ?
    and commitment_months is not distinct from ? and priced_on = ?
order by host_key, usd_per_gpu_hour, quote_id
"""
METHOD = (
    "each provider casts three votes (price less, at and plus its sd) of a third of its weight; the index is "
    "the mean of the middle third of the cumulative weight, from at least {min_providers} fresh votes"
)
STATUS = {
    "counted": "in: a fresh vote",
    "carried": "in: carried from an earlier look, outside the minimum",
    "own_history_outlier": "out: too far off its own history",
    "too_few_machines": "out: too few machines",
    "too_few_hosts": "out: too few hosts",
}
MISSING = {
    "no_price": "the series has no price of this chip on that day, before its first one or at all",
    "stale_price": "its last price is older than the limit of its source",
    "not_offered": "its source was seen, or ended, without it",
}


def price(chain: Chain, series_id: str, chip_id: str, day: date) -> Link:
    """The series, the price that it holds for the chip on `day` with its fact, or what is missing."""
    series = chain.row(SERIES, series_id) or {"price_series_id": series_id}
    segment = chain.row(SEGMENT, series_id, chip_id, day, day)
    if segment is None:
        around = chain.row(NEIGHBOURS, series=series_id, chip=chip_id, day=day)
        return {"series": series, "usd_per_gpu_hour": None} | (around or {})
    told: Link = {"usd_per_gpu_hour": segment["usd_per_gpu_hour"], "series": series}
    told["method"] = "index-v1" if series.get("price_basis") == "own_index" else "price-v1"
    told |= {name: segment[name] for name in ("priced_on", "valid_from", "valid_to")}
    # A price that reaches back to its stated start is not older than its day.
    told["age_days"] = max((day - segment["priced_on"]).days, 0)
    basis, fact_id = series.get("price_basis"), segment["price_fact_id"]
    if basis == "own_index":
        return told | {"index": _index(chain, series, chip_id, segment["priced_on"])}
    if basis == "provider_price":
        return told | {"quote": quote(chain, fact_id)}
    return told | {"published_value": _published(chain, fact_id)}


def quote(chain: Chain, quote_id: str) -> Link:
    """A quote as listed or as corrected, the division that made its price, its payload and corrections."""
    found = chain.row(QUOTE, quote_id)
    if found is None:
        return {"quote_id": quote_id, "missing": "this copy does not hold it: it may not be passed on"}
    divisors = []
    worked_out = float(found["price"])
    if found["price_unit"] in ("term_total", "instance_month"):
        worked_out /= float(found["term_hours"])
        divisors.append(f"/ {number(found['term_hours'])} hours")
    if found["price_unit"] != "gpu_hour":
        worked_out /= float(found["gpu_count"])
        divisors.append(f"/ {number(found['gpu_count'])} GPUs")
    if found["currency"] != "USD":
        worked_out *= float(found["fx_usd_per_unit"])
        divisors.append(f"x {number(found['fx_usd_per_unit'])} USD of {found['fx_rate_on']}")
    text = " ".join([f"{number(found['price'])} {found['currency']} per {found['price_unit']}", *divisors])
    names = {"source", "snapshot_id", "locator"}
    return (
        {name: value for name, value in found.items() if name not in names}
        | {"division": chain.sum(text, worked_out, found["usd_per_gpu_hour"], rounded=True)}
        | {"payload": chain.payload(found["source"], found["snapshot_id"])}
        | {"corrections": chain.corrections("rental_quote", [found["locator"]])}
    )


def _published(chain: Chain, value_id: str) -> Link:
    found = chain.row(VALUE, value_id)
    if found is None:
        return {"index_value_id": value_id, "missing": "this copy does not hold it: it may not be passed on"}
    payload = chain.payload(found.pop("source"), found.pop("snapshot_id"))
    corrections = chain.corrections("rental_index_value", [found.pop("locator")])
    return found | {"payload": payload, "corrections": corrections}


def _index(chain: Chain, series: Link, chip_id: str, day: date) -> Link:
    found = chain.row(INDEX, day, chip_id, series["index_name"]) or {"index_id": series["index_name"]}
    (minimum,) = chain.rows(
        "select max(value) as least from raw.method_parameter "
        "where method = 'index' and version = 'v1' and parameter = 'min_providers'"
    )
    key = (chip_id, series["price_type"], series["commitment_months"])
    votes = chain.rows(VOTES, day, *key, series["segment"])
    told = found | {"how": METHOD.format(min_providers=number(minimum["least"]))}
    told["votes"] = [_vote(chain, vote, key, day) for vote in votes]
    fresh = sum(vote["status"] == "counted" for vote in votes)
    if withheld := (found.get("provider_count") or 0) - fresh:
        told["missing"] = f"{withheld} fresh votes that this copy does not hold: they may not be passed on"
    return told


def _vote(chain: Chain, vote: Link, key: tuple[Any, ...], day: date) -> Link:
    told = {name: value for name, value in vote.items() if name not in ("quote_id", "source", "status")}
    told["counts"] = STATUS.get(vote["status"], vote["status"])
    if vote["quote_id"]:
        return told | {"quote": quote(chain, vote["quote_id"])}
    looked_on = day - timedelta(days=vote["age_days"])
    machines = chain.rows(MACHINES, vote["source"], vote["provider_id"], *key, looked_on)
    told["how"] = "median over hosts of each host's median machine; each machine by its largest offer"
    return told | {"quotes": [quote(chain, machine["quote_id"]) for machine in machines]}
