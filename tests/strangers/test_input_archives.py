"""Archives that mean harm, given to the real command: each refused in one line, nothing written outside.

Belongs here: one of each kind, through `tokenyield import`. Does not belong here: every way to write one
(`test_bundles.py`).
"""

from __future__ import annotations

import gzip
import io
import os
import resource
import struct
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from faults.fault_report import Report
from test_bundles import entry, write, write_tar

from pipelines import decode
from pipelines.decode import gunzipped, unzipped
from pipelines.home import PROJECT
from pipelines.source import SourceError

BOMB_BYTES = 300 * 1024**2
MEMORY_BYTES = 4 * 1024**3


def bomb(path: Path) -> None:
    write(path, {"a.json": bytes(BOMB_BYTES)})


def bomb_in_a_bomb(path: Path) -> None:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("a.json", bytes(50 * 1024**2))
    write(path, {"inner.zip": inner.getvalue()})


def lying(path: Path) -> None:
    body = bytearray(write(path, {"a.json": b"0" * 3000}).read_bytes())
    struct.pack_into("<I", body, body.index(b"PK\x01\x02") + 24, 10)
    path.write_bytes(body)


def linked(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as made:
        link = zipfile.ZipInfo("link.json")
        link.external_attr = 0o120777 << 16
        made.writestr(link, "/etc/passwd")


LINK = "link or a device"
Maker = Callable[[Path], object]
HARMFUL: dict[str, tuple[str, Maker, str]] = {
    "leads out": (".zip", lambda p: write(p, {"../../out.json": b"{}"}), "leads out of it"),
    "leads out by \\": (".tar.gz", lambda p: write(p, {"a\\..\\..\\out.json": b"{}"}), "leads out"),
    "absolute": (".tar", lambda p: write(p, {"/tmp/out.json": b"{}"}), "absolute path"),
    "a drive": (".zip", lambda p: write(p, {"C:/out.json": b"{}"}), "names a drive"),
    "a bomb of one file, zip": (".zip", bomb, "unpacks to more than"),
    "a bomb of one file, tar.gz": (".tar.gz", bomb, "unpacks to more than"),
    "a bomb in a bomb": (".zip", bomb_in_a_bomb, "archive"),
    "a size that is a lie": (".zip", lying, "not a whole archive"),
    "a link in a zip": (".zip", linked, LINK),
    "a soft link": (
        ".tar", lambda p: write_tar(p, [entry("x", kind=tarfile.SYMTYPE, link="/etc/passwd")]), LINK,
    ),
    "a hard link": (
        ".tar.xz", lambda p: write_tar(p, [entry("x", kind=tarfile.LNKTYPE, link="/etc/passwd")]), LINK,
    ),
    "a device": (".tar", lambda p: write_tar(p, [entry("x", kind=tarfile.CHRTYPE)]), LINK),
    "too many files": (".zip", lambda p: write(p, {f"{n}.json": b"" for n in range(20_001)}), "than 20000"),
}  # fmt: skip


def everything(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*")}


@pytest.mark.slow
def test_harmful_archives_are_refused_in_one_line_each_and_write_nothing(
    tmp_path: Path, report: Report
) -> None:
    inbox = tmp_path / "deep" / "down" / "inbox"
    inbox.mkdir(parents=True)
    paths = {}
    for number, (case, (suffix, make, _)) in enumerate(HARMFUL.items()):
        paths[case] = inbox / f"case-{number}{suffix}"
        make(paths[case])
    good = write(
        inbox / "good.zip",
        {"oci.json": (PROJECT / "tests/fixtures/oci_price_list/payload.json").read_bytes()},
    )
    before = everything(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "pipelines.cli", "import", "oci_price_list", "--observed-at", "2026-10-01",
         *map(str, paths.values()), str(good)],
        cwd=inbox,
        env={**os.environ, "PYTHONPATH": str(PROJECT), "TOKENYIELD_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES)),
    )  # fmt: skip
    lines = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    for case, path in paths.items():
        (line,) = [line for line in lines if path.name in line]
        assert HARMFUL[case][2] in line, case
    after = {name for name in everything(tmp_path) if not name.startswith("home")}
    assert after == before
    assert not Path("/tmp/out.json").exists()
    assert "1 stored" in done.stderr
    report(
        "archives that mean harm are imported",
        "paths that lead out, drives, bombs, a bomb in a bomb, false sizes, links, devices, too many files",
        "one line for each that says why; nothing of it is stored or written; the good one beside them is",
        before - after,
    )


# An archive or a gzip stream that is itself the payload


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as made:
        for name, body in files.items():
            made.writestr(name, body)
    return packed.getvalue()


def test_a_payload_that_unpacks_without_end_is_refused(
    monkeypatch: pytest.MonkeyPatch, report: Report
) -> None:
    monkeypatch.setattr(decode, "MAX_DECODED_BYTES", 1_000_000)
    lies = bytearray(zipped({"a": bytes(1_000_001)}))
    struct.pack_into("<I", lies, lies.index(b"PK\x01\x02") + 24, 10)
    payloads = {
        "one file": zipped({"a": bytes(1_000_001)}),
        "many files": zipped({name: bytes(400_000) for name in "abc"}),
        "a false size": bytes(lies),
        "packed as none can bound": zipped({"a": b"x"}, zipfile.ZIP_BZIP2),
    }
    assert unzipped("z", zipped({"b": bytes(600_000), "a": b"1"})) == [("z/b", bytes(600_000)), ("z/a", b"1")]
    for case, body in payloads.items():
        with pytest.raises(SourceError, match=r"^z: "):
            unzipped("z", body)
        assert case
    with pytest.raises(SourceError, match="decompresses to more"):
        gunzipped(gzip.compress(gzip.compress(bytes(1000)) + bytes(1_000_001)))
    report(
        "a payload that is an archive unpacks without end",
        "one file, many files, a false size, a packing that cannot be bounded, gzip in gzip",
        "the payload is refused",
        [],
    )
