"""Words for the codes that the page shows.

Belongs here: a sentence's worth of text for a reason or a code, and the heading of a column. Does not belong
here: deciding which reason holds (`sql/`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipelines.page.data import Table

CODES = {
    "above_range": "no server was measured that fast",
    "below_range": "no server was measured that slow",
    "unreachable": "beyond the ceiling that its memory sets",
    "wide_bracket": "the two measured points around this speed are too far apart to read between",
    "ttft_above_limit": "users wait longer for the first token than the limit of the method",
    "ttft_unknown": "time to first token is not stated",
    "point_too_old": "measured more than a year ago",
    "no_price": "the price series has never priced this chip",
    "not_offered": "the price series does not offer this chip",
    "stale_price": "the last price is older than it may stand",
    "no_throughput": "no throughput is stated",
    "speed_is_not_throughput": "a speed per user is no throughput",
    "unknown_gpu_count": "the number of GPUs is not known",
    "role_ratio_unknown": "the ratio of prefill to decode GPUs is not known",
    "output_not_stated": "output tokens are not stated apart",
    "no_factor": "no live-traffic factor is sourced",
    "one_point_has_no_curve": "one point makes no curve",
    "cheaper_at_every_speed": "tokens sell for more than they cost at every measured speed",
    "dearer_at_every_speed": "tokens cost more than they sell for at every measured speed",
    "crossed_unmeasured": "they change places between speeds that were not both measured",
    "too_few_providers": "fewer providers were seen on the day than the method needs",
    "evidence_is_vendor_claim": "claimed by the vendor, not measured",
    "evidence_is_read_off_chart": "read off a chart, not measured",
    "evidence_is_derived": "derived, not measured",
    "evidence_is_assumed": "assumed, not measured",
    "max_throughput": "greatest throughput, whatever the speed",
    "on_demand": "on demand",
    "off_peak": "off peak",
    "owning_cost": "owning cost",
    "published_index": "published index",
    "own_index": "our own index",
    "own_contract": "own contract",
    "rent_model": "rent of a published cost model",
    "owning_cost_model": "published cost model",
    "vendor_claim": "claimed by the vendor",
    "listed": "as listed",
    "interpolated": "read between two measured points",
    "throughput_tok_s_gpu": "throughput per GPU",
    "interactivity_tok_s_user": "speed per user",
}
HEADINGS = {
    "null_reason": "why it is not known",
    "unranked_reason": "why it is not ranked",
    "distinguishable": "dearer beyond doubt",
    "cheaper_below_chip_id": "cheaper when slower",
    "cheaper_above_chip_id": "cheaper when faster",
    "after_on": "on",
    "percent": "change, %",
}
UNITS = (
    ("usd_per_million_tokens", "$ per million tokens"),
    ("usd_per_gpu_hour", "$ per GPU-hour"),
    ("_tok_s_user", " tok/s per user"),
    ("_tok_s_gpu", " tok/s per GPU"),
    ("_tok_s", " tok/s"),
    ("tokens_per_s_per_mw", "tok/s per MW"),
    ("_kw_gpu", " kW per GPU"),
    ("_ms", " ms"),
    ("_p50_s", " median s"),
    ("_share", " share"),
    ("_id", ""),
    ("priced_on", "price of"),
    ("ttft", "time to first token"),
)


def heading(column: str) -> str:
    """A column's name for people, unit last: `price_age_days` is "price age days"."""
    if column in HEADINGS:
        return HEADINGS[column]
    text = column
    for code, words in UNITS:
        text = text.replace(code, words if text == code else f" {words}")
    return " ".join(text.replace("_", " ").split())


def as_dict(tables: Mapping[str, Table]) -> dict[str, Any]:
    """Codes and headings that the page's script looks up."""
    columns = {column for table in tables.values() for column in table.columns}
    return {"codes": CODES, "headings": {column: heading(column) for column in sorted(columns)}}
