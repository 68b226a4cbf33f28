"""Strict decoding: bytes from outside become values, or the whole payload is refused.

Belongs here: the formats (gzip, zip, JSON, YAML, CSV) and the reading of one number or one date from text.
Does not belong here: what the values mean (that is each source's `parse`). Every reader refuses what
a lenient one would pass in silence: duplicate keys, NaN, truncated documents, HTML in place of data.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

import yaml

from pipelines.contracts import ContractError
from pipelines.source import SourceError

# Larger than any payload seen (GCP's yearly growth would reach it in decades), small enough for memory.
MAX_DECODED_BYTES = 512 * 1024 * 1024
# The library bounds what it unpacks at a time for these two alone.
BOUNDED_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def gunzipped(body: bytes) -> bytes:
    """Return `body` decompressed if it is gzip, else unchanged; raises SourceError when damaged or huge."""
    if not body.startswith(b"\x1f\x8b"):
        return body
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(body)) as stream:
            decoded = stream.read(MAX_DECODED_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise SourceError(f"not a whole gzip stream: {error}") from error
    if len(decoded) > MAX_DECODED_BYTES:
        raise SourceError(f"decompresses to more than {MAX_DECODED_BYTES} bytes")
    return decoded


def unzipped(name: str, body: bytes) -> list[tuple[str, bytes]]:
    """Return every file of a zip archive as (name, bytes) in its own order; what is no zip, as it is.

    Raises SourceError for an archive that is damaged, encrypted, empty or huge, that has a name twice, or
    whose files are packed in a way that cannot be unpacked bit by bit.
    """
    if not body.startswith(b"PK"):
        return [(name, body)]
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            return list(_members(name, archive))
    except SourceError:
        raise
    except Exception as error:
        # Of a damaged archive the standard library may stumble over anything: a length that is none, a place
        # before the start, a text that is no UTF-8.
        raise SourceError(f"{name}: not a whole zip archive: {type(error).__name__}: {error}") from error


def _members(name: str, archive: zipfile.ZipFile) -> Iterator[tuple[str, bytes]]:
    members = [member for member in archive.infolist() if not member.is_dir()]
    names = [member.filename for member in members]
    if not names or len(set(names)) < len(names):
        raise SourceError(f"{name}: a zip archive without files, or with one name twice")
    if any(member.compress_type not in BOUNDED_METHODS for member in members):
        raise SourceError(f"{name}: a file in it is neither stored nor deflated")
    room = MAX_DECODED_BYTES
    for member in members:
        with archive.open(member) as stream:
            # Reading to the end checks the checksum; how much there is is not asked of the directory.
            found = stream.read(room + 1)
        room -= len(found)
        if room < 0:
            raise SourceError(f"{name}: decompresses to more than {MAX_DECODED_BYTES} bytes")
        if len(found) != member.file_size:
            raise SourceError(f"{name}: a file in it holds {len(found)} bytes, not {member.file_size}")
        yield f"{name}/{member.filename}", found


def text(body: bytes) -> str:
    """Decode UTF-8 (a byte-order mark is dropped); raises SourceError otherwise, or for an HTML page."""
    try:
        decoded = gunzipped(body).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SourceError(f"not UTF-8: {error}") from error
    if re.match(r"\s*<(!doctype|html)", decoded, re.IGNORECASE):
        raise SourceError("an HTML page in place of data")
    return decoded


def strict_json(body: bytes) -> Any:
    """Parse JSON with numbers as int or Decimal.

    Raises SourceError for anything that is not one whole JSON document and for a key that stands twice
    in one object. NaN and Infinity, which JSON does not know and Python accepts, become decimals that no
    contract accepts: they cost their own row and not the payload.
    """
    try:
        return _JSON.decode(text(body))
    except (ValueError, RecursionError, InvalidOperation) as error:
        raise SourceError(f"not a whole JSON document: {error}") from error


def strict_json_documents(body: bytes) -> list[Any]:
    """Parse JSON documents that stand one after the other, as in JSON lines and in files appended to.

    Raises SourceError where `strict_json` does for any of them, and when there is none: a file that was
    cut shows in its last document.
    """
    decoded, place, found = text(body), 0, []
    while rest := re.compile(r"\S").search(decoded, place):
        try:
            document, place = _JSON.raw_decode(decoded, rest.start())
        except (ValueError, RecursionError, InvalidOperation) as error:
            raise SourceError(f"document {len(found) + 1} is not a whole JSON document: {error}") from error
        found.append(document)
    if not found:
        raise SourceError("no JSON document: the file is empty")
    return found


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise SourceError(f"duplicate key {next(k for k in keys if keys.count(k) > 1)!r}")
    return found


_JSON = json.JSONDecoder(object_pairs_hook=_unique, parse_float=Decimal, parse_constant=Decimal)


class _StrictLoader(yaml.CSafeLoader):
    """The safe loader, with decimals for floats, no key twice in one mapping, and no node used twice."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        # Only an alias leads to a node again. A few of them make a small file huge, and no source of ours
        # uses one.
        if node in self.constructed_objects:
            raise SourceError(f"YAML aliases are not accepted: line {node.start_mark.line + 1}")
        return super().construct_object(node, deep=deep)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        if any(key.tag == "tag:yaml.org,2002:merge" for key, _ in node.value):
            raise SourceError(f"YAML merges are not accepted: line {node.start_mark.line + 1}")
        mapping = super().construct_mapping(node, deep=deep)
        if len(mapping) < len(node.value):
            raise SourceError(f"duplicate key near line {node.start_mark.line + 1}")
        return mapping


def _decimal_node(loader: _StrictLoader, node: yaml.ScalarNode) -> Decimal | str:
    try:
        return Decimal(str(node.value).replace("_", ""))
    except InvalidOperation:
        return str(node.value)  # .inf and .nan stay text, and fail their row's contract


_StrictLoader.add_constructor("tag:yaml.org,2002:float", _decimal_node)


def strict_yaml(body: bytes) -> Any:
    """Parse one YAML document with floats as Decimal.

    Raises SourceError for bad syntax, duplicate keys, aliases and merges.
    """
    try:
        return yaml.load(text(body), Loader=_StrictLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise SourceError(f"not a whole YAML document: {error}") from error


def strict_csv(body: bytes, required: set[str]) -> list[dict[str, str]]:
    """Read a CSV with a header into dicts of text.

    Raises SourceError when a `required` column is absent, a column stands twice, or a row has more or
    fewer fields than the header: a truncated file shows in its last row.
    """
    reader = csv.reader(io.StringIO(text(body), newline=""), strict=True)
    try:
        header = next(reader, [])
        if len(set(header)) < len(header) or not required <= set(header):
            raise SourceError(f"CSV header {header} lacks {sorted(required - set(header))} or repeats a name")
        rows = []
        for fields in reader:
            if fields and len(fields) != len(header):
                raise SourceError(
                    f"line {reader.line_num} has {len(fields)} fields, the header {len(header)}"
                )
            if fields:
                rows.append(dict(zip(header, fields, strict=True)))
    except csv.Error as error:
        raise SourceError(f"not a whole CSV file: {error}") from error
    return rows


def amount(field: str, value: Any) -> Decimal:
    """Read one plain decimal number, e.g. `2.49`, from JSON, YAML or text, as an exact Decimal.

    Raises ContractError when it is missing, a boolean, not finite, or written with separators, signs
    of currency or words: the format of such text cannot be told from the text alone.
    """
    if value is None or value == "":
        raise ContractError("missing_value", field, value)
    if isinstance(value, bool) or not isinstance(value, (int, Decimal, str)):
        raise ContractError("wrong_type", field, value)
    if isinstance(value, str):
        if not re.fullmatch(r"\s*[+-]?\d+(\.\d+)?([eE][+-]?\d{1,3})?\s*", value, re.ASCII):
            raise ContractError("not_a_number", field, value)
        value = value.strip()
    number = Decimal(value)
    if not number.is_finite():
        raise ContractError("not_finite", field, value)
    return number


# Thousands separator and decimal mark, as a source declares them; text alone cannot say which is which.
LOCALES = {"en-US": (",", "."), "de-DE": (".", ",")}
SIGNS = {"USD": "$", "EUR": "€", "GBP": "£"}


def written_amount(field: str, value: Any, locale: str, currency: str) -> Decimal:
    """Read a price as people write it, `$2,499.00` or `2.49/hr`, in a declared locale and currency.

    Raises ContractError when it is anything but one amount: another currency's sign, groups that are not
    of three digits, words such as `from` or `contact us`. Numbers that are not text are read by `amount`.
    """
    if not isinstance(value, str) or not value.strip():
        return amount(field, value)
    group, mark = (re.escape(separator) for separator in LOCALES[locale])
    sign = re.escape(SIGNS.get(currency, currency))
    number = rf"(\d{{1,3}}(?:{group}\d{{3}})+|\d+)(?:{mark}(\d+))?"
    found = re.fullmatch(
        rf"(?:{sign}\s*)?{number}(?:\s*{sign})?(?:\s*(?:/|per )\s*(?:h|hr|hour))?", value.strip(), re.ASCII
    )
    if not found:
        raise ContractError("not_a_number", field, value)
    return Decimal(f"{re.sub(group, '', found[1])}.{found[2] or 0}")


def iso_date(field: str, value: Any) -> date:
    """Read `YYYY-MM-DD`; raises ContractError otherwise."""
    if not isinstance(value, str) or not re.fullmatch(r"\d{4}-\d{2}-\d{2}", value, re.ASCII):
        raise ContractError("not_a_date", field, value)
    try:
        return date.fromisoformat(value)
    except ValueError as error:
        raise ContractError("not_a_date", field, value) from error


def iso_instant(field: str, value: Any) -> datetime:
    """Read an ISO 8601 instant as UTC; raises ContractError when it is none or states no zone."""
    try:
        instant = datetime.fromisoformat(value)
    except (TypeError, ValueError) as error:
        raise ContractError("not_an_instant", field, value) from error
    if instant.tzinfo is None:
        raise ContractError("time_without_zone", field, value)
    try:
        return instant.astimezone(UTC)
    except OverflowError as error:
        raise ContractError("not_an_instant", field, value) from error
