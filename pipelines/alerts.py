"""What a run tells people: alerts that were not told yet, to the log and to a webhook.

Belongs here: which alerts are new, their words in the log, the one message to the webhook, and the memory of
both (`alerts/told.json` in the state directory). Does not belong here: what an alert is
(`sql/mart/alert.sql`). Telling holds nobody up: what goes wrong with the webhook or the memory is one line in
the log, and what was not told is told by the next run. The webhook's address may hold a key: no log, error or
file ever shows it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx

from pipelines.failure import Failure
from pipelines.http import LOOPBACK, TRANSIENT_STATUS, user_agent
from pipelines.retry import stamina
from pipelines.warehouse import Warehouse

VARIABLE = "TOKENYIELD_WEBHOOK_URL"
# More lines than these are in mart.alert: a run's own output stays readable.
LINES = 5


@dataclass(frozen=True)
class Patience:
    """What one message to the webhook may cost, in seconds; total_seconds holds for all tries together."""

    attempts: int = 4
    total_seconds: float = 30
    backoff_seconds: float = 1


@dataclass(frozen=True)
class Alert:
    """One row of mart.alert, where its columns are described."""

    alert_id: str
    kind: str
    subject: str
    detail: str
    value: float | None
    unit: str | None
    threshold: float | None
    happened_on: date
    mart: str
    passes_on: bool

    @property
    def line(self) -> str:
        """The alert in one line; names from outside may hold line breaks and control characters."""
        text = f"{self.kind} {self.subject}: {self.detail}"
        return " ".join("".join(c if c.isprintable() else " " for c in text).split())


@dataclass
class Memory:
    """Ids of the standing alerts that were told; None: nothing was ever told there."""

    log: list[str] | None = None
    webhook: list[str] | None = None


@dataclass(frozen=True)
class Told:
    """What became of a telling: alerts that stand, those new in the log, and those sent to the webhook.

    sent: None where no webhook is set, or where it could not be reached.
    """

    standing: int
    logged: int
    sent: int | None


class WebhookError(Failure):
    """The webhook did not take the message. The text never holds its address."""

    def __init__(self, what: str, transient: bool = False) -> None:
        super().__init__(what)
        self.transient = transient


def tell(
    warehouse: Warehouse,
    memory: Path,
    log: logging.Logger,
    now: datetime | None = None,
    patience: Patience | None = None,
) -> Told:
    """Tell the alerts of the last committed build that were not told before, and remember them in `memory`.

    The first telling, and one after a damaged memory, says in one message what stands. A build that looks
    back by more than a day (`as_of`) tells nothing: its alerts are not today's. What may not be passed on is
    told to the log alone. Raises what reading the warehouse raises, and nothing for webhook or memory.
    """
    now = now or datetime.now(UTC)
    as_of, standing = _standing(warehouse)
    if abs(now - as_of) > timedelta(days=1):
        log.info(f"alerts  nothing told: the build is as of {as_of:%Y-%m-%d}")
        return Told(len(standing), 0, None)
    known = _remembered(memory, log)
    logged = _log(standing, known.log, log)
    known.log = [alert.alert_id for alert in standing]
    sent = None
    if address := os.environ.get(VARIABLE, "").strip():
        passed = [alert for alert in standing if alert.passes_on]
        try:
            sent = _notify(address, as_of, passed, known.webhook, patience or Patience())
            known.webhook = [alert.alert_id for alert in passed]
        except WebhookError as error:
            log.warning(f"alerts  not told to {VARIABLE}, the next run tries again: {error}")
    _remember(memory, known, log)
    return Told(len(standing), logged, sent)


def _standing(warehouse: Warehouse) -> tuple[datetime, list[Alert]]:
    columns = ", ".join(field.name for field in fields(Alert))
    with warehouse.read() as connection:
        as_of = connection.execute("select as_of from raw.build").fetchone()[0].astimezone(UTC)
        rows = connection.execute(
            f"select {columns} from mart.alert order by kind, subject, alert_id"
        ).fetchall()
    return as_of, [Alert(*row) for row in rows]


def _new(standing: Iterable[Alert], told: list[str] | None) -> list[Alert]:
    seen = set(told or ())
    return [alert for alert in standing if alert.alert_id not in seen]


def _counted(alerts: list[Alert]) -> str:
    kinds = Counter(alert.kind for alert in alerts)
    return ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))


def _log(standing: list[Alert], told: list[str] | None, log: logging.Logger) -> int:
    """Log what is new, the first time as a count of what stands; returns how many are new."""
    new = _new(standing, told)
    if told is None and new:
        log.warning(f"alerts  {len(new)} stand (mart.alert): {_counted(new)}")
        return len(new)
    for alert in new[:LINES]:
        log.warning(f"alert  {alert.line}")
    if new[LINES:]:
        log.warning(f"alerts  and {len(new) - LINES} more (mart.alert): {_counted(new[LINES:])}")
    return len(new)


def _notify(
    address: str, as_of: datetime, standing: list[Alert], told: list[str] | None, patience: Patience
) -> int:
    """Send what is new to the webhook in one message, if anything is; returns how many alerts it held."""
    url = _checked(address)
    if not (new := _new(standing, told)):
        return 0
    first = told is None
    heading = f"tokenyield, {as_of:%Y-%m-%d}: {len(new)} {'alerts stand' if first else 'new alerts'}"
    lines = [] if first else [alert.line for alert in new[:LINES]]
    message = {
        # Chat services show `text` and pass over the rest.
        "text": "\n".join([f"{heading}: {_counted(new)}", *lines]),
        "as_of": as_of.isoformat(),
        "first": first,
        "alerts": [_plain(alert) for alert in new],
    }
    try:
        asyncio.run(_sent(url, message, patience))
    except WebhookError:
        raise
    except TimeoutError:
        raise WebhookError(f"no answer within {patience.total_seconds:g} s") from None
    except Exception as error:
        # Certificates or a proxy of the environment that are none, or a name that no host can have: what was
        # logged is remembered all the same. The kind of error alone, for its text may quote the address.
        raise WebhookError(f"it could not be sent, {type(error).__name__}") from None
    return len(new)


def _plain(alert: Alert) -> dict[str, Any]:
    found = asdict(alert) | {"happened_on": alert.happened_on.isoformat()}
    del found["passes_on"]
    return found


def _checked(address: str) -> httpx.URL:
    try:
        url = httpx.URL(address)
    except (httpx.InvalidURL, ValueError, TypeError):
        raise WebhookError(f"{VARIABLE} is no address; set an https address") from None
    if not url.host or not (url.scheme == "https" or (url.scheme == "http" and url.host in LOOPBACK)):
        raise WebhookError(f"{VARIABLE} is no https address (plain http is for this machine alone); mend it")
    return url


async def _sent(url: httpx.URL, message: dict[str, Any], patience: Patience) -> None:
    """Post until it is taken. The limit holds for all of it: a read timeout starts afresh with every byte."""
    trying = stamina.retry_context(
        on=lambda error: isinstance(error, WebhookError) and error.transient,
        attempts=patience.attempts,
        timeout=None,
        wait_initial=patience.backoff_seconds,
        wait_jitter=patience.backoff_seconds,
    )
    async with (
        asyncio.timeout(patience.total_seconds),
        # A proxy of the environment has no business with what goes to this machine.
        httpx.AsyncClient(headers={"User-Agent": user_agent()}, trust_env=url.scheme == "https") as client,
    ):
        async for attempt in trying:
            with attempt:
                await _posted(client, url, message)


async def _posted(client: httpx.AsyncClient, url: httpx.URL, message: dict[str, Any]) -> None:
    """One try; every error loses its cause, which may quote the address. No body is read."""
    try:
        async with client.stream("POST", url, json=message, follow_redirects=False) as response:
            status = response.status_code
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise WebhookError(f"no connection, {type(error).__name__}", transient=True) from None
    if not 200 <= status < 300:
        redirected = ", redirects are not followed" if 300 <= status < 400 else ""
        raise WebhookError(f"HTTP {status}{redirected}", status in TRANSIENT_STATUS)


def _remembered(memory: Path, log: logging.Logger) -> Memory:
    try:
        found = json.loads(memory.read_text(encoding="utf-8"))
        if found.keys() != {"log", "webhook"} or not all(map(_is_ids, found.values())):
            raise ValueError
        return Memory(**found)
    except FileNotFoundError:
        return Memory()
    except (OSError, ValueError, AttributeError, RecursionError):
        log.warning(f"alerts  {memory} cannot be read; what stands is told anew")
        return Memory()


def _is_ids(value: Any) -> bool:
    return value is None or (isinstance(value, list) and all(isinstance(one, str) for one in value))


def _remember(memory: Path, known: Memory, log: logging.Logger) -> None:
    """Replace the memory by one rename: it is the old one or the new one, whenever a run ends."""
    # One of its own for each process: two that write at once would put half a file in its place.
    unfinished = memory.with_suffix(f".{os.getpid()}.unfinished")
    try:
        memory.parent.mkdir(parents=True, exist_ok=True)
        with unfinished.open("w", encoding="utf-8") as stream:
            json.dump(asdict(known), stream)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(unfinished, memory)
    except OSError as error:
        log.warning(f"alerts  {memory} cannot be written, so they will be told again: {error.strerror}")
