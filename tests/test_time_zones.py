"""Where the machine stands and what a reader's session is set to change no date, no key and no value.

Whole copies are compared: loaded, built, recorded, published and read again in a process of each zone.
Single instants around midnight stand in `test_invariants.py`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.home import PROJECT

ZONES = ("Europe/Berlin", "America/New_York", "Asia/Kolkata")
# Late in New York it is tomorrow in Kolkata: the hour at which a date that depends on a zone shows.
PROGRAM = """
import json, sys
from datetime import UTC, date, datetime
from pathlib import Path

import duckdb

from pipelines import run
from pipelines.home import Home

home, as_of = Home(Path(sys.argv[1])), datetime(2026, 11, 30, 20, 30, tzinfo=UTC)
run.load(home, as_of, now=as_of)
run.build(home)
sidecar, said = run.record(home, as_of)
run.publish(home)
manifest = json.loads((home.published / "current" / "manifest.json").read_text())

def plain(value):
    return value.astimezone(UTC).isoformat() if isinstance(value, datetime) else str(value)

rows = {}
with duckdb.connect(str(home.current_database), read_only=True) as reader:  # in the zone of the session
    assert reader.execute("select current_setting('TimeZone')").fetchone()[0] == sys.argv[2]
    marts = [name for name in run.models() if name.startswith("mart.")]
    past = [f"{name}('2026-11-30 20:00:00+00')" for name in (macro.name for macro in run.macros())
            if name.endswith(("_as_known", "_as_recorded"))]
    for source in [*marts, *past]:
        found = reader.execute(f"from {source}").fetchall()
        rows[source] = sorted([plain(value) for value in row] for row in found)
(home.root / "told.json").write_text(json.dumps({
    "record": sidecar.snapshot_id, "said": said, "as_of": manifest["as_of"],
    "tables": manifest["tables"], "rows": rows,
}))
"""


def copy_made_in(zone: str, root: Path) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(root), zone],
        capture_output=True,
        text=True,
        check=False,
        cwd=PROJECT,
        env={**os.environ, "TZ": zone},
    )
    assert done.returncode == 0, done.stderr
    return json.loads((root / "told.json").read_text())


@pytest.fixture(scope="module")
def in_utc(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    return copy_made_in("UTC", tmp_path_factory.mktemp("utc"))


@pytest.mark.slow
@pytest.mark.parametrize("zone", ZONES)
def test_a_copy_that_is_made_and_read_in_another_zone_is_the_same(zone, in_utc, tmp_path):
    found = copy_made_in(zone, tmp_path)
    assert found["said"] == "2026-11-30 written"
    assert {name: found[name] for name in ("record", "as_of", "tables")} == {
        name: in_utc[name] for name in ("record", "as_of", "tables")
    }
    differing = [source for source, rows in in_utc["rows"].items() if found["rows"][source] != rows]
    assert differing == []
    assert sum(map(len, in_utc["rows"].values())) > 10_000
