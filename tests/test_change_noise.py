"""Whether a change of throughput is more than repeat runs scatter, and which published note names its cause.

Belongs here: `core.benchmark_noise`, `core.point_note` and what `mart.yield_change` makes of them. Spreads
were worked out by hand from the logarithms that stand beside them.
"""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from bench_world import point
from price_world import Query, Row, moment, world


def line(chip: str, *values: tuple[float, str | None], **changes: Any) -> list[Row]:
    """Points of one line, one a day from 1 October on: throughput and image."""
    return [
        point(chip, f"2026-10-{day:02}", output_tok_s=value, image=image, **changes)
        for day, (value, image) in enumerate(values, start=1)
    ]


def note(key: str, config: str, **changes: Any) -> Row:
    seen = moment(changes.pop("seen", "2026-10-20"))
    values = {
        "publisher": "lab", "note_key": key, "config_key": config, "raw_chip_name": "h200",
        "raw_model_name": "deepseek-r1-0528", "description": f"{key} did it", "url": f"https://example.org/{key}",
        "changed_on": date(2026, 10, 2), "known_at": seen,
    }  # fmt: skip
    return Row("change_note", "inferencex_changes", seen, seen, values | changes)


def moved(engine: str, **changes: Any) -> list[Row]:
    """Two points of an H200 on one engine, of 1 and 2 October, with another image."""
    values = {"source": "inferencex", "engine": engine, "image": "a", **changes}
    later = {"run_id": f"{engine}-2", **values, "image": "b"}
    return [
        point("h200", "2026-10-01", **values | {"run_id": f"{engine}-1"}, output_tok_s=900),
        point("h200", "2026-10-02", **later),
    ]


ROWS = [
    # ln 1.02 = 0.0198026, -0.0198026, ln 1.03 = 0.0295588: mean 0.0098529,
    # sd = sqrt(0.00136677 / 2) = 0.0261416.
    *line("case-known", (1000, "a"), (1020, "a"), (1000, "a"), (1030, "a"), (1080, "b"), (1180, "c")),
    # One repeat of its own, so the band of its publisher; 1000 -> 1100 is ln 1.1 = 0.0953.
    *line("case-few", (1000, "a"), (1020, "a"), (1122, "b")),
    # Another publisher with two repeats has no band.
    *line("case-none", (1000, "a"), (1020, "a"), (1000, "a"), (2000, "b"), publisher="two-runs"),
    # A third states no image, and a fourth no ranks: these are no repeats.
    *line("case-mute", *[(value, None) for value in (1000, 1020, 1000, 1030)], publisher="mute"),
    *line("case-ranks", (1000, "a"), (1020, "a"), (1000, "a"), (1030, "a"), publisher="mute", tp=None),
    # Runs that agree to the last digit are no band.
    *line("case-equal", *[(1000, "a")] * 4, (1001, "b"), publisher="copies"),
    # A note that names the run; one of its day; two of them; and notes that fit nothing.
    *moved("sglang"), *moved("trt"), *moved("vllm"), *moved("dynamo-trt"),
    note("of-the-run", "dsr1-fp8-h200-sglang", run_id="sglang-2"),
    note("of-the-day", "dsr1-fp8-h200-sglang", run_id="another"),
    note("alone", "dsr1-fp8-h200-trt"),
    note("one", "dsr1-fp8-h200-vllm"), note("two", "dsr1-fp8-h200-vllm"),
    note("precision", "dsr1-fp4-h200-dynamo-trt"), note("mtp", "dsr1-fp8-h200-dynamo-trt-mtp"),
    note("agents", "dsr1-fp8-h200-dynamo-trt-agentic"), note("disagg", "dsr1-fp8-h200-dynamo-trt-disagg"),
    note("pattern", "dsr1*"), note("late", "dsr1-fp8-h200-dynamo-trt", changed_on=date(2026, 10, 3)),
    note("publisher", "dsr1-fp8-h200-dynamo-trt", publisher="other"),
]  # fmt: skip


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Query:
    marts = ["mart.yield_change", "mart.change_note", "core.benchmark_noise"]
    return world(tmp_path_factory.mktemp("noise"), ROWS, marts=marts)


def test_repeats_of_one_configuration_make_a_band(tables: Query) -> None:
    asked = "select repeat_count, log_ratio_sd from core.benchmark_noise where publisher = ?"
    own = tables(asked + " and chip_id = 'case-known'", "lab")
    assert own == [(3, pytest.approx(0.0261416, abs=1e-6))]
    # Of all chips of the publisher, with ln 1.02 once more: mean 0.0123403; sd = sqrt(0.00144102 / 3).
    assert tables(asked + " and chip_id is null", "lab") == [(4, pytest.approx(0.0219166, abs=1e-6))]
    assert tables(asked + " and chip_id is null", "two-runs") == [(2, pytest.approx(0.0280051, abs=1e-6))]
    assert tables(asked, "mute") == []


def test_a_change_is_judged_by_the_band_of_its_own_or_else_of_its_publisher(tables: Query) -> None:
    found = tables(
        "select chip_id, after_value, beyond_noise, noise_spread_percent, noise_repeat_count "
        "from mart.yield_change where chip_id like 'case-%' and cause = 'software' and token_kind = 'output' "
        "order by chip_id, after_on"
    )
    own, publisher = pytest.approx(2.61416, abs=1e-4), pytest.approx(2.19166, abs=1e-4)
    # ln(1080 / 1030) = 0.0474 against 0.0523; ln(1180 / 1080) = 0.0886.
    assert found == [
        ("case-equal", 1001, None, None, None),
        ("case-few", 1122, True, publisher, 4),
        ("case-known", 1080, False, own, 3),
        ("case-known", 1180, True, own, 3),
        ("case-none", 2000, None, None, None),
    ]


def test_one_note_that_fits_is_named_and_of_several_none(tables: Query) -> None:
    found = tables(
        "select distinct split_part(line_id, '/', 5), change_note_count, notes.note_key, change_note_url "
        "from mart.yield_change as changes left join mart.change_note as notes "
        "on changes.change_note_id = notes.note_id where changes.chip_id = 'h200-sxm-141' order by all"
    )
    assert found == [
        ("dynamo-trt", 0, None, None),
        ("sglang", 1, "of-the-run", "https://example.org/of-the-run"),
        ("trt", 1, "alone", "https://example.org/alone"),
        ("vllm", 2, None, None),
    ]
