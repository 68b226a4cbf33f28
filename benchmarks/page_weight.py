"""How heavy the page of a published folder is, and how long a browser takes until its charts are drawn.

    python benchmarks/page_weight.py var/published/current

Prints JSON: bytes of `index.html`, and milliseconds from the start of navigation until every chart is drawn,
for each of five loads in a fresh browser and their median. Needs Playwright and a Chromium on PATH.
"""

from __future__ import annotations

import json
import shutil
import statistics
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

QUIET = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run",
]  # fmt: skip
LOADS = 5


def ready_ms(chromium: str, page_file: Path) -> tuple[float, float]:
    """Milliseconds to the last chart, and to the first paint, of one load in a fresh browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=QUIET)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.add_init_script(
            "new MutationObserver(() => { if (document.documentElement?.dataset.ready) "
            "window.readyAt ??= performance.now() }).observe(document, "
            "{attributes: true, subtree: true, attributeFilter: ['data-ready']})"
        )
        page.goto(page_file.resolve().as_uri())
        page.wait_for_selector("html[data-ready]", state="attached")
        taken = page.evaluate(
            "[window.readyAt, performance.getEntriesByType('paint').map((p) => p.startTime).at(-1) ?? null]"
        )
        browser.close()
    return taken[0], taken[1]


def main() -> None:
    """Measure the folder that the command line names."""
    page_file = Path(sys.argv[1]) / "index.html"
    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("no chromium on PATH; install the package of that name")
    loads = [ready_ms(chromium, page_file) for _ in range(LOADS)]
    print(
        json.dumps(
            {
                "bytes": page_file.stat().st_size,
                "ready_ms": [round(ready) for ready, _ in loads],
                "median_ready_ms": round(statistics.median(ready for ready, _ in loads)),
                "median_first_paint_ms": round(statistics.median(paint for _, paint in loads)),
            }
        )
    )


if __name__ == "__main__":
    main()
