"""The real steps of a run in a process that kills itself at one exact place, or runs to its end.

Belongs here: the driver alone, run as a program in a folder that holds the code:

    steps_of_a_run.py HOME AS_OF MODELS [MODULE:NAME before|after NUMBER]
    steps_of_a_run.py command AS_OF [MODULE:NAME before|after NUMBER]      the real `tokenyield build`

MODELS are the roots of what is built, with commas between (empty: every model). NAME is a function or a
method of the code; at its call of that NUMBER, before it or after it, the process gets the signal that nobody
can catch. `duckdb:commit` and `duckdb:close` stand for the writer's own commit and for its close, which
checkpoints.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from pipelines import run
from pipelines.home import Home
from pipelines.warehouse import Warehouse


def main(root: str, as_of: str, roots: str, place: str = "", when: str = "", number: str = "0") -> None:
    """Load, build, record and publish below `root`, or as much of it as the place allows."""
    home, now = Home(Path(root)), datetime.fromisoformat(as_of)
    if roots:
        needed, macros = only(roots.split(",")), ()
        run.models = lambda: needed
        run.macros = lambda: macros
    if place:
        arm(place, when, int(number))
    run.load(home, now, now=now)
    run.build(home)
    run.record(home, now)
    run.publish(home)


def only(roots: list[str]) -> dict[str, Any]:
    """The models of `roots` and all that they read, in building order."""
    models, wanted, waiting = run.models(), set(), [*roots]
    while waiting:
        name = waiting.pop()
        if name in models and name not in wanted:
            wanted.add(name)
            waiting += models[name].depends_on
    return {name: model for name, model in models.items() if name in wanted}


def dies(real: Callable[..., Any], when: str, number: int) -> Callable[..., Any]:
    """`real`, whose call of that number is the last thing, or nearly, that this process does."""
    calls = 0

    def call(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == number and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = real(*arguments, **named)
        if calls == number and when == "after":
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    return call


class Watched:
    """A connection that is the real one, except that its commit and its close can be the end."""

    def __init__(self, real: Any, commit: Callable[..., Any], close: Callable[..., Any]) -> None:
        self._real, self._commit, self._close = real, commit, close
        # A frame that a caller names in its SQL is one frame further away from here.
        real.execute("set python_scan_all_frames = true")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def execute(self, statement: str, *values: Any) -> Any:
        """Run a statement; `commit` through its own door."""
        if statement == "commit":
            return self._commit(lambda: self._real.execute(statement))
        return self._real.execute(statement, *values)

    def close(self) -> None:
        """Close, and so checkpoint."""
        self._close(self._real.close)


def arm(place: str, when: str, number: int) -> None:
    """Put the end of this process to one call of one function."""
    module, _, name = place.partition(":")
    if module == "duckdb":
        doors = dict.fromkeys(("commit", "close"), lambda act: act())
        doors[name] = dies(doors[name], when, number)
        connect = Warehouse._connect
        Warehouse._connect = lambda self, open_it: Watched(connect(self, open_it), **doors)
        return
    holder = importlib.import_module(module)
    *owners, attribute = name.split(".")
    for owner in owners:
        holder = getattr(holder, owner)
    setattr(holder, attribute, dies(getattr(holder, attribute), when, number))


def build(as_of: str, place: str = "", when: str = "", number: str = "0") -> None:
    """`tokenyield build --as-of ...` in the home of the environment."""
    from pipelines import cli

    if place:
        arm(place, when, int(number))
    sys.argv = ["tokenyield", "build", "--as-of", as_of]
    cli.main()


if __name__ == "__main__":
    if sys.argv[1] == "command":
        build(*sys.argv[2:])
    else:
        main(*sys.argv[1:])
