"""Folders and archives from outside: the files in them, one after the other, or a refusal.

Belongs here: what may be opened, what is passed over, and every guard against an archive that means harm.
Does not belong here: which file is a payload, and what a context says (`imports.py`). Nothing is ever
extracted to disk. An archive is read to its end before its first file is handed out, so that a bad one is
refused whole; what it claims about sizes is believed nowhere.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import stat
import struct
import tarfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from pipelines.decode import MAX_DECODED_BYTES
from pipelines.failure import Failure

CONTEXT_NAME = "context.yaml"
CONTEXT_SUFFIX = ".context.yaml"
# A person types a context; what is larger is none.
MAX_CONTEXT_BYTES = 1024 * 1024

TAR_READERS: dict[str, Callable[[Path], Any]] = {
    ".tar": io.FileIO,
    ".tar.gz": gzip.GzipFile,
    ".tgz": gzip.GzipFile,
    ".tar.bz2": bz2.BZ2File,
    ".tbz2": bz2.BZ2File,
    ".tar.xz": lzma.LZMAFile,
    ".txz": lzma.LZMAFile,
}
OPENED = (".zip", *TAR_READERS)
ARCHIVE_SUFFIXES = (*OPENED, ".7z", ".rar", ".tar.zst", ".tar.lz4", ".tzst")
ARCHIVE_STARTS = (b"PK\x03\x04", b"PK\x05\x06", b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07")
TAR_MARK, TAR_MARK_AT, TAR_BLOCK_BYTES = b"ustar", 257, 512
# The end of a zip: 22 bytes and a comment. Where there are more entries than two bytes can say, it says this.
ZIP_END, ZIP_END_REACH_BYTES, ZIP64_ENTRIES = b"PK\x05\x06", 22 + 65_535, 65_535
CHUNK_BYTES = 1024 * 1024
ENCRYPTED = 0x0001 | 0x0040 | 0x2000  # by password, strongly, and with a masked directory


class BundleRefused(Failure):
    """A folder or an archive is not taken in, or one file of a folder; the message says which and why."""


@dataclass(frozen=True)
class Limits:
    """How much an archive may hold, in entries and in bytes after decompression.

    `ratio` is what it may unpack to in multiples of its own size, once that is more than `floor_bytes`:
    folders of real prices and results reach 50 under xz, a bomb reaches thousands.
    """

    entries: int = 20_000
    member_bytes: int = MAX_DECODED_BYTES
    total_bytes: int = 4 * 1024**3
    ratio: int = 200
    floor_bytes: int = 64 * 1024**2
    # Names and attributes that precede one file of a tar; the reader takes them into memory unasked.
    header_bytes: int = 1024**2

    def budget(self, size: int) -> int:
        """Return what an archive of `size` bytes may unpack to."""
        return min(self.total_bytes, max(self.floor_bytes, size * self.ratio))


@dataclass
class Bundle:
    """The files of one path that a person named.

    names: what could be payloads, in the order of `members`; `/` between folders, printable throughout.
    contexts: the bytes of every context file by its name.
    skipped: how many were passed over, by what they are. refused: files of a folder that are not read.
    members: yields (name, bytes) lazily; a file that can no longer be read is a BundleRefused in its place.
    """

    path: Path
    names: list[str] = field(default_factory=list)
    contexts: dict[str, bytes] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)
    refused: list[BundleRefused] = field(default_factory=list)
    members: Callable[[], Iterator[tuple[str, bytes] | BundleRefused]] = lambda: iter(())

    def shown(self, name: str) -> str:
        """Return how a member is called in front of a person."""
        return printable(str(self.path / name))


def is_context(name: str) -> bool:
    """Tell a context by its name: `context.yaml` or `<file>.context.yaml`."""
    base = name.rsplit("/", 1)[-1]
    return base == CONTEXT_NAME or base.endswith(CONTEXT_SUFFIX)


def is_opened(path: Path) -> bool:
    """Tell by its name whether a file is an archive of a kind that is opened."""
    return path.name.lower().endswith(OPENED)


def is_archive(name: str, body: bytes) -> bool:
    """Tell by name or first bytes whether a file is an archive, of an opened kind or not."""
    marked = body[TAR_MARK_AT : TAR_MARK_AT + len(TAR_MARK)] == TAR_MARK
    return name.lower().endswith(ARCHIVE_SUFFIXES) or body.startswith(ARCHIVE_STARTS) or marked


def printable(name: str) -> str:
    """Spell out what a terminal would act on or cannot show: controls, and bytes that are no UTF-8."""
    readable = name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in readable)


def folder(root: Path, limits: Limits) -> Bundle:
    """Look through a folder and the folders in it, sorted by name; nothing is read but contexts.

    Links are never followed: one that leads to another file of the same folder is passed over, any other
    is refused, as is what is neither file nor folder. Raises BundleRefused where `root` cannot be listed.
    """
    bundle, paths = Bundle(root), {}

    def unreadable(error: OSError) -> None:
        if error.filename == str(root):
            raise BundleRefused(f"{printable(str(root))}: {error.strerror}")
        bundle.refused.append(BundleRefused(f"{printable(str(error.filename))}: {error.strerror}"))

    for place, folders, files in os.walk(root, onerror=unreadable):
        if not folders and not files:
            bundle.skipped["empty folder"] += 1
        for name in [*folders, *files]:
            path = Path(place, name)
            inside = printable(path.relative_to(root).as_posix())
            if _is_hidden(inside):
                bundle.skipped["hidden"] += 1
            elif path.is_symlink():
                _sort_out_link(bundle, root, path, inside)
            elif inside in paths:
                bundle.refused.append(BundleRefused(f"{bundle.shown(inside)}: another file has this name"))
            elif name in files:
                paths[inside] = path
        folders[:] = [name for name in folders if not _is_hidden(name)]
    for name in sorted(paths, key=lambda name: name.split("/")):
        try:
            _take_file(bundle, name, paths[name], limits)
        except OSError as error:
            bundle.refused.append(BundleRefused(f"{bundle.shown(name)}: {error.strerror}"))

    def members() -> Iterator[tuple[str, bytes] | BundleRefused]:
        for name in bundle.names:
            try:
                body = paths[name].read_bytes()
            except OSError as error:
                yield BundleRefused(f"{bundle.shown(name)}: {error.strerror}")
                continue
            yield name, body

    bundle.members = members
    return bundle


def _sort_out_link(bundle: Bundle, root: Path, link: Path, name: str) -> None:
    target = link.resolve()
    if target.exists() and target.is_relative_to(root.resolve()):
        bundle.skipped["link within the folder"] += 1
        return
    bundle.refused.append(
        BundleRefused(f"{bundle.shown(name)}: a link out of the folder, or to nothing; it is not followed")
    )


def _take_file(bundle: Bundle, name: str, path: Path, limits: Limits) -> None:
    found = path.lstat()
    if not stat.S_ISREG(found.st_mode):
        bundle.refused.append(BundleRefused(f"{bundle.shown(name)}: neither a file nor a folder"))
    elif found.st_size > (MAX_CONTEXT_BYTES if is_context(name) else limits.member_bytes):
        bundle.refused.append(BundleRefused(f"{bundle.shown(name)}: too large: {found.st_size} bytes"))
    elif is_context(name):
        bundle.contexts[name] = path.read_bytes()
    else:
        bundle.names.append(name)


def archive(path: Path, limits: Limits) -> Bundle:
    """Read an archive to its end, keeping nothing but its contexts.

    Raises BundleRefused for the whole of it when it is damaged, encrypted or too much, or holds a name
    that leads out of it, a name twice, a link, or anything else that is neither file nor folder.
    """
    bundle, folders = Bundle(path), set()
    for name, chunks in _entries(path, limits):
        if chunks is None:
            folders.add(name)
        elif _is_hidden(name):
            bundle.skipped["hidden"] += 1
            _read_through(chunks)
        elif is_context(name):
            bundle.contexts[name] = body = b"".join(chunks)
            if len(body) > MAX_CONTEXT_BYTES:
                raise _refusal(path, f"{name}: too large for a context: {len(body)} bytes")
        else:
            bundle.names.append(name)
            _read_through(chunks)
    files = [*bundle.names, *bundle.contexts]
    used = {name[:at] for name in files for at, letter in enumerate(name) if letter == "/"}
    bundle.skipped["empty folder"] += len({f for f in folders - used if not _is_hidden(f)} - {""})

    def members() -> Iterator[tuple[str, bytes] | BundleRefused]:
        wanted = set(bundle.names)
        for name, chunks in _entries(path, limits):
            if chunks is not None and name in wanted:
                yield name, b"".join(chunks)
            elif chunks is not None:
                _read_through(chunks)

    bundle.members = members
    return bundle


def _is_hidden(name: str) -> bool:
    return any(part.startswith((".", "__MACOSX")) or part == "Thumbs.db" for part in name.split("/"))


def _read_through(chunks: Iterator[bytes]) -> None:
    for _ in chunks:
        pass


def _refusal(path: Path, reason: str) -> BundleRefused:
    return BundleRefused(f"{printable(str(path))}: {reason}; nothing of this archive is taken in")


def _entries(path: Path, limits: Limits) -> Iterator[tuple[str, Iterator[bytes] | None]]:
    """Yield (name, chunks) of each entry, None for a folder; the chunks must be read before the next."""
    raw = _zip_entries if path.name.lower().endswith(".zip") else _tar_entries
    seen: set[str] = set()
    with _whole(path):
        for number, (stated, chunks) in enumerate(raw(path, limits), 1):
            if number > limits.entries:
                raise _refusal(path, f"more than {limits.entries} entries")
            name = _safe_name(path, stated)
            if chunks is None:
                yield name, None
                continue
            if name in seen or not name:
                raise _refusal(path, f"{name!r} stands in it twice" if name else "a file without a name")
            seen.add(name)
            yield name, _within(path, name, chunks, limits.member_bytes)


@contextmanager
def _whole(path: Path) -> Iterator[None]:
    """A damaged archive makes the readers of the standard library stumble over anything."""
    try:
        yield
    except Failure:
        raise
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise _refusal(path, f"not a whole archive: {printable(reason)}") from error


def _within(path: Path, name: str, chunks: Iterator[bytes], allowed: int) -> Iterator[bytes]:
    count = 0
    with _whole(path):
        for chunk in chunks:
            count += len(chunk)
            if count > allowed:
                raise _refusal(path, f"{name} unpacks to more than {allowed} bytes")
            yield chunk


def _safe_name(path: Path, stated: str) -> str:
    """Return the name with `/` between folders; old Windows tools write `\\`, which must not hide a `..`."""
    parts = stated.replace("\\", "/").split("/")
    if not parts[0] and len(parts) > 1:
        raise _refusal(path, f"{printable(stated)!r} is an absolute path")
    if re.match("[A-Za-z]:", parts[0]):
        raise _refusal(path, f"{printable(stated)!r} names a drive")
    if ".." in parts:
        raise _refusal(path, f"{printable(stated)!r} leads out of it")
    return printable("/".join(part for part in parts if part not in ("", ".")))


def _zip_entries(path: Path, limits: Limits) -> Iterator[tuple[str, Iterator[bytes] | None]]:
    count, budget = 0, limits.budget(path.stat().st_size)

    def chunks(opened: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
        nonlocal count
        length = 0
        with opened.open(info) as stream:
            while chunk := stream.read(CHUNK_BYTES):
                length += len(chunk)
                count += len(chunk)
                if count > budget:
                    raise _refusal(path, f"unpacks to more than {budget} bytes")
                yield chunk
        if length != info.file_size:
            raise _refusal(path, f"{printable(info.filename)} holds {length} bytes, not {info.file_size}")

    with zipfile.ZipFile(path) as opened:
        # A damaged length in the directory swallows what follows it, which the library does not notice.
        stated, found = _stated_entries(path), len(opened.infolist())
        if stated not in (found, ZIP64_ENTRIES):
            raise _refusal(path, f"not a whole archive: {found} entries, where {stated} are stated")
        for info in opened.infolist():
            name = printable(info.orig_filename)
            if "\0" in info.orig_filename:
                raise _refusal(path, f"{name!r} holds a NUL")
            if info.flag_bits & ENCRYPTED:
                raise _refusal(path, f"{name} is encrypted")
            if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise _refusal(path, f"{name} is a link or a device")
            # The library bounds what it unpacks at a time for these two methods alone.
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise _refusal(path, f"{name} is neither stored nor deflated; write the zip again")
            yield info.filename, None if info.is_dir() else chunks(opened, info)


def _stated_entries(path: Path) -> int:
    """How many entries the end of a zip says that there are; the library found that end before us."""
    with path.open("rb") as stream:
        stream.seek(-min(path.stat().st_size, ZIP_END_REACH_BYTES), os.SEEK_END)
        tail = stream.read()
    (entries,) = struct.unpack_from("<H", tail, tail.rindex(ZIP_END) + 10)
    return entries


class _Meter:
    """Bytes out of a decompressor, counted, and never more than `allowed` in all."""

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        self.stream, self.path = stream, path
        self.count, self.content_end, self.allowed = 0, 0, 0

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes; raises BundleRefused when that is more than allowed."""
        body = self.stream.read(size)
        content = body.rstrip(b"\0")
        if content:
            self.content_end = self.count + len(content)
        self.count += len(body)
        if self.count > self.allowed:
            raise _refusal(self.path, f"unpacks to more than {self.allowed} bytes, or has an endless header")
        return body


def _tar_entries(path: Path, limits: Limits) -> Iterator[tuple[str, Iterator[bytes] | None]]:
    suffix = next(suffix for suffix in TAR_READERS if path.name.lower().endswith(suffix))
    budget = limits.budget(path.stat().st_size)

    def chunks(opened: tarfile.TarFile, info: tarfile.TarInfo) -> Iterator[bytes]:
        meter.allowed = budget
        stream: Any = opened.extractfile(info)
        while chunk := stream.read(CHUNK_BYTES):
            yield chunk

    with TAR_READERS[suffix](path) as stream:
        meter = _Meter(stream, path)
        meter.allowed = min(budget, limits.header_bytes)
        # As a stream: it never seeks back, so a header that points backwards is an error and no loop.
        with tarfile.open(fileobj=meter, mode="r|", errors="surrogateescape") as opened:  # type: ignore[call-overload]
            while (info := opened.next()) is not None:
                if not info.isdir() and (info.type not in (tarfile.REGTYPE, tarfile.AREGTYPE)):
                    raise _refusal(path, f"{printable(info.name)} is a link or a device")
                if info.issparse():
                    raise _refusal(path, f"{printable(info.name)} is a sparse file")
                yield info.name, None if info.isdir() else chunks(opened, info)
                meter.allowed = min(budget, meter.count + limits.header_bytes)
            meter.allowed = budget
            while meter.read(CHUNK_BYTES):
                pass
            # The library takes a damaged header for the end. A true end is a block of zeros, and nothing
            # follows it.
            if meter.count < opened.offset + TAR_BLOCK_BYTES or meter.content_end > opened.offset:
                raise _refusal(path, "not a whole archive: it breaks off, or goes on after its end")
