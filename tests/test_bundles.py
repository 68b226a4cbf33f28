"""Archives and folders that mean harm, or are merely broken: refused whole, and never believed."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import struct
import tarfile
import zipfile
from pathlib import Path

import pytest

from pipelines import bundles
from pipelines.bundles import Bundle, BundleRefused, Limits, archive, folder

# A tar is padded to 10240 bytes, which count as well.
SMALL = Limits(entries=5, member_bytes=9000, total_bytes=30_000, floor_bytes=30_000)
COMPRESSED = {
    ".tar": lambda b: b,
    ".tar.gz": gzip.compress,
    ".tar.bz2": bz2.compress,
    ".tar.xz": lzma.compress,
}
TARS = sorted(COMPRESSED)
EVERY_KIND = pytest.mark.parametrize("suffix", [".zip", *TARS])

Files = dict[str, bytes]


def write(path: Path, files: Files) -> Path:
    """Write an archive of the kind that the name says; a name that ends in a slash is a folder."""
    if path.name.endswith(".zip"):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
            for name, body in files.items():
                made.writestr(name, body)
        return path
    return write_tar(path, [entry(name, body) for name, body in files.items()])


def entry(name: str, body: bytes = b"", kind: bytes = tarfile.REGTYPE, link: str = "") -> tuple:
    info = tarfile.TarInfo(name.rstrip("/"))
    info.type, info.linkname, info.size = (tarfile.DIRTYPE if name.endswith("/") else kind), link, len(body)
    return info, body


def write_tar(path: Path, entries: list[tuple]) -> Path:
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as made:
        for info, body in entries:
            made.addfile(info, io.BytesIO(body))
    suffix = next(s for s in sorted(TARS, key=len, reverse=True) if path.name.endswith(s))
    path.write_bytes(COMPRESSED[suffix](plain.getvalue()))
    return path


def refusal(path: Path, limits: Limits = SMALL) -> str:
    with pytest.raises(BundleRefused) as caught:
        archive(path, limits)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    assert "nothing of this archive is taken in" in message
    return message


def contents(bundle: Bundle) -> Files:
    return dict(bundle.members())


@EVERY_KIND
def test_an_archive_yields_its_files_as_they_are(tmp_path, suffix):
    files = {
        "a/": b"",
        "empty/": b"",
        "a/one.json": b"\x00\xff{}\r\n",
        "./two.csv": b"2",
        "context.yaml": b"tp: 8",
        "a/one.json.context.yaml": b"tp: 4",
        ".DS_Store": b"x",
        "__MACOSX/a/._one.json": b"x",
    }
    found = archive(write(tmp_path / f"runs{suffix}", files), Limits())
    assert found.names == ["a/one.json", "two.csv"]
    assert contents(found) == {"a/one.json": b"\x00\xff{}\r\n", "two.csv": b"2"}
    assert found.contexts == {"context.yaml": b"tp: 8", "a/one.json.context.yaml": b"tp: 4"}
    assert found.skipped == {"hidden": 2, "empty folder": 1}
    assert sorted(p.name for p in tmp_path.iterdir()) == [f"runs{suffix}"], "nothing was unpacked to disk"


@EVERY_KIND
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../out.json", "leads out of it"),
        ("a/../../out.json", "leads out of it"),
        ("a\\..\\..\\out.json", "leads out of it"),
        ("/etc/out.json", "absolute path"),
        ("\\\\server\\out.json", "absolute path"),
        ("C:\\out.json", "names a drive"),
        ("../folder/", "leads out of it"),
        (".hidden/../../x", "leads out of it"),
    ],
)
def test_a_name_that_leads_out_refuses_the_archive(tmp_path, suffix, name, reason):
    assert reason in refusal(write(tmp_path / f"bad{suffix}", {"fine.json": b"{}", name: b""}))


@pytest.mark.parametrize(
    "kind",
    [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE],
    ids=["symlink", "hardlink", "character device", "block device", "fifo"],
)
@pytest.mark.parametrize("suffix", TARS)
def test_a_tar_with_a_link_or_a_device_is_refused(tmp_path, suffix, kind):
    path = write_tar(tmp_path / f"bad{suffix}", [entry("a", b"1"), entry("b", kind=kind, link="a")])
    assert "b is a link or a device" in refusal(path)


def test_a_sparse_tar_is_refused(tmp_path):
    info, _ = entry("holes")
    info.pax_headers = {"GNU.sparse.map": "0,1", "GNU.sparse.size": "99999999999"}
    assert "holes is a sparse file" in refusal(write_tar(tmp_path / "bad.tar", [(info, b"")]))


def test_a_zip_with_a_link_is_refused(tmp_path):
    path = tmp_path / "bad.zip"
    with zipfile.ZipFile(path, "w") as made:
        link = zipfile.ZipInfo("link.json")
        link.external_attr = 0o120777 << 16
        made.writestr(link, "/etc/passwd")
    assert "link.json is a link or a device" in refusal(path)


def test_an_encrypted_zip_is_refused(tmp_path):
    path = write(tmp_path / "bad.zip", {"a.json": b"{}"})
    body = bytearray(path.read_bytes())
    central = body.index(b"PK\x01\x02")
    for flags_at in (6, central + 8):  # of the local header and of the directory
        body[flags_at] |= 1
    path.write_bytes(body)
    assert "a.json is encrypted" in refusal(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA], ids=["bzip2", "lzma"])
def test_a_zip_whose_unpacking_cannot_be_bounded_is_refused(tmp_path, method):
    path = tmp_path / "bad.zip"
    with zipfile.ZipFile(path, "w", method) as made:
        made.writestr("a.json", "{}")
    assert "neither stored nor deflated" in refusal(path)


@EVERY_KIND
def test_a_name_that_stands_twice_is_refused(tmp_path, suffix):
    path = tmp_path / f"bad{suffix}"
    if suffix == ".zip":
        with zipfile.ZipFile(path, "w") as made:
            made.writestr("a/x.json", "1")
            made.writestr("a/./x.json", "2")
    else:
        write_tar(path, [entry("a/x.json", b"1"), entry("a//x.json", b"2")])
    assert "'a/x.json' stands in it twice" in refusal(path)


@EVERY_KIND
def test_too_many_entries_are_refused(tmp_path, suffix):
    five = {f"{number}.json": b"" for number in range(5)}
    assert len(archive(write(tmp_path / f"fine{suffix}", five), SMALL).names) == 5
    assert "more than 5 entries" in refusal(write(tmp_path / f"bad{suffix}", five | {"6/": b""}))


@EVERY_KIND
def test_a_bomb_of_one_file_is_refused_whoever_is_asked_first(tmp_path, suffix):
    path = write(tmp_path / f"bomb{suffix}", {"a.json": b"0" * 100_000_000})
    assert "unpacks to more than" in refusal(path, Limits(member_bytes=3000))
    # Each of these is smaller than the file a hundredfold, and larger than what the archive takes on disk.
    assert "unpacks to more than 1000000 bytes" in refusal(path, Limits(total_bytes=1_000_000))
    if suffix != ".tar":
        assert "unpacks to more than" in refusal(path, Limits(ratio=10, floor_bytes=1_000_000))
        assert path.stat().st_size < 1_000_000


@EVERY_KIND
def test_a_bomb_of_many_files_is_refused_by_their_sum(tmp_path, suffix):
    files = {f"{number}.json": os.urandom(8000) for number in range(4)}
    assert "unpacks to more than 30000 bytes" in refusal(write(tmp_path / f"bomb{suffix}", files))


def test_what_a_zip_claims_of_a_size_is_not_believed(tmp_path):
    """The directory says 10 bytes, or 4 billion; the file has 3000."""
    path = write(tmp_path / "lies.zip", {"a.json": b"0" * 3000})
    honest = path.read_bytes()
    for claimed, reason in ((10, "not a whole archive"), (4_000_000_000, "holds 3000 bytes")):
        central = honest.index(b"PK\x01\x02")
        lies = bytearray(honest)
        struct.pack_into("<I", lies, 22, claimed)
        struct.pack_into("<I", lies, central + 24, claimed)
        path.write_bytes(lies)
        assert reason in refusal(path)


@pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE], ids=["longname", "pax"])
def test_an_endless_header_of_a_tar_is_not_read_into_memory(tmp_path, kind):
    path = write_tar(tmp_path / "bad.tar.xz", [entry("x", b"0" * 30_000_000, kind=kind), entry("a", b"1")])
    assert "endless header" in refusal(path, Limits())


@EVERY_KIND
def test_an_archive_cut_anywhere_is_refused(tmp_path, suffix):
    path = write(tmp_path / f"cut{suffix}", {"a.json": os.urandom(700), "b.json": os.urandom(700)})
    whole = path.read_bytes()
    assert len(archive(path, SMALL).names) == 2
    # A plain tar: twice a header of 512 and 1024 of data, then zeros; the first block of them is its end.
    ends = 2 * (512 + 1024) + 511 if suffix == ".tar" else len(whole) - 1
    for length in {0, 1, 100, 512, 511, 1024, 1536, 2048, 2047, 2560, 3072, ends // 2, ends}:
        if length <= ends:
            path.write_bytes(whole[:length])
            refusal(path)


def test_a_zip_whose_directory_swallows_a_file_is_refused(tmp_path):
    path = write(tmp_path / "bad.zip", {"a.json": b"1", "b.json": b"2"})
    body = bytearray(path.read_bytes())
    struct.pack_into(
        "<H", body, body.index(b"PK\x01\x02") + 32, 46 + 6
    )  # a comment as long as the next entry
    path.write_bytes(body)
    assert zipfile.ZipFile(path).namelist() == ["a.json"]
    assert "1 entries, where 2 are stated" in refusal(path)


@pytest.mark.parametrize("suffix", TARS)
def test_a_tar_whose_next_header_is_damaged_does_not_end_there_in_silence(tmp_path, suffix):
    plain = write_tar(tmp_path / "a.tar", [entry("a.json", b"1" * 512), entry("b.json", b"2" * 512)])
    body = bytearray(plain.read_bytes())
    body[1024] ^= 1
    path = tmp_path / f"bad{suffix}"
    path.write_bytes(COMPRESSED[suffix](bytes(body)))
    assert "breaks off, or goes on after its end" in refusal(path, Limits())


@EVERY_KIND
def test_a_damaged_byte_is_noticed_where_the_format_can(tmp_path, suffix):
    path = write(tmp_path / f"bad{suffix}", {"a.json": os.urandom(2000)})
    body = bytearray(path.read_bytes())
    body[len(body) // 2 if suffix != ".tar" else 150] ^= 0x10
    path.write_bytes(body)
    refusal(path)


@EVERY_KIND
def test_what_is_no_archive_at_all_is_refused(tmp_path, suffix):
    for body in (b"", b"<html>sign in</html>", b"\0" * 511, b"{}" * 5000):
        (tmp_path / f"no{suffix}").write_bytes(body)
        refusal(tmp_path / f"no{suffix}")


def test_a_name_that_is_no_utf_8_or_moves_the_cursor_is_spelled_out(tmp_path):
    info, _ = entry("caf\udce9/\x1b[2Jx.json", b"{}")
    body = io.BytesIO()
    with tarfile.open(fileobj=body, mode="w", format=tarfile.GNU_FORMAT, errors="surrogateescape") as made:
        info.size = 2
        made.addfile(info, io.BytesIO(b"{}"))
    (tmp_path / "a.tar").write_bytes(body.getvalue())
    (name,) = archive(tmp_path / "a.tar", SMALL).names
    assert name == "caf\\xe9/\\x1b[2Jx.json"


@EVERY_KIND
def test_an_archive_that_changes_after_it_was_checked_is_refused_then(tmp_path, suffix):
    path = write(tmp_path / f"a{suffix}", {"a.json": b"{}"})
    found = archive(path, SMALL)
    write(path, {"a.json": b"0" * 9001})
    with pytest.raises(BundleRefused, match="unpacks to more than"):
        list(found.members())


# Folders


def test_a_folder_yields_its_files_sorted_and_says_what_it_passed_over(tmp_path):
    root = tmp_path / "runs"
    for name in ("b/z.json", "b/a/1.json", "a.json", ".git/config", "b/.DS_Store", "context.yaml"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(name.encode())
    (root / "void").mkdir()
    found = folder(root, Limits())
    assert found.names == ["a.json", "b/a/1.json", "b/z.json"]
    assert contents(found) == {name: name.encode() for name in found.names}
    assert found.contexts == {"context.yaml": b"context.yaml"}
    assert found.skipped == {"hidden": 2, "empty folder": 1}
    assert found.refused == []


def test_links_in_a_folder_are_never_followed(tmp_path):
    root, outside = tmp_path / "runs", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (outside / "secret.json").write_text("{}")
    (root / "1.json").write_text("{}")
    (root / "latest.json").symlink_to("1.json")
    (root / "loop").symlink_to(".", target_is_directory=True)
    (root / "out.json").symlink_to(outside / "secret.json")
    (root / "out").symlink_to(outside, target_is_directory=True)
    (root / "context.yaml").symlink_to(outside / "secret.json")
    (root / "broken.json").symlink_to("nothing")
    found = folder(root, Limits())
    assert found.names == ["1.json"]
    assert found.contexts == {}
    assert found.skipped == {"link within the folder": 2}
    assert sorted(str(error).split(": ")[0].rsplit("/", 1)[1] for error in found.refused) == [
        "broken.json",
        "context.yaml",
        "out",
        "out.json",
    ]


def test_what_a_folder_holds_beside_files_is_refused_by_name(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "huge.json").write_bytes(b"0" * 9001)
    found = folder(tmp_path, SMALL)
    assert found.names == []
    pipe = f"{tmp_path}/pipe.json: neither a file nor a folder"
    assert [str(error) for error in found.refused] == [f"{tmp_path}/huge.json: too large: 9001 bytes", pipe]


def test_a_file_that_goes_away_stops_no_other(tmp_path):
    for name in ("1.json", "2.json", "3.json"):
        (tmp_path / name).write_text(name)
    found = folder(tmp_path, SMALL)
    (tmp_path / "2.json").unlink()
    first, gone, last = found.members()
    assert (first, last) == (("1.json", b"1.json"), ("3.json", b"3.json"))
    assert str(gone) == f"{tmp_path}/2.json: No such file or directory"


@pytest.mark.parametrize(
    ("name", "body", "is_one"),
    [
        ("a.json", b"{}", False),
        ("a.csv.gz", gzip.compress(b"a,b", mtime=0), False),
        ("a.ZIP", b"", True),
        ("a.7z", b"", True),
        ("renamed.json", b"PK\x03\x04...", True),
        ("renamed.json", b"\0" * 257 + b"ustar\0", True),
    ],
)
def test_an_archive_is_known_by_name_or_bytes(name: str, body: bytes, is_one: bool):
    assert bundles.is_archive(name, body) == is_one
