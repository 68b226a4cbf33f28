"""The European Central Bank's daily reference rates: how much of a currency one euro buys.

Traps: a rate's day is the day that the series names, not the day on which it was asked for (none on
weekends and holidays); a series is found by positions in a list of dimensions that may change order.
Does not belong here: cross rates and conversion (SQL does both), and rates of any other bank.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

from pipelines.contracts import ContractError
from pipelines.decode import iso_date, iso_instant, strict_json
from pipelines.outcomes import CLOCK_TOLERANCE, at, only_part, plain_number
from pipelines.source import (
    Accepted,
    NotApplicable,
    Outcome,
    Part,
    Rejected,
    Request,
    Snapshot,
    Source,
    SourceError,
)

CURRENCIES = (
    "USD",
    "GBP",
    "CHF",
    "SEK",
    "NOK",
    "DKK",
    "PLN",
    "CZK",
    "JPY",
    "CNY",
    "INR",
    "CAD",
    "AUD",
    "BRL",
)
DAYS = 10
URL = (
    f"https://data-api.ecb.europa.eu/service/data/EXR/D.{'+'.join(CURRENCIES)}.EUR.SP00.A"
    f"?format=jsondata&detail=dataonly&lastNObservations={DAYS}"
)
KIND = "fx_rate"

# What every series must be: daily, against the euro, the spot reference rate, not a variation of it.
REQUIRED = {"FREQ": "D", "CURRENCY_DENOM": "EUR", "EXR_TYPE": "SP00", "EXR_SUFFIX": "A"}
# One euro buys thousands of the weakest currencies and a third of the strongest.
LEAST, MOST = 0.01, 1_000_000


def observed_at(parts: tuple[Part, ...]) -> datetime | None:
    """Return the moment at which the bank prepared the answer."""
    return _prepared(_document(parts))


def _document(parts: tuple[Part, ...]) -> dict[str, Any]:
    document = strict_json(only_part(parts, "the rates are one answer").body)
    header = at(document, "header")
    if (
        not isinstance(header, dict)
        or header.get("sender") != {"id": "ECB"}
        or header.get("test") is not False
    ):
        raise SourceError(f"{parts[0].name}: not an answer of the bank's data service, or a test of it")
    return document


def _prepared(document: dict[str, Any]) -> datetime:
    try:
        return iso_instant("header.prepared", document["header"].get("prepared"))
    except ContractError as error:
        raise SourceError(str(error)) from error


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per currency and day: units of the currency for one euro, as the bank fixed it.

    Raises SourceError for another document, a series that is no daily spot rate of the euro, a day in the
    future, or an answer without US dollars.
    """
    document = _document(snapshot.parts)
    if _prepared(document) > snapshot.recorded_at + CLOCK_TOLERANCE:
        raise SourceError("prepared after it was stored")
    sets = document.get("dataSets")
    if not isinstance(sets, list) or len(sets) != 1 or not isinstance(sets[0], dict):
        raise SourceError("not one data set")
    series = sets[0].get("series")
    if not isinstance(series, dict) or not series:
        raise SourceError("no series in the data set")
    dimensions, days = _dimensions(document)
    named = {_currency(key, dimensions): found for key, found in series.items()}
    if len(named) < len(series) or "USD" not in named:
        raise SourceError("a currency stands twice, or US dollars are missing")
    if max(days) > snapshot.recorded_at.date() + CLOCK_TOLERANCE:
        raise SourceError(f"a rate of {max(days)}, stored at {snapshot.recorded_at}")
    for currency, found in named.items():
        yield from _rates(currency, found, days)


def _dimensions(document: dict[str, Any]) -> tuple[list[tuple[str, list[str]]], list[date]]:
    """Return the dimensions of a series, each with its values in order, and the days of the observations."""
    try:
        described = document["structure"]["dimensions"]
        series = [(str(each["id"]), [str(v["id"]) for v in each["values"]]) for each in described["series"]]
        (time,) = described["observation"]
        if time["id"] != "TIME_PERIOD" or {"CURRENCY", *REQUIRED} - {name for name, _ in series}:
            raise SourceError("the dimensions are not those of exchange rates by day")
        days = [iso_date("TIME_PERIOD", value["id"]) for value in time["values"]]
    except (KeyError, TypeError, ValueError) as error:
        raise SourceError(f"the structure is not as the bank describes it: {error!r}") from error
    if not days or len(set(days)) < len(days):
        raise SourceError("no days, or a day twice")
    return series, days


def _currency(key: str, dimensions: list[tuple[str, list[str]]]) -> str:
    positions = key.split(":")
    if len(positions) != len(dimensions) or not all(position.isdecimal() for position in positions):
        raise SourceError(f"series {key!r} does not name {len(dimensions)} dimensions")
    try:
        found = {
            name: values[int(place)] for place, (name, values) in zip(positions, dimensions, strict=True)
        }
    except IndexError as error:
        raise SourceError(f"series {key!r} points outside its dimensions") from error
    wrong = {name: found[name] for name, wanted in REQUIRED.items() if found[name] != wanted}
    if wrong:
        raise SourceError(f"series {key!r} is no daily spot rate of the euro: {wrong}")
    return found["CURRENCY"]


def _rates(currency: str, series: Any, days: list[date]) -> Iterator[Outcome]:
    observations = at(series, "observations")
    if not isinstance(observations, dict):
        yield Rejected(KIND, "wrong_type", currency, "observations", observations)
        return
    for place, found in observations.items():
        if not place.isdecimal() or int(place) >= len(days):
            raise SourceError(f"{currency}: observation {place!r} points outside the {len(days)} days")
        day = days[int(place)]
        where = f"{currency} {day}"
        stated = found[0] if isinstance(found, list) and found else found
        if stated is None:
            # On days on which the bank fixed no rate the series holds an empty observation.
            yield NotApplicable(KIND, "no_rate_that_day", where)
            continue
        yield _rate(currency, day, where, stated)


def _rate(currency: str, day: date, where: str, stated: Any) -> Outcome:
    try:
        rate = plain_number("rate", stated)
    except ContractError as error:
        return Rejected(KIND, error.reason, where, error.field, error.value)
    if not LEAST <= rate <= MOST:
        return Rejected(KIND, "out_of_range", where, "rate", stated)
    row = {"rate_date": day, "base_currency": "EUR", "currency": currency, "rate": rate}
    return Accepted(KIND, row, where)


def requests() -> list[Request]:
    """The last days of every currency in one answer, so that a missed run leaves no hole."""
    return [Request(URL)]


SOURCE = Source(
    kind="fx",
    title="European Central Bank: daily euro reference rates",
    homepage="https://data.ecb.europa.eu/data/datasets/EXR",
    licence="ECB statistics, free to use when the source is named and the figures are not changed.",
    passes_on=True,
    cadence="business days, about 16:00 in Frankfurt",
    source_rank=10,
    max_age_days=7,
    parse=parse,
    requests=requests,
    observed_at=observed_at,
)
