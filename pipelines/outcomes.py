"""Accounting of candidates that several sources share, between the bytes of a payload and its outcomes.

Belongs here: duplicates within a payload, prices that do not scale, a payload's single part, checks of its
envelope, and the reading of a price, a name, a count or a stock that many publishers state in the same way.
Does not belong here: anything that knows a publisher: its keys, its limits, what its words mean, which of
its outcomes are one product. A source passes those in.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from pipelines.contracts import ContractError
from pipelines.decode import amount
from pipelines.source import Accepted, NotApplicable, Outcome, Part, Rejected, Snapshot, SourceError

# What tells accepted candidates apart; those without a key (None) are left as they are.
Key = Callable[[Accepted], Hashable | None]

# A publisher's clock may be ahead of ours, though not by more.
CLOCK_TOLERANCE = timedelta(days=1)


def only_part(parts: tuple[Part, ...], expected: str) -> Part:
    """Return the single part of a payload; raises SourceError with what was `expected` in its place."""
    if len(parts) != 1:
        raise SourceError(f"{len(parts)} parts, where {expected}")
    return parts[0]


def at(document: Any, *keys: str) -> Any:
    """Walk down mappings; None where the path ends early."""
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document


def check_clock(done: str, moment: datetime, snapshot: Snapshot) -> None:
    """Raise SourceError when a payload was `done` (generated, published) after it was stored."""
    if moment > snapshot.recorded_at + CLOCK_TOLERANCE:
        raise SourceError(f"{done} at {moment}, after it was stored at {snapshot.recorded_at}")


def present(key: str, record: Mapping[str, Any]) -> Any:
    """Return the value of a key that must be there, though it may be null; raises ContractError."""
    if key not in record:
        raise ContractError("missing_value", key, None)
    return record[key]


def plain_number(field: str, value: Any) -> Decimal:
    """Read what is sent as a number; a text in its place is a sign that the schema moved."""
    if isinstance(value, str):
        raise ContractError("wrong_type", field, value)
    return amount(field, value)


def whole_number(field: str, value: Any) -> int:
    """Read what is sent as a whole number of any sign; raises ContractError for anything else."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ContractError("missing_value" if value is None else "wrong_type", field, value)
    return value


def some_text(field: str, value: Any) -> str:
    """Read a text that must not be empty; raises ContractError."""
    if not isinstance(value, str) or not value:
        raise ContractError("missing_value" if value in (None, "") else "wrong_type", field, value)
    return value


def as_stated(field: str, value: Any) -> str:
    """Return a text or a number as text, for a key or a note; raises ContractError for anything else.

    NaN and Infinity are no numbers of JSON; written out they would pass for a name.
    """
    return value if isinstance(value, str) else str(amount(field, value))


def bounded(field: str, value: Any, most: int) -> Decimal:
    """Read an amount of money, a number or a text, in any unit, from 0 to `most`.

    Raises ContractError outside: no such price is below 0, and above `most` the unit has changed.
    """
    found = amount(field, value)
    if found < 0:
        raise ContractError("not_positive", field, value)
    if found > most:
        raise ContractError("implausible_magnitude", field, value)
    return found


def offered(field: str, value: Any, most: int) -> Decimal | None:
    """Read a price that is sent as a number, up to `most`; None for the 0 or null of what is not offered."""
    if value is None:
        return None
    if isinstance(value, str):
        raise ContractError("wrong_type", field, value)
    return bounded(field, value, most) or None


def availability(free: Any) -> str:
    """How many are free, where it is stated, as a word; it never decides whether there is a price."""
    if isinstance(free, bool) or not isinstance(free, int):
        return "listed"
    return "available" if free > 0 else "unavailable"


def by(*columns: str) -> Key:
    """Tell candidates apart by these columns of their rows; an optional one that is left out is None."""
    return lambda found: tuple(found.row.get(column) for column in columns)


def without_duplicates(outcomes: Iterable[Outcome], key_of: Key, column: str = "price") -> Iterator[Outcome]:
    """Keep one of equal values of a key; refuse all of them when they differ, whatever their order.

    Rows of one key may differ in other columns than `column`.
    """
    agreeing = _agreeing(outcomes, key_of, column, lambda found: found.row[column])
    yield from one_of_each(agreeing, key_of)


def without_duplicate_rows(
    outcomes: Iterable[Outcome], key_of: Key, column: str = "price"
) -> Iterator[Outcome]:
    """Keep one of equal rows of a key; refuse all of them when they differ in any column.

    The refusal shows the value of `column`.
    """
    yield from one_of_each(agreeing_rows(outcomes, key_of, column), key_of)


def agreeing_rows(outcomes: Iterable[Outcome], key_of: Key, column: str = "price") -> Iterator[Outcome]:
    """Refuse all rows of a key when they differ in any column; equal ones all stay."""
    yield from _agreeing(outcomes, key_of, column, lambda found: found.row)


def one_of_each(outcomes: Iterable[Outcome], key_of: Key) -> Iterator[Outcome]:
    """Keep one outcome of each key: the one that has held longest, else the first."""
    outcomes = list(outcomes)
    repeated: dict[int, Outcome] = {}
    for group in _groups(outcomes, key_of):
        kept = min(group, key=lambda place: (str(group[place].row.get("effective_from") or "~"), place))
        for place, found in group.items():
            if place != kept:
                repeated[place] = NotApplicable(found.kind, "identical_duplicate", found.locator)
    yield from (repeated.get(place, outcome) for place, outcome in enumerate(outcomes))


def scaling(outcomes: Iterable[Outcome], family_of: Key) -> Iterator[Outcome]:
    """Refuse a machine that costs no more than one with fewer GPUs of the same family.

    Such a price is one GPU's, written on a bigger machine; divided by its GPUs it would be a bargain.
    """
    outcomes = list(outcomes)
    flat: dict[int, Outcome] = {}
    for family in _groups(outcomes, family_of):
        prices = [(found.row["gpu_count"], found.row["price"]) for found in family.values()]
        for place, found in family.items():
            count, price = found.row["gpu_count"], found.row["price"]
            if any(fewer < count and theirs >= price for fewer, theirs in prices):
                flat[place] = Rejected(found.kind, "price_does_not_scale", found.locator, "price", price)
    yield from (flat.get(place, outcome) for place, outcome in enumerate(outcomes))


def _agreeing(
    outcomes: Iterable[Outcome], key_of: Key, column: str, stated: Callable[[Accepted], Any]
) -> Iterator[Outcome]:
    """Refuse all outcomes of a key, each with its `column`, when what is `stated` differs among them."""
    outcomes = list(outcomes)
    refused: dict[int, Outcome] = {}
    for group in _groups(outcomes, key_of):
        first, *others = map(stated, group.values())
        if any(other != first for other in others):
            for place, found in group.items():
                refused[place] = Rejected(
                    found.kind, "conflicting_duplicates", found.locator, column, found.row[column]
                )
    yield from (refused.get(place, outcome) for place, outcome in enumerate(outcomes))


def _groups(outcomes: list[Outcome], key_of: Key) -> list[dict[int, Accepted]]:
    """Return the accepted outcomes of each key, by their place."""
    groups: dict[Hashable, dict[int, Accepted]] = {}
    for place, outcome in enumerate(outcomes):
        if isinstance(outcome, Accepted) and (key := key_of(outcome)) is not None:
            groups.setdefault(key, {})[place] = outcome
    return list(groups.values())
