"""Files, folders and archives that a person names: what in them is a payload, and whose context is whose.

Belongs here: the order of things, the finding of contexts, and what becomes of each file. Does not belong
here: the checks of one payload (`ingest.py`), the guards of an archive (`bundles.py`), and any printing.

A context is `<file>.context.yaml` beside a file, else `context.yaml` in its folder, else in the nearest
folder above, up to the path that was named. The nearest stands alone: contexts are not merged. One that is
named by `--context` is for the files that have none; where both speak and differ, the file is refused.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

from pipelines import bundles
from pipelines.bundles import Bundle, Limits
from pipelines.decode import MAX_DECODED_BYTES, strict_yaml
from pipelines.failure import Failure
from pipelines.ingest import (
    ImportRefused,
    Stored,
    import_payload,
    is_payload,
    one_line,
    wants_permission,
)
from pipelines.snapshots import SnapshotStore
from pipelines.source import Parsed, Part, Source, SourceError

# What lies beside payloads and is hardly ever one. Such a file is offered to the source all the same, since
# a price page may be markdown; when the source does not read it, that is no failure.
DOCUMENTS = {
    ".md", ".rst", ".txt", ".log", ".out", ".err", ".pdf", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".py",
    ".sh", ".ipynb", ".toml", ".ini", ".cfg",
}  # fmt: skip
DOCUMENT_NAMES = {"LICENSE", "NOTICE", "README", "CHANGELOG"}


@dataclass(frozen=True)
class Imported:
    """A payload that is in the store, and the name of the context that went in with it, where one did."""

    name: str
    stored: Stored
    parsed: Parsed
    context_name: str | None


@dataclass(frozen=True)
class Skipped:
    """A file that was passed over, and what it is."""

    name: str
    what: str


@dataclass(frozen=True)
class Plan:
    """What a command line names, opened and checked; nothing is stored yet.

    bundles: one for each path that could be opened. refused: why the others could not.
    """

    bundles: list[Bundle]
    refused: list[Failure]
    is_one_file: bool

    @property
    def count(self) -> int:
        """How many files will be offered to the source."""
        return sum(len(bundle.names) for bundle in self.bundles)

    @property
    def skipped(self) -> Counter[str]:
        """How many files were passed over without a look, by what they are."""
        return sum((bundle.skipped for bundle in self.bundles), Counter())


def plan(source: Source, paths: list[Path], limits: Limits | None = None) -> Plan:
    """Open every path; an archive that the source itself reads is its payload and stays closed.

    Raises ImportRefused or BundleRefused when there is one path and it cannot be taken in.
    """
    wants_permission(source)
    found, refused, files = [], [], 0
    for path in paths:
        try:
            if path.is_dir():
                found.append(bundles.folder(path, limits or Limits()))
            elif bundles.is_opened(path) and not _is_itself_payload(source, path):
                found.append(bundles.archive(path, limits or Limits()))
            else:
                files += 1
                found.append(_named_file(path))
        except Failure as error:
            if len(paths) == 1:
                raise
            refused.append(error)
    return Plan(found, refused, is_one_file=len(paths) == files == 1)


def _is_itself_payload(source: Source, path: Path) -> bool:
    """Some publishers send an archive; the source's parser is the judge of it, as of any other file."""
    if path.exists() and path.stat().st_size > MAX_DECODED_BYTES:
        return False
    return is_payload(source, Part(path.name, _bytes(path)))


def _named_file(path: Path) -> Bundle:
    """A file that a person named, with the contexts that stand beside it; a shell's `*` names those too."""
    bundle = Bundle(path.parent)
    if bundles.is_context(path.name):
        payload = path.name.removesuffix(bundles.CONTEXT_SUFFIX)
        if path.name != bundles.CONTEXT_NAME and not path.with_name(payload).exists():
            raise ImportRefused(f"{path}: a context of no file: there is no {payload} beside it")
        bundle.skipped["context"] += 1
        return bundle
    bundle.names.append(path.name)
    for name in (f"{path.name}{bundles.CONTEXT_SUFFIX}", bundles.CONTEXT_NAME):
        beside = path.with_name(name)
        if beside.is_file():
            bundle.contexts[name] = _bytes(beside)
    bundle.members = lambda: iter([(path.name, _bytes(path))])
    return bundle


def run(
    source: Source,
    store: SnapshotStore,
    planned: Plan,
    stated: datetime | None = None,
    context_file: Path | None = None,
) -> Iterator[Imported | Skipped | Failure]:
    """Offer every file of a plan to the source; yield what became of it. One that is refused stops no other.

    A document that the source does not read is skipped, unless files of its suffix are payloads here: what
    became of documents is therefore told last.
    """
    fallback = (
        (str(context_file), _context(str(context_file), _bytes(context_file))) if context_file else None
    )
    documents: list[tuple[Skipped, Failure]] = []
    read_suffixes = set()
    yield from planned.refused
    for bundle in planned.bundles:
        yield from bundle.refused
        yield from _contexts_of_nothing(bundle)
        for offered in _members(bundle):
            if isinstance(offered, Failure):
                yield offered
                continue
            name, body = offered
            if context_file and (bundle.path / name).absolute() == context_file.absolute():
                yield Skipped(bundle.shown(name), "context")
                continue
            try:
                imported = _import(source, store, bundle, name, body, stated, fallback)
            except ImportRefused as error:
                if _is_document(name) and not planned.is_one_file:
                    documents.append((Skipped(bundle.shown(name), "no payload by its name"), error))
                else:
                    yield error
                continue
            read_suffixes.add(PurePosixPath(name).suffix.lower())
            yield imported
    for skipped, error in documents:
        yield error if PurePosixPath(skipped.name).suffix.lower() in read_suffixes else skipped


def _members(bundle: Bundle) -> Iterator[tuple[str, bytes] | Failure]:
    """The files of a bundle; an archive that was changed since it was checked ends in its refusal."""
    try:
        yield from bundle.members()
    except Failure as error:
        yield error


def _import(
    source: Source,
    store: SnapshotStore,
    bundle: Bundle,
    name: str,
    body: bytes,
    stated: datetime | None,
    fallback: tuple[str, dict[str, Any]] | None,
) -> Imported:
    shown = bundle.shown(name)
    context_name, context = _context_of(bundle, name, fallback)
    try:
        # Parsers know a file by its own name, wherever it lies; so one file is one snapshot either way.
        part = Part(PurePosixPath(name).name, body)
        stored, parsed = import_payload(source, store, part, stated, context, shown=shown)
    except ImportRefused as error:
        if not bundles.is_archive(name, body):
            raise
        raise ImportRefused(
            f"{error} (an archive is opened only by itself, and only as {', '.join(bundles.OPENED)})"
        ) from error
    return Imported(shown, stored, parsed, context_name)


def _context_of(
    bundle: Bundle, name: str, fallback: tuple[str, dict[str, Any]] | None
) -> tuple[str | None, dict[str, Any]]:
    """The name and the content of the context that speaks of a file; (None, {}) where none does."""
    above = [(parent / bundles.CONTEXT_NAME).as_posix() for parent in PurePosixPath(name).parents]
    nearest = next((c for c in (f"{name}{bundles.CONTEXT_SUFFIX}", *above) if c in bundle.contexts), None)
    if nearest is None:
        return fallback or (None, {})
    found = _context(bundle.shown(nearest), bundle.contexts[nearest])
    if fallback and fallback[1] != found:
        raise ImportRefused(
            f"{bundle.shown(name)}: --context and {bundle.shown(nearest)} state different things of it; "
            "leave one of them out"
        )
    return bundle.shown(nearest), found


def _contexts_of_nothing(bundle: Bundle) -> Iterator[ImportRefused]:
    """A context that names a file which is not there was meant for another: a slip that must not pass."""
    for name in sorted(bundle.contexts):
        payload = name.removesuffix(bundles.CONTEXT_SUFFIX)
        if PurePosixPath(name).name != bundles.CONTEXT_NAME and payload not in bundle.names:
            yield ImportRefused(
                f"{bundle.shown(name)}: a context of no file: there is no {payload} that could be a payload"
            )


def _context(shown: str, body: bytes) -> dict[str, Any]:
    """Read a context; raises ImportRefused when the YAML cannot be read or is no mapping of names."""
    try:
        context = strict_yaml(body)
    except SourceError as error:
        raise ImportRefused(f"{shown}: {one_line(error)}") from error
    if not isinstance(context, dict) or not all(isinstance(key, str) for key in context):
        raise ImportRefused(f"{shown}: wants `name: value` lines")
    try:
        # A sidecar is JSON: dates and decimals go in as the text that was typed.
        return json.loads(json.dumps(context, default=str))
    except (TypeError, ValueError) as error:
        raise ImportRefused(f"{shown}: {one_line(error)}") from error


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ImportRefused(f"{path}: {error.strerror}") from error


def _is_document(name: str) -> bool:
    path = PurePosixPath(name)
    return path.suffix.lower() in DOCUMENTS or path.name in DOCUMENT_NAMES
