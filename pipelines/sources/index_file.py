"""Any published price index that a person holds as a CSV or JSON file, with what it means stated beside it.

The file alone does not say what its columns are, so the snapshot's context does, and nothing is guessed:

    index_name: getdeploying          a key of seeds/price_series.csv
    price_type: on_demand             and commitment_months where it is reserved
    currency: USD
    unit: gpu_hour                    the only one that is read: what one GPU costs for one hour
    columns: {date: day, chip: gpu, value: median_price}
    chip: H100 SXM                    in place of columns.chip, where the file is about one chip
    only: {billing_type: ON_DEMAND}   optional: rows with other values are left out, and counted
    rows: data.values                 optional: where the list of rows stands in a JSON document
    locale: en-US                     optional: amounts are written for people, `$2,499.00` or `2.49/hr`
    method_version, url, note         optional: go into every row

Does not belong here: indices that have a source of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from pipelines.contracts import RENTAL_INDEX_VALUE, ContractError
from pipelines.decode import (
    LOCALES,
    amount,
    iso_date,
    iso_instant,
    strict_csv,
    strict_json,
    text,
    written_amount,
)
from pipelines.outcomes import at, by, without_duplicates
from pipelines.source import (
    Accepted,
    NotApplicable,
    Outcome,
    Rejected,
    Snapshot,
    Source,
    SourceError,
)

KIND = "rental_index_value"

REQUIRED = ("index_name", "price_type", "currency", "unit", "columns")
OPTIONAL = ("chip", "only", "rows", "locale", "commitment_months", "method_version", "url", "note")
UNIT = "gpu_hour"
PRICE_TYPES = RENTAL_INDEX_VALUE.column("price_type").allowed
# What a file writes where a day has no value; a 0 is refused, since it may be meant.
NO_VALUE = ("", "null", "NA", "N/A", "-")
IMPLAUSIBLE_VALUE = 1000


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per row of the file.

    Values are in the stated currency per GPU and hour. Raises SourceError when the context does not say
    what the file means, or the file is no table with the columns that it names.
    """
    context = _checked(snapshot.context)
    outcomes = [
        outcome
        for part in snapshot.parts
        for number, row in enumerate(_rows(part.body, context))
        for outcome in _judged(f"{part.name} row {number}", row, context)
    ]
    if not outcomes:
        raise SourceError("the file has no rows")
    yield from without_duplicates(outcomes, by("raw_gpu_name", "value_date"), "value")


def _checked(context: Mapping[str, Any]) -> dict[str, Any]:
    """Return the context with its columns; raises SourceError that names everything wrong with it."""
    wrong = [f"{key} is missing" for key in REQUIRED if not context.get(key)]
    wrong += [f"{key} is not known" for key in sorted(map(str, context.keys() - {*REQUIRED, *OPTIONAL}))]
    columns = context.get("columns") or {}
    if not isinstance(columns, Mapping) or not all(isinstance(name, str) for name in columns.values()):
        wrong.append("columns is no mapping of names")
        columns = {}
    elif columns:
        wrong += [f"columns.{key} is missing" for key in ("date", "value") if not columns.get(key)]
        wrong += [
            f"columns.{key} is not known"
            for key in sorted(map(str, columns.keys() - {"date", "chip", "value"}))
        ]
        if bool(columns.get("chip")) == bool(context.get("chip")):
            wrong.append("one of columns.chip and chip is wanted")
    if context.get("unit") not in (None, UNIT):
        wrong.append(f"unit is {context['unit']!r}: only {UNIT} is read")
    if context.get("price_type") is not None and context["price_type"] not in PRICE_TYPES:
        wrong.append(f"price_type is {context['price_type']!r}: one of {', '.join(PRICE_TYPES)}")
    if context.get("price_type") == "reserved" and not context.get("commitment_months"):
        wrong.append("commitment_months is missing beside a reserved price_type")
    if context.get("currency") and not re.fullmatch("[A-Z]{3}", str(context["currency"])):
        wrong.append(f"currency is {context['currency']!r}: an ISO 4217 code is wanted")
    if context.get("locale") is not None and context["locale"] not in LOCALES:
        wrong.append(f"locale is {context['locale']!r}: one of {', '.join(LOCALES)}")
    months = context.get("commitment_months")
    if months is not None and (isinstance(months, bool) or not isinstance(months, int) or months < 1):
        wrong.append(f"commitment_months is {months!r}: a whole number is wanted")
    words = ("index_name", "chip", "rows", "method_version", "url", "note")
    wrong += [f"{key} is no text" for key in words if not isinstance(context.get(key, ""), str)]
    if not isinstance(context.get("only", {}), Mapping):
        wrong.append("only is no mapping of column to value")
    if wrong:
        raise SourceError(f"the context beside the file does not say what it means: {'; '.join(wrong)}")
    return {**context, "columns": columns}


def _rows(body: bytes, context: Mapping[str, Any]) -> list[Any]:
    """Return the rows of a JSON document (it starts with a bracket, as no CSV header does) or of a CSV."""
    wanted = {*context["columns"].values(), *context.get("only", {})}
    if text(body).lstrip()[:1] not in ("{", "["):
        return list(strict_csv(body, wanted))
    rows = at(strict_json(body), *filter(None, str(context.get("rows") or "").split(".")))
    if not isinstance(rows, list):
        raise SourceError(f"no list of rows at {context.get('rows') or 'the top'!r} of the JSON document")
    found = set().union(*(row.keys() for row in rows if isinstance(row, dict)))
    if not wanted <= found:
        raise SourceError(f"no row has {sorted(wanted - found)}; they have {sorted(found)[:20]}")
    return rows


def _judged(locator: str, row: Any, context: Mapping[str, Any]) -> Iterator[Outcome]:
    if not isinstance(row, dict):
        yield Rejected(KIND, "wrong_type", locator, "row", row)
        return
    if any(str(row.get(column)) != str(value) for column, value in context.get("only", {}).items()):
        yield NotApplicable(KIND, "not_asked_for", locator)
        return
    columns = context["columns"]
    stated = row.get(columns["value"])
    if stated is None or (isinstance(stated, str) and stated.strip() in NO_VALUE):
        yield NotApplicable(KIND, "no_value", locator)
        return
    try:
        locale = context.get("locale")
        value = (
            written_amount("value", stated, locale, context["currency"])
            if locale
            else amount("value", stated)
        )
        if value > IMPLAUSIBLE_VALUE:
            raise ContractError("implausible_magnitude", "value", stated)
        value_date, precision = _date(row.get(columns["date"]))
        found = {
            "index_name": context["index_name"],
            "method_version": context.get("method_version"),
            "raw_gpu_name": _chip(row, context),
            "price_type": context["price_type"],
            "commitment_months": context.get("commitment_months"),
            "value_date": value_date,
            "date_precision": precision,
            "value": value,
            "currency": context["currency"],
            "revision": "new",
            "url": context.get("url"),
            "note": context.get("note"),
        }
    except ContractError as error:
        yield Rejected(KIND, error.reason, locator, error.field, error.value)
        return
    yield Accepted(KIND, found, locator)


def _chip(row: dict[str, Any], context: Mapping[str, Any]) -> str:
    chip = context.get("chip") or row.get(context["columns"].get("chip", ""))
    if not isinstance(chip, str) or not chip.strip():
        raise ContractError("missing_value", "chip", chip)
    return chip.strip()


def _date(value: Any) -> tuple[date, str]:
    """Read a day, a month or an instant with its zone; 01/02/2026 could be two days and is refused."""
    if not isinstance(value, str):
        raise ContractError("not_a_date", "date", value)
    if re.fullmatch(r"\d{4}-\d{2}", value):
        return iso_date("date", f"{value}-01"), "month"
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", value):
        return iso_date("date", value), "day"
    return iso_instant("date", value).date(), "day"


SOURCE = Source(
    kind="index",
    title="A published index from a file",
    homepage="",
    licence="Whatever the publisher of the file grants; not known here, so its values are not passed on.",
    passes_on=False,
    cadence="as imported",
    source_rank=20,
    max_age_days=45,
    parse=parse,
)
