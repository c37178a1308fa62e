"""The file of a baseline: one entry a line, sorted, without lines, totals, versions and times, so that branches merge.

Lines may be in any order and there twice, as a merge by union leaves them: of two the stricter holds.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import orjson

from ragdatakit.files.paths.writing import write_whole
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.baselines import BaselineEntry
from ragdatakit.schemas.errors import RagdataError

_VERSION = 1
_HEAD = "ragdata_baseline"
_MOST_BYTES = 256 << 20
_CONFLICT = (b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||")
_TEXTS = ("path", "rule", "key", "at", "reason")
_KNOWN = frozenset((*_TEXTS, "value", "nth", "count", "until"))


@dataclass(frozen=True, slots=True)
class Baseline:
    """The entries of a file, ``file`` as the user called it; ``folder`` is what their paths are relative to."""

    file: Path
    folder: Path
    entries: tuple[BaselineEntry, ...] = ()

    @classmethod
    def at(cls, file: Path, entries: Iterable[BaselineEntry] = ()) -> Baseline:
        """A baseline in this file."""
        return cls(file, Path(os.path.realpath(file.absolute().parent)), tuple(entries))

    def name(self, path: str) -> str:
        """What entries call a file."""
        real = os.path.realpath(path)
        try:
            return Path(os.path.relpath(real, self.folder)).as_posix()
        except ValueError:  # on another drive
            return Path(real).as_posix()


def read_baseline(file: Path) -> Baseline:
    """The baseline in a file. Raises `RagdataError`, which names the line, where it is none."""
    try:
        if file.stat().st_size > _MOST_BYTES:
            raise RagdataError(f"{file}: too large for a baseline ({_MOST_BYTES >> 20} MiB at most)")
        data = file.read_bytes()
    except OSError as error:
        raise RagdataError(f"{file}: the baseline cannot be read: {error.strerror}") from None
    found: dict[Any, BaselineEntry] = {}
    has_head = False
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").splitlines(), 1):
        if not line.strip():
            continue
        where = f"{file}:{number}"
        words = _decoded(line, where)
        if _HEAD in words:
            if words[_HEAD] != _VERSION:
                raise RagdataError(f"{where}: a baseline of version {words[_HEAD]!r}, which this version cannot read")
            has_head = True
            continue
        if not has_head:
            raise RagdataError(f'{file}: not a baseline: its first line has to be {{"{_HEAD}": {_VERSION}}}')
        entry = _entry(words, where)
        same = found.setdefault(_identity(entry), entry)
        if same is not entry:
            found[_identity(entry)] = _stricter(same, entry)
    if not has_head:
        raise RagdataError(f'{file}: not a baseline: its first line has to be {{"{_HEAD}": {_VERSION}}}')
    return Baseline.at(file, found.values())


def write_baseline(baseline: Baseline) -> None:
    """Write the file, whole or not at all. Raises `OSError`."""
    lines = [_encoded({_HEAD: _VERSION})]
    lines += [_encoded(entry.as_dict()) for entry in sorted(baseline.entries, key=_order)]
    write_whole(baseline.file, b"".join(lines))


def _decoded(line: bytes, where: str) -> dict[str, Any]:
    if line.startswith(_CONFLICT):
        raise RagdataError(
            f"{where}: a conflict of a merge; keep the lines of both sides and delete the marks (`{_ATTRIBUTE}` in "
            ".gitattributes lets git do it)"
        )
    try:
        words = orjson.loads(line)
    except orjson.JSONDecodeError:
        try:
            words = json.loads(line)  # texts that are not Unicode
        except (ValueError, RecursionError) as error:
            raise RagdataError(f"{where}: not JSON: {error}") from None
    if not isinstance(words, dict):
        raise RagdataError(f"{where}: not an entry of a baseline, which is a JSON object")
    return words


_ATTRIBUTE = "ragdata-baseline.jsonl merge=union"


def _entry(words: dict[str, Any], where: str) -> BaselineEntry:
    for name in _TEXTS:
        if not isinstance(words.get(name, ""), str):
            raise RagdataError(f"{where}: {name} is {words[name]!r}, expected a text")
    for name in ("path", "rule"):
        if not words.get(name):
            raise RagdataError(f"{where}: an entry needs {name}")
    for name in ("nth", "count"):
        number = words.get(name, 1)
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise RagdataError(f"{where}: {name} is {number!r}, expected an integer from 1 on")
    value = words.get("value")
    if isinstance(value, list | dict):
        raise RagdataError(f"{where}: value is a list or an object, expected what --write-baseline writes")
    return BaselineEntry(
        **{name: words[name] for name in (*_TEXTS, "nth", "count") if name in words},
        value=value,
        until=_day(words["until"], where) if "until" in words else None,
        others={name: value for name, value in words.items() if name not in _KNOWN},
    )


def _day(text: Any, where: str) -> date:
    try:
        return date.fromisoformat(text)
    except (TypeError, ValueError):
        raise RagdataError(f"{where}: until is {text!r}, expected a day such as 2027-01-31") from None


def _identity(entry: BaselineEntry) -> Any:
    if entry.count:
        return entry.bucket
    return (*entry.bucket, entry.key, entry.at, repr(entry.value), entry.nth)


def _stricter(first: BaselineEntry, second: BaselineEntry) -> BaselineEntry:
    days = [entry.until for entry in (first, second) if entry.until is not None]
    least = min(first.count, second.count)
    kept = first if first.reason or not second.reason else second
    return replace(kept, count=least, until=min(days, default=None))


def _order(entry: BaselineEntry) -> tuple[str, str, bool, str, str, str, int]:
    return entry.path, entry.rule, not entry.count, entry.key, entry.at, repr(entry.value), entry.nth


def _encoded(words: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(words, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # a path that is not Unicode text
        return json.dumps(words, separators=(",", ":")).encode() + b"\n"
