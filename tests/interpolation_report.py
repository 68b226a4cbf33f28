"""How far the curve between two measured points may be off: leave one out, on the published frontiers.

A report and no test: every inner point of a serving line's frontier with at least four of them is left out in
turn, and read off the curve through the others. Run it with `make interpolation-report`. The methods that are
not ours stand beside it so that the choice can be judged again on more data.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence

import duckdb
import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.interpolate import PchipInterpolator

from pipelines.home import Home

MINIMUM_KNOTS = 4
Curve = Callable[[np.ndarray, np.ndarray, float], float]


def steffen(xs: np.ndarray, ys: np.ndarray, x: float) -> float:
    """Return Steffen's monotone cubic through the points at `x`; end slopes as in InferenceX's charts."""
    steps, secants = np.diff(xs), np.diff(ys) / np.diff(xs)
    slopes = np.empty_like(ys)
    weighted = (secants[:-1] * steps[1:] + secants[1:] * steps[:-1]) / (steps[:-1] + steps[1:])
    least = np.minimum(np.minimum(abs(secants[:-1]), abs(secants[1:])), abs(weighted) / 2)
    slopes[1:-1] = (np.sign(secants[:-1]) + np.sign(secants[1:])) * least
    slopes[0], slopes[-1] = (3 * secants[0] - slopes[1]) / 2, (3 * secants[-1] - slopes[-2]) / 2
    i = int(np.clip(np.searchsorted(xs, x, side="right") - 1, 0, len(steps) - 1))
    t, h = (x - xs[i]) / steps[i], steps[i]
    return float(
        (1 + 2 * t) * (1 - t) ** 2 * ys[i]
        + t * (1 - t) ** 2 * h * slopes[i]
        + t * t * (3 - 2 * t) * ys[i + 1]
        + t * t * (t - 1) * h * slopes[i + 1]
    )


METHODS: dict[str, Curve] = {
    "Steffen on log (ours)": lambda xs, ys, x: float(np.exp(steffen(xs, np.log(ys), x))),
    "Steffen": steffen,
    "PCHIP on log": lambda xs, ys, x: float(np.exp(PchipInterpolator(xs, np.log(ys))(x))),
    "linear": lambda xs, ys, x: float(np.interp(x, xs, ys)),
    "linear on log": lambda xs, ys, x: float(np.exp(np.interp(x, xs, np.log(ys)))),
    "linear in cost": lambda xs, ys, x: float(1 / np.interp(x, xs, 1 / ys)),
}


def left_out(
    frontiers: Sequence[tuple[np.ndarray, np.ndarray]],
) -> Iterator[tuple[np.ndarray, np.ndarray, float, float]]:
    """Yield the other points of a frontier, and the speed and throughput of the inner one left out."""
    for xs, ys in frontiers:
        for i in range(1, len(xs) - 1):
            yield np.delete(xs, i), np.delete(ys, i), float(xs[i]), float(ys[i])


def report(published: duckdb.DuckDBPyConnection) -> Table | None:
    """Return bias and mean absolute error of each method in per cent; None where nothing can be left out."""
    frontiers = [
        (np.array(speeds), np.array(made))
        for speeds, made in published.execute(
            "select list(interactivity_tok_s_user order by knot), list(throughput_tok_s_gpu order by knot) "
            "from mart.frontier_point where frontier_kind = 'serving_line' and evidence = 'measured' "
            "and token_kind = 'total' and cost_allocation = 'total' and knots >= ? "
            "group by frontier_id, valid_from order by frontier_id, valid_from",
            [MINIMUM_KNOTS],
        ).fetchall()
    ]
    cases = list(left_out(frontiers))
    if not cases:
        return None
    table = Table(title=f"{len(cases)} points left out of {len(frontiers)} frontiers of one server and run")
    for heading in ("method", "bias %", "mean absolute error %", "worst %"):
        table.add_column(heading, justify="left" if heading == "method" else "right")
    for name, curve in METHODS.items():
        errors = np.array([curve(xs, ys, x) / y - 1 for xs, ys, x, y in cases]) * 100
        table.add_row(name, *(f"{v:.1f}" for v in (errors.mean(), abs(errors).mean(), abs(errors).max())))
    return table


def main() -> int:
    path = Home.from_environment().published / "current" / "tokenyield.duckdb"
    if not path.exists():
        Console(stderr=True).print(f"no published copy at {path}: run `tokenyield build` first")
        return 1
    with duckdb.connect(str(path), read_only=True) as published:
        table = report(published)
    if table is None:
        message = f"no frontier has {MINIMUM_KNOTS} points; import more results, e.g. InferenceX's history"
        Console(stderr=True).print(message)
        return 1
    Console().print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
