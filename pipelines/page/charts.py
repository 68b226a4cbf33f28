"""What the charts look like: Altair specifications over rows that the page's script hands in.

Belongs here: marks, axes with units, tooltips, and the signs of a chip. Does not belong here: rows, or
choosing them. Colour is never the only sign: a chip has colour, dash and shape of its own, a part its letter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle, islice
from typing import Any

import altair as alt

# Okabe and Ito's palette, which colour-blind readers tell apart, without its yellow: too light for a line.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#b07c00", "#4d4d4d")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
EFFECTS = {
    "throughput": "#0072b2",
    "price": "#d55e00",
    "hardware factor": "#009e73",
    "record mended": "#4d4d4d",
}
STATUSES = {"priced": "#0072b2", "stale_price": "#e0a800", "not_offered": "#c9c9c9", "no_price": "#e9e9e9"}
MONEY = "$,.3~r"
SPEED = "output speed, tok/s per user"
COST = "US$ per million output tokens, log scale"


def specs(chips: Sequence[str]) -> Mapping[str, dict[str, Any]]:
    """Vega-Lite of every chart by name; `chips` fixes each chip's signs, whatever is chosen."""
    made = {
        "cost_over_time": _over_time(chips),
        "cost_against_speed": _against_speed(chips),
        "rent": _rent(),
        "cost_change": _changes(),
        "disclosure": _disclosure(),
        "price_coverage": _coverage(),
        "tokens_per_megawatt": _megawatt(),
    }
    return {name: _finished(chart).to_dict() for name, chart in made.items()}


def _finished(chart: Any) -> Any:
    return (
        chart.properties(width=600)
        .configure(font="system-ui, sans-serif", background="transparent")
        .configure_view(stroke=None)
        .configure_axis(
            labelFontSize=12,
            titleFontSize=12,
            titleFontWeight="normal",
            gridColor="#e4e4e0",
            domainColor="#999",
            titleAnchor="start",
            labelLimit=170,
        )
        .configure_legend(labelFontSize=12, symbolSize=80, symbolStrokeWidth=0, titleFontSize=12)
    )


def _rows(name: str = "rows") -> alt.NamedData:
    return alt.NamedData(name=name)


def _tips(**columns: str) -> list[alt.Tooltip]:
    """Tooltip lines: `column="title with unit"`; the type follows the column's name."""
    tips = []
    for column, title in columns.items():
        kind, form = "nominal", {}
        if column.endswith(("_on", "date")):
            kind, form = "temporal", {"format": "%Y-%m-%d"}
        elif "usd" in column:
            kind, form = "quantitative", {"format": MONEY}
        elif column.endswith(("_days", "_count", "_mw", "_score", "percent")) or "_tok_s" in column:
            kind, form = "quantitative", {"format": ",.4~r"}
        tips.append(alt.Tooltip(field=column, type=kind, title=title, **form))
    return tips


def _of(chips: Sequence[str], signs: Sequence[Any]) -> alt.Scale:
    return alt.Scale(domain=chips, range=list(islice(cycle(signs), len(chips))))


def _signs(chips: Sequence[str]) -> dict[str, Any]:
    legend = alt.Legend(title=None, orient="bottom", columns=alt.ExprRef("width > 500 ? 5 : 2"))
    return {
        "color": alt.Color(
            "chip_id:N",
            legend=legend,
            scale=_of(chips, COLOURS),
        ),
        "shape": alt.Shape(
            "chip_id:N",
            legend=legend,
            scale=_of(chips, SHAPES),
        ),
        "strokeDash": alt.StrokeDash("chip_id:N", legend=None, scale=_of(chips, DASHES)),
    }


def _lines(chips: Sequence[str], x: alt.X, interpolate: str, tips: list[alt.Tooltip]) -> list[alt.Chart]:
    """A line a stretch, points that carry the tooltips, and each chip's name at its last point."""
    signs = _signs(chips)
    y = alt.Y(
        "usd_per_million_tokens:Q", title=COST, scale=alt.Scale(type="log"), axis=alt.Axis(format="$~r")
    )
    base = alt.Chart(_rows()).encode(x=x, y=y, detail="stretch:N")
    line = base.mark_line(interpolate=interpolate, strokeWidth=2).encode(
        color=signs["color"], strokeDash=signs["strokeDash"]
    )
    point = base.mark_point(filled=True, size=42, opacity=1).encode(
        color=signs["color"], shape=signs["shape"], tooltip=tips
    )
    label = (
        alt.Chart(_rows("labels"))
        .mark_text(align="left", dx=7, fontSize=11)
        .encode(x=x, y=y, text="chip_id:N", color=signs["color"])
    )
    return [line, point, label]


def _over_time(chips: Sequence[str]) -> alt.LayerChart:
    tips = _tips(
        chip_id="chip",
        precision="precision of the weights",
        usd_per_million_tokens="US$ per million output tokens",
        date="on",
        usd_per_gpu_hour="US$ per GPU-hour",
        price_age_days="price age, days",
        throughput_tok_s_gpu="output tok/s per GPU",
        benchmark_age_days="benchmark age, days",
        evidence="evidence",
    )
    x = alt.X("date:T", title="day (UTC)", axis=alt.Axis(labelOverlap=True, tickCount=6))
    return alt.layer(*_lines(chips, x, "step-after", tips)).properties(height=340)


def _against_speed(chips: Sequence[str]) -> alt.LayerChart:
    tips = _tips(
        chip_id="chip",
        precision="precision of the weights",
        speed_tok_s_user="tok/s per user",
        usd_per_million_tokens="US$ per million output tokens",
        usd_per_gpu_hour="US$ per GPU-hour",
        price_age_days="price age, days",
        throughput_tok_s_gpu="output tok/s per GPU",
        position="how known",
        benchmark_age_days="benchmark age, days",
        evidence="evidence",
        disclosure_score="disclosure score of 100",
    )
    x = alt.X("speed_tok_s_user:Q", title=SPEED)
    crossings = (
        alt.Chart(_rows("crossings"))
        .mark_point(shape="cross", size=110, angle=45, filled=True, color="#111", stroke="#fff")
        .encode(
            x=x,
            y=alt.Y("usd_per_million_tokens:Q"),
            tooltip=_tips(
                cheaper_below_chip_id="cheaper when slower",
                cheaper_above_chip_id="cheaper when faster",
                speed_tok_s_user="equal at tok/s per user",
                usd_per_million_tokens="US$ per million there",
                evidence="evidence",
            ),
        )
    )
    chosen = alt.Chart(_rows("chosen")).mark_rule(color="#666", strokeDash=[3, 3]).encode(x=x)
    break_evens = (
        alt.Chart(_rows("break_evens"))
        .mark_point(shape="triangle-down", size=120, color="#111", strokeWidth=2)
        .encode(
            x=alt.X("break_even_speed_tok_s_user:Q", title=SPEED),
            y=alt.Y("output_usd_per_million_tokens:Q", title=COST),
            tooltip=_tips(
                chip_id="chip",
                sold_by="sold by",
                tier="rate",
                output_usd_per_million_tokens="sells for, US$ per million output tokens",
                break_even_speed_tok_s_user="costs as much at tok/s per user",
                usd_per_gpu_hour="US$ per GPU-hour",
                evidence="evidence",
            ),
        )
    )
    lines = _lines(chips, x, "linear", tips)
    return alt.layer(chosen, *lines, crossings, break_evens).properties(height=380)


def _rent() -> alt.LayerChart:
    x = alt.X("date:T", title="day (UTC)", axis=alt.Axis(labelOverlap=True, tickCount=6))
    y = alt.Y(
        "usd_per_gpu_hour:Q",
        title="US$ per GPU-hour",
        axis=alt.Axis(format="$~r"),
        scale=alt.Scale(zero=True),
    )
    base = alt.Chart(_rows()).encode(x=x, detail="stretch:N")
    tips = _tips(
        name="who",
        kind="kind",
        usd_per_gpu_hour="US$ per GPU-hour",
        low_usd_per_gpu_hour="band from",
        high_usd_per_gpu_hour="band to",
        date="on",
        age_days="age, days",
        provider_count="providers counted",
        segment="segment",
        evidence="evidence",
    )
    legend = alt.Legend(
        title=None, orient="bottom", columns=alt.ExprRef("width > 500 ? 2 : 1"), labelLimit=320
    )
    colour = alt.Color("name:N", legend=None, scale=alt.Scale(range=list(COLOURS)))
    band = (
        base.mark_area(opacity=0.2, interpolate="step-after", color="#0072b2")
        .transform_filter("isValid(datum.low_usd_per_gpu_hour)")
        .encode(y=alt.Y("low_usd_per_gpu_hour:Q", title="US$ per GPU-hour"), y2="high_usd_per_gpu_hour:Q")
    )
    dash = alt.StrokeDash(
        "kind:N", legend=None, scale=alt.Scale(domain=["index", "provider"], range=[[1, 0], [2, 3]])
    )
    shape = alt.Shape("name:N", legend=legend, scale=alt.Scale(range=list(SHAPES)))
    line = base.mark_line(interpolate="step-after", strokeWidth=2).encode(y=y, color=colour, strokeDash=dash)
    point = base.mark_point(filled=True, size=46, opacity=1).encode(
        y=y, color=colour, shape=shape, tooltip=tips
    )
    label = (
        alt.Chart(_rows("labels"))
        .mark_text(align="right", dy=-9, fontSize=11, limit=220)
        .encode(x=x, y=y, text="name:N", color=colour)
    )
    return alt.layer(band, line, point, label).properties(height=320)


def _changes() -> alt.LayerChart:
    tips = _tips(
        chip_id="chip",
        changed_on="on",
        cause="cause",
        effect="part",
        effect_usd_per_million_tokens="that part, US$ per million",
        before_usd_per_million_tokens="before, US$ per million",
        after_usd_per_million_tokens="after, US$ per million",
        percent="change, % of before",
        evidence="evidence",
    )
    order = alt.Y("change:N", sort=None, title=None)
    bars = (
        alt.Chart(_rows())
        .mark_bar(height=14)
        .encode(
            x=alt.X("effect_usd_per_million_tokens:Q", title="change, US$ per million tokens"),
            y=order,
            color=alt.Color(
                "effect:N",
                legend=alt.Legend(title="part of the change", orient="bottom"),
                scale=alt.Scale(domain=list(EFFECTS), range=list(EFFECTS.values())),
            ),
            tooltip=tips,
        )
    )
    # The letter says which part it is to whom the colours say nothing.
    letters = (
        alt.Chart(_rows())
        .transform_calculate(letter="slice(datum.effect, 0, 1)")
        .mark_text(
            dx=alt.ExprRef("datum.effect_usd_per_million_tokens < 0 ? -8 : 8"), fontSize=11, color="#333"
        )
        .encode(
            x=alt.X("effect_usd_per_million_tokens:Q", stack="zero"),
            y=order,
            text="letter:N",
            detail="effect:N",
        )
    )
    return alt.layer(bars, letters).properties(height={"step": 22})


def _disclosure() -> alt.LayerChart:
    base = alt.Chart(_rows()).encode(
        x=alt.X("disclosure_score:Q", scale=alt.Scale(domain=[0, 100]), title="disclosure score of 100"),
        y=alt.Y("subject:N", sort=None, title=None, axis=alt.Axis(labelLimit=210)),
        tooltip=_tips(
            title="who and what",
            disclosure_score="score of 100",
            missing_fields="not stated",
            partial_fields="stated in part",
            failed_gates="bars it from ranking",
            measured_on="measured on",
            evidence="evidence",
        ),
    )
    return alt.layer(
        base.mark_bar(height=12, color="#0072b2"),
        base.mark_text(align="left", dx=4).encode(text="disclosure_score:Q"),
    ).properties(height={"step": 22})


def _coverage() -> alt.LayerChart:
    axis = alt.Axis(labelAngle=-50, orient="top", labelLimit=120)
    base = alt.Chart(_rows()).encode(
        x=alt.X("title:N", sort=None, title=None, axis=axis),
        y=alt.Y("chip_id:N", title=None),
        tooltip=_tips(
            chip_id="chip",
            title="price series",
            status="status",
            usd_per_gpu_hour="US$ per GPU-hour",
            price_age_days="age, days",
            priced_days_percent="days of the last year with a price, %",
        ),
    )
    cells = base.mark_rect(stroke="#fff", strokeWidth=2).encode(
        color=alt.Color(
            "status:N", legend=None, scale=alt.Scale(domain=list(STATUSES), range=list(STATUSES.values()))
        )
    )
    text = base.mark_text(fontSize=11).encode(
        text="age_or_lack:N",
        color=alt.condition("datum.status == 'priced'", alt.value("#fff"), alt.value("#333")),
    )
    return alt.layer(cells, text).properties(height={"step": 26})


def _megawatt() -> alt.LayerChart:
    base = alt.Chart(_rows()).encode(
        x=alt.X(
            "tokens_per_s_per_mw:Q",
            title="output tok/s per MW provided",
            axis=alt.Axis(format="~s", tickCount=5),
        ),
        y=alt.Y("chip_id:N", sort=None, title=None),
        tooltip=_tips(
            chip_id="chip",
            precision="precision of the weights",
            tokens_per_s_per_mw="output tok/s per MW",
            throughput_tok_s_gpu="output tok/s per GPU",
            provisioned_power_kw_gpu="kW provided per GPU",
            interactivity_tok_s_user="tok/s per user there",
            measured_on="measured on",
            benchmark_age_days="benchmark age, days",
            evidence="evidence",
        ),
    )
    return alt.layer(
        base.mark_bar(height=14, color="#009e73"),
        base.mark_text(align="left", dx=4).encode(text=alt.Text("tokens_per_s_per_mw:Q", format=",.3~s")),
    ).properties(height={"step": 24})
