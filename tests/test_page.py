"""The dashboard, read in a real browser: it answers what SQL answers on the same copy, and asks nobody.

Expected values come from `mart` by queries of this file, never from `sql/page`. Without a `chromium` on PATH
what wants a browser skips.
"""

from __future__ import annotations

import csv
import io
import json
import math
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlglot
from sqlglot import exp
from test_serve import serving

from pipelines import page
from pipelines.home import Home
from pipelines.page import charts, data, words

pytestmark = pytest.mark.slow  # starts a browser

AS_OF = datetime(2026, 11, 30, 12, tzinfo=UTC)
QUERIES = sorted(data.QUERIES.glob("*.sql"))
QUIET = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run",
]  # fmt: skip
HOSTILE = "<img src=x onerror=window.hacked=1></script><script>window.hacked=1</script>"
FORMULA = "=HYPERLINK(1)"
ON_DEMAND = "index:savrn_ai_index:on_demand"
RESERVED = "index:inferencex_reserved_36m:reserved:36m"
OWNED = "index:inferencex_owning_hyperscaler:owning_cost"
SECOND_MODEL = "deepseek-v3"
OWN_INDEX = "tokenyield:on_demand:specialist"
THREE_DAYS = "date '2026-11-30' - cast(n as integer)"

Opened = Callable[..., Any]


@pytest.fixture(scope="module")
def current(embedded_home: Home) -> Path:
    return embedded_home.published / "current"


def altered(current: Path, folder: Path, *statements: str) -> Path:
    """A version like the embedded default whose database says something else."""
    folder.mkdir()
    shutil.copy(current / "tokenyield.duckdb", folder)
    with duckdb.connect(str(folder / "tokenyield.duckdb")) as connection:
        for statement in statements:
            connection.execute(statement)
    page.write(folder, "20261130T120000000000Z", AS_OF)
    return folder


@pytest.fixture(scope="module")
def hostile(current: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Names as nobody should send them, a second model at twice the cost, and an index with a band."""
    return altered(
        current,
        tmp_path_factory.mktemp("page") / "hostile",
        f"update mart.provider set provider_name = '{HOSTILE}' where provider_id = 'oci'",
        f"update mart.price_series set title = title || ' {HOSTILE}' where price_series_id = '{ON_DEMAND}'",
        f"update mart.source_health set title = '{HOSTILE}', reason = '{FORMULA}' where source = 'akash'",
        f"update mart.yield_change set note = '{HOSTILE}'",
        f"update mart.cheapest_at_speed set engine = '{HOSTILE}' where speed_tok_s_user = 50",
        f"insert into mart.cheapest_at_speed select * replace ('{SECOND_MODEL}' as model_id, "
        "usd_per_million_tokens * 2 as usd_per_million_tokens) from mart.cheapest_at_speed",
        f"insert into mart.cost_at_speed select * replace ('{SECOND_MODEL}' as model_id) "
        "from mart.cost_at_speed where model_id = 'deepseek-r1-0528' and chip_id = 'mi355x'",
        "insert into mart.price_series (price_series_id, title, price_basis, price_type) "
        f"values ('index:{OWN_INDEX}', 'Our index', 'own_index', 'on_demand')",
        "insert into mart.price_coverage (date, chip_id, price_series_id, price_type, status, "
        "usd_per_gpu_hour, price_age_days) "
        f"select {THREE_DAYS}, 'h100-sxm-80', 'index:{OWN_INDEX}', 'on_demand', 'priced', 2 + n / 10, 0 "
        "from range(3) as t(n)",
        "insert into mart.rental_index_daily (date, chip_id, price_type, segment, index_id, "
        "usd_per_gpu_hour, band_usd_per_gpu_hour, provider_count) "
        f"select {THREE_DAYS}, 'h100-sxm-80', 'on_demand', 'specialist', '{OWN_INDEX}', 2 + n / 10, 0.25, 7 "
        "from range(3) as t(n)",
        "insert into mart.break_even_speed (frontier_id, model_id, workload_id, chip_id, gpu_scope, traffic, "
        "price_series_id, provider_id, tier, output_usd_per_million_tokens, break_even_speed_tok_s_user, "
        "evidence) values ('f', 'deepseek-r1-0528', 'fixed-8192-1024', 'h100-sxm-80', 'all', 'benchmark', "
        f"'{ON_DEMAND}', 'oci', 'standard', 12.5, 61, 'measured')",
    )


# What needs no browser


def test_a_version_holds_the_page_and_its_rows(current, embedded):
    manifest = json.loads((current / "manifest.json").read_text())
    assert {"index.html", "page/answer.json"} <= set(manifest["files"])
    answer = json.loads((current / "page" / "answer.json").read_text())
    place = {name: number for number, name in enumerate(answer["columns"])}
    told = sorted(
        (row[place["speed"]], row[place["price_series_id"]], row[place["chip_id"]], row[place["precision"]])
        for row in answer["rows"]
        if row[place["rank"]] == 1 and row[place["speed"]] != "max_throughput"
    )
    assert told
    assert told == sorted(
        embedded(
            "select cast(cast(speed_tok_s_user as integer) as varchar), price_series_id, chip_id, precision "
            "from mart.cheapest_at_speed where rank = 1"
        )
    )


def test_the_greatest_throughput_is_ranked_as_the_headline_ranks_it(current, embedded):
    answer = json.loads((current / "page" / "answer.json").read_text())
    rows = [dict(zip(answer["columns"], row, strict=True)) for row in answer["rows"]]
    told = {
        (row["chip_id"], row["precision"]): (row["rank"], row["unranked_reason"])
        for row in rows
        if (row["speed"], row["price_series_id"], row["workload_id"])
        == ("max_throughput", ON_DEMAND, "fixed-8192-1024")
    }
    headline = embedded("select chip_id, precision, rank, unranked_reason from mart.headline")
    assert told == {(chip, precision): (rank, reason) for chip, precision, rank, reason in headline}


def test_the_page_is_light(current):
    assert (current / "index.html").stat().st_size < 2_000_000


def test_what_is_withheld_is_not_in_the_page(current, embedded_home):
    with duckdb.connect(str(embedded_home.warehouse), read_only=True) as connection:
        held = connection.execute(
            "select price_series_id from mart.price_series where not passes_on"
        ).fetchall()
    text = (current / "index.html").read_text(encoding="utf-8")
    assert held
    assert [series for (series,) in held if series in text] == []


@pytest.mark.parametrize("file", QUERIES, ids=[file.stem for file in QUERIES])
def test_a_query_of_the_page_asks_a_question_and_orders_its_rows(file):
    """As in the cookbook; beside the marts it may read the moment of the run, its parameters and its grid."""
    assert file.read_text(encoding="utf-8").splitlines()[0].endswith("?")
    (tree,) = sqlglot.parse(file.read_text(encoding="utf-8"), read="duckdb")
    assert tree.args.get("order")
    read = {f"{table.db}.{table.name}" for table in tree.find_all(exp.Table) if table.db}
    assert {name for name in read if not name.startswith("mart.")} <= {
        "core.run",
        "core.speed_grid",
        "raw.method_parameter",
    }


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf], ids=["nan", "inf", "-inf"])
def test_a_number_that_json_does_not_have_is_refused(value):
    with pytest.raises(ValueError, match="JSON"):
        data.strict_json({"rows": [[value]]})


def test_an_infinite_cost_in_the_copy_makes_no_page(current, tmp_path):
    spoilt = "update mart.cheapest_at_speed set usd_per_million_tokens = 'infinity'::double where rank = 1"
    with pytest.raises(ValueError, match="JSON"):
        altered(current, tmp_path / "spoilt", spoilt)


def test_every_reason_has_words(embedded):
    codes = embedded(
        "select unranked_reason from mart.cheapest_at_speed "
        "union select null_reason from mart.break_even_speed "
        "union select null_reason from mart.chip_crossover where crossing > 0 "
        "union select null_reason from mart.yield_change where metric = 'interactivity_tok_s_user' "
        "union select status from mart.price_coverage where status <> 'priced'"
    )
    assert {code for (code,) in codes if code} <= set(words.CODES)


def test_chips_differ_by_more_than_colour():
    """Twenty chips on one chart: no two share colour and shape, nor colour and dash."""
    chips = [f"chip-{number}" for number in range(20)]
    line, point = charts.specs(chips)["cost_over_time"]["layer"][:2]
    colours = point["encoding"]["color"]["scale"]["range"]
    for other in (
        point["encoding"]["shape"]["scale"]["range"],
        line["encoding"]["strokeDash"]["scale"]["range"],
    ):
        assert len(set(zip(colours, map(str, other), strict=True))) == 20


def test_a_bar_is_one_change_and_its_parts_add_up(current, embedded):
    """Changes of two workloads on one day would pile up into a bar that is neither."""
    told = json.loads((current / "page" / "cost_change.json").read_text())
    rows = [dict(zip(told["columns"], row, strict=True)) for row in told["rows"]]
    assert rows
    bars: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        key = row["model_id"], row["workload_id"], row["price_series_id"], row["change"]
        bars.setdefault(key, []).append(row)
    for (_, _, series, _), parts in bars.items():
        assert len({part["effect"] for part in parts}) == len(parts)
        ((largest,),) = embedded(
            "select max_by(change_usd_per_million_tokens, abs(change_usd_per_million_tokens)) "
            "from mart.cost_change where standing and null_reason is null and price_series_id = ? "
            "and chip_id = ? and changed_on = ? and workload_id = ?",
            series, parts[0]["chip_id"], parts[0]["changed_on"], parts[0]["workload_id"],
        )  # fmt: skip
        assert sum(part["effect_usd_per_million_tokens"] for part in parts) == pytest.approx(
            largest, rel=1e-6
        )


@pytest.mark.parametrize("name", sorted(charts.specs(["a"])))
def test_a_tooltip_tells_of_columns_that_the_rows_have(name, current):
    """A field that no row has would show as nothing, and look like an unknown."""
    columns = set(json.loads((current / "page" / f"{name}.json").read_text())["columns"])
    beside = {"cost_against_speed": ("crossover", "break_even")}
    for other in beside.get(name, ()):
        columns |= set(json.loads((current / "page" / f"{other}.json").read_text())["columns"])
    told = {
        tip["field"]
        for layer in charts.specs(["a"])[name]["layer"]
        for tip in layer["encoding"].get("tooltip", ())
    }
    assert told
    assert told <= columns
    assert {"evidence", "status"} & told


def test_the_page_is_written_only_of_what_lies_in_its_folder(current, tmp_path):
    """A title changed in the copy alone is what the page says."""
    folder = altered(current, tmp_path / "copy", "update mart.price_series set title = 'another title'")
    assert "another title" in (folder / "index.html").read_text(encoding="utf-8")


# In the browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no chromium on PATH")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=chromium, args=QUIET)
        yield running
        running.close()


@pytest.fixture
def opened(browser: Any) -> Iterator[Opened]:
    """Open the page of a folder; when the test ends it must have asked for nothing else and made no error."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    asked, errors = [], []

    def open_it(folder: Path, link: str = "", width: int = 1280) -> Any:
        tab = context.new_page()
        tab.set_default_timeout(15_000)
        tab.set_viewport_size({"width": width, "height": 900})
        tab.on("request", lambda request: asked.append(request.url))
        tab.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.on("dialog", lambda dialog: errors.append(f"dialog: {dialog.message}"))
        tab.goto((folder / "index.html").resolve().as_uri() + link)
        ready(tab)
        return tab

    yield open_it
    context.close()
    assert errors == []
    assert [url for url in asked if not url.startswith(("file://", "blob:", "data:"))] == []
    assert len({url.split("#")[0] for url in asked if url.startswith("file://")}) <= 1, (
        "the page itself and nothing else"
    )


def ready(tab: Any) -> None:
    tab.wait_for_selector("html[data-ready]", state="attached")


def choose(tab: Any, name: str, value: str) -> None:
    tab.select_option(f"#{name}", value)
    ready(tab)


def labels(tab: Any, chart: str) -> set[str]:
    """The texts that a chart shows."""
    return set(tab.locator(f"#{chart} svg text").all_text_contents())


def rows_of(tab: Any, chart: str) -> list[dict[str, str]]:
    """The rows of a chart's CSV."""
    with tab.expect_download() as download:
        tab.locator(f"#{chart} a.csv").evaluate("link => link.click()")
    text = Path(download.value.path()).read_text(encoding="utf-8")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def cost_text(usd: float) -> str:
    """Three digits, and never less than a cent: 9.771 is $9.77, 0.1864 is $0.186, 12.3 is $12.30."""
    places = max(2, 2 - math.floor(math.log10(usd)))
    return f"${usd:,.{places}f}"


def cheapest(query: Any, series: str, speed: int, model: str = "deepseek-r1-0528") -> tuple[str, str, float]:
    ((chip, precision, usd),) = query(
        "select chip_name, precision, usd_per_million_tokens from mart.cheapest_at_speed "
        "inner join mart.chip using (chip_id) "
        "where rank = 1 and price_series_id = ? and speed_tok_s_user = ? and model_id = ? "
        "and workload_id = 'fixed-8192-1024' and speed_percentile = 'p50'",
        series, speed, model,
    )  # fmt: skip
    return chip, precision, usd


def test_first_sight_answers_with_price_age_and_evidence(current, opened, embedded):
    tab = opened(current)
    speed = int(tab.input_value("#speed"))
    chip, precision, usd = cheapest(embedded, ON_DEMAND, speed)
    said = tab.inner_text("#sentence")
    for part in (
        chip,
        f"({precision})",
        cost_text(usd),
        f"{speed} tok/s per user",
        "per GPU-hour",
        "days old",
        "measured",
    ):
        assert part in said
    # Priced on 20 October 2026; the facts are of 30 November: 41 days.
    assert "2026-10-20, 41 days old" in said
    assert "uncertain by" in said
    figures = tab.locator(".card .figure").all_inner_texts()
    assert figures == [cost_text(cheapest(embedded, s, speed)[2]) for s in (ON_DEMAND, RESERVED, OWNED)]


@pytest.mark.parametrize(("series", "speed"), [(RESERVED, 50), (OWNED, 75)], ids=["reserved", "owned"])
def test_choices_change_answer_and_charts(series, speed, current, opened, embedded):
    tab = opened(current)
    before = labels(tab, "cost_against_speed"), labels(tab, "cost_over_time")
    kind = {RESERVED: "reserved:36", OWNED: "owning_cost"}[series]
    choose(tab, "speed", str(speed))
    choose(tab, "type", kind)
    choose(tab, "series", series)
    chip, precision, usd = cheapest(embedded, series, speed)
    said = tab.inner_text("#sentence")
    assert f"{chip} ({precision})" in said
    assert cost_text(usd) in said
    chips = {row[0] for row in embedded(
        "select distinct chip_id from mart.cost_per_million_tokens_daily where speed_tier = ? and eligible "
        "and price_series_id = ? and token_kind = 'output' and cost_allocation = 'whole_bill' "
        "and evidence = 'measured' and workload_id = 'fixed-8192-1024' "
        "and usd_per_million_tokens is not null",
        str(speed), series)}  # fmt: skip
    assert chips
    assert chips <= labels(tab, "cost_over_time")
    assert {row["chip_id"] for row in rows_of(tab, "cost_over_time")} == chips
    today = {(r["chip_id"], float(r["usd_per_million_tokens"])) for r in rows_of(tab, "cost_over_time")
             if r["date"] == "2026-11-30"}  # fmt: skip
    best = embedded(
        "select chip_id, min(usd_per_million_tokens) from mart.cheapest_at_speed where rank is not null "
        "and price_series_id = ? and speed_tok_s_user = ? group by chip_id", series, speed)  # fmt: skip
    assert sorted(today) == [(name, pytest.approx(usd, rel=1e-9)) for name, usd in sorted(best)]
    assert (labels(tab, "cost_against_speed"), labels(tab, "cost_over_time")) != before


def test_the_crossovers_of_the_chosen_basis_are_on_the_page(current, opened, embedded):
    tab = opened(current)
    speeds = embedded(
        "select crossover_speed_tok_s_user from mart.chip_crossover where crossing > 0 "
        "and token_kind = 'output' and gpu_scope = 'all' and evidence = 'measured' and price_series_id = ? "
        "order by 1",
        ON_DEMAND,
    )
    told = [float(row["speed_tok_s_user"]) for row in rows_of(tab, "crossover")]
    assert told
    assert told == [pytest.approx(speed, rel=1e-9) for (speed,) in speeds]


def test_another_model_gives_another_answer(hostile, opened):
    tab = opened(hostile, "#speed=50")
    first = tab.inner_text("#sentence")
    with duckdb.connect(str(hostile / "tokenyield.duckdb"), read_only=True) as connection:
        ask = lambda sql, *values: connection.execute(sql, list(values)).fetchall()  # noqa: E731
        _, _, usd = cheapest(ask, ON_DEMAND, 50, SECOND_MODEL)
    choose(tab, "model", SECOND_MODEL)
    said = tab.inner_text("#sentence")
    assert said != first
    assert cost_text(usd) in said
    assert {row["chip_id"] for row in rows_of(tab, "cost_against_speed")} == {"mi355x"}
    assert f"model_id={SECOND_MODEL}" in tab.url


def test_hostile_names_stay_text(hostile, opened):
    tab = opened(hostile, "#speed=50&chip_id=h100-sxm-80")
    assert tab.evaluate("window.hacked") is None
    assert tab.locator("img").count() == 0
    assert HOSTILE in tab.inner_text("#sentence")
    assert HOSTILE in tab.inner_text("#source_health")
    assert HOSTILE in tab.inner_text("#yield_change")
    assert HOSTILE in {row["name"] for row in rows_of(tab, "rent")}
    # A tooltip is markup that Vega makes of our text.
    tab.locator("#cost_against_speed svg path[aria-roledescription]").first.hover(force=True)
    for summary in tab.locator("summary:visible").all():
        summary.click()
    assert tab.evaluate("window.hacked") is None
    assert tab.locator("img").count() == 0
    (akash,) = [row for row in rows_of(tab, "source_health") if row["source"] == "akash"]
    assert akash["reason"] == f"'{FORMULA}"


def test_the_index_has_its_band_and_providers(hostile, opened):
    tab = opened(hostile, f"#price_series_id=index:{OWN_INDEX}&chip_id=h100-sxm-80")
    own = [row for row in rows_of(tab, "rent") if row["name"] == "Our index"]
    assert [
        (r["date"], r["low_usd_per_gpu_hour"], r["high_usd_per_gpu_hour"], r["provider_count"]) for r in own
    ] == [
        ("2026-11-28", "1.95", "2.45", "7"),
        ("2026-11-29", "1.85", "2.35", "7"),
        ("2026-11-30", "1.75", "2.25", "7"),
    ]
    assert tab.locator("#rent svg .mark-area path").count() >= 1


def test_a_break_even_of_the_chosen_model_is_on_the_chart(hostile, opened):
    """Marks of the last layer; the made-up one is the only one of this model that has a speed."""
    tab = opened(hostile)
    marks = tab.locator("#cost_against_speed svg .layer_5_marks path")
    assert marks.count() == 1
    assert "61" in marks.first.get_attribute("aria-label")
    choose(tab, "type", "owning_cost")
    assert marks.count() == 0


def test_596_to_848_is_no_throughput(current, opened):
    said = opened(current).inner_text("#speed_change")
    # 848 / 596 - 1 = 42.28 %; 596 / 848 - 1 = -29.72 %; 596 / 848 = 70.28 %
    for part in (
        "596 → 848 tok/s per user",
        "42.28 %",
        "-29.72 %",
        "70.28 %",
        "claimed by the vendor",
        "no throughput",
    ):
        assert part in said


def test_an_empty_answer_says_why(current, opened, embedded):
    series = "index:flops_index:on_demand"
    assert embedded("select count(rank) from mart.cheapest_at_speed where price_series_id = ?", series) == [
        (0,)
    ]
    tab = opened(current, f"#speed=200&price_series_id={series}")
    said = tab.inner_text("#sentence")
    assert "There is no answer" in said
    assert "no server was measured that fast" in said
    assert "can be ranked here" in tab.inner_text("#cost_over_time .empty")
    assert tab.locator("#cost_over_time .chart").is_hidden()
    assert "a first cost is no change" in tab.inner_text("#cost_change .empty")


def test_a_version_without_facts_says_so(current, opened, tmp_path):
    emptied = [f"delete from {table}" for table in sorted(data.reads()) if table.startswith("mart.")]
    tab = opened(altered(current, tmp_path / "emptied", *emptied))
    assert "No benchmark that this version holds fits the choice" in tab.inner_text("#sentence")
    assert tab.locator("figure .empty:visible").count() == tab.locator("figure").count()
    assert all(len(text) > 20 for text in tab.locator("figure .empty").all_inner_texts())
    assert tab.locator("#notice").is_hidden()


def test_a_link_opens_on_its_choices_and_tells_what_it_lacks(current, opened):
    tab = opened(current, "#speed=75&chip_id=b200-sxm-180")
    assert (tab.input_value("#speed"), tab.input_value("#chip")) == ("75", "b200-sxm-180")
    assert tab.locator("#notice").is_hidden()
    choose(tab, "speed", "50")
    assert "speed=50" in tab.url
    lacking = opened(current, "#speed=41")
    assert "speed “41”" in lacking.inner_text("#notice")


def test_the_download_is_the_table_on_the_screen(current, opened):
    tab = opened(current)
    tab.locator("#cost_against_speed summary").click()
    rows = rows_of(tab, "cost_against_speed")
    assert len(rows) == tab.locator("#cost_against_speed tbody tr").count() > 0
    assert {"usd_per_million_tokens", "speed_tok_s_user", "price_age_days", "evidence"} <= set(rows[0])
    assert {row["price_series_id"] for row in rows} == {ON_DEMAND}


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_scrolls_sideways(width, current, opened):
    tab = opened(current, width=width)
    assert tab.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    assert tab.locator("figure .chart svg:visible").count() >= 5


def test_the_keyboard_reaches_and_changes_the_choices(current, opened):
    tab = opened(current)
    reached = []
    for _ in range(6):
        tab.keyboard.press("Tab")
        reached.append(tab.evaluate("document.activeElement.id || document.activeElement.className"))
    assert reached == ["skip", "model", "workload", "speed", "type", "series"]
    tab.focus("#speed")
    before = tab.input_value("#speed"), tab.inner_text("#sentence")
    tab.keyboard.press("ArrowDown")
    ready(tab)
    assert tab.input_value("#speed") != before[0]
    assert tab.inner_text("#sentence") != before[1]
    assert tab.evaluate("document.activeElement.id") == "speed"


def test_every_choice_has_a_label_and_every_chart_a_table(current, opened):
    tab = opened(current)
    assert tab.evaluate("[...document.querySelectorAll('select')].every((s) => s.labels.length === 1)")
    assert tab.evaluate(
        "[...document.querySelectorAll('figure')].every((f) => f.querySelector('details a.csv') "
        "&& f.querySelector('.chart').getAttribute('aria-label').includes('same rows'))"
    )
    assert tab.title() == "tokenyield: what a million tokens cost to make, 2026-11-30"
    assert tab.locator("footer a").evaluate_all("all => all.map((a) => a.getAttribute('href'))") == [
        "DICTIONARY.md",
        "manifest.json",
    ]


def test_the_page_is_the_same_when_it_is_served(browser, current, embedded_home):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    tab = context.new_page()
    errors: list[str] = []
    tab.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    tab.on("pageerror", lambda error: errors.append(str(error)))
    with serving(embedded_home.published) as port:
        tab.goto(f"http://127.0.0.1:{port}/")
        ready(tab)
        served = tab.locator("main").inner_text()
        charts_drawn = tab.locator("main svg").count()
        tab.goto((current / "index.html").resolve().as_uri())
        ready(tab)
        assert tab.locator("main").inner_text() == served
        assert tab.locator("main svg").count() == charts_drawn > 5
        rows = tab.request.get(f"http://127.0.0.1:{port}/page/answer.json").json()["rows"]
        assert len(rows) > 10
    context.close()
    # The browser asks every server for a picture of it, and this one has none.
    assert [error for error in errors if "favicon" not in error and "404" not in error] == []
