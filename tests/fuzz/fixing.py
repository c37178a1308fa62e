"""``--fix`` over damaged datasets: it comes to an end, twice is once, nothing is lost, and a selection does no harm."""

from __future__ import annotations

import ast
import csv
import gzip
import io
import json
import shutil
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import ragdatakit
from ragdatakit.fixes.groups import unread_rules
from ragdatakit.schemas import all_formats, rules_by_code
from ragdatakit.schemas.errors import RagdataError
from tests.framework_readers import READERS, as_json_has_it, held_by, lost_by
from tests.fuzz.cases import Case
from tests.fuzz.commands import environment
from tests.fuzz.spoiling import spoil

RULES = rules_by_code()
_TEXTS = {".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".txt", ".run", ".qrels"}
_UNREAD = frozenset().union(*(unread_rules(fmt.name) for fmt in all_formats()))
"""Names of rules whose faults hide what else is wrong with a record."""
_NOTHING = {"", "null", "nan", "none", "n/a", "na", "<na>", "#n/a", "#na"}
"""Texts that pandas takes for a cell that is missing."""
Files = dict[str, bytes]


def check(case: Case) -> Iterator[str]:
    """What is wrong with the safe fixes, with those of some rules only, and with the unsafe ones."""
    case.build()
    case.history += spoil(case.folder, case.rng)
    with environment(case.scratch):
        yield from check_folder(case.data, case.folder, case.scratch, case.rng, case.note)


def check_folder(
    data: Path, folder: Path, scratch: Path, rng: Random, note: Callable[[str], None] = lambda _: None
) -> Iterator[str]:
    """The same of a dataset in ``folder``, which is left as it was."""
    kept = scratch / "kept"
    shutil.copytree(folder, kept, symlinks=True)
    old = files_below(folder)

    def tried(**words: Any) -> ragdatakit.FixResult | None:
        shutil.rmtree(folder)
        shutil.copytree(kept, folder, symlinks=True)
        try:
            return fixed(data, scratch, **words)
        except (RagdataError, OSError):
            return None

    note("safe")
    whole = tried()
    if whole is None:
        return
    after = files_below(folder)
    before = ragdatakit.validate(kept / data.relative_to(folder), max_per_rule=0)
    yield from _judged("safe", before, whole)
    yield from _again("safe", data, folder, scratch)
    yield from (f"safe: {value!r} is lost in {name}" for name, value in lost(old, after, set()))
    for name in {each.format for each in before.datasets} & READERS.keys() if len(before.datasets) == 1 else ():
        held = held_by(name, kept)
        yield from (f"safe: {name} reads less: {said}" for said in lost_by(held, held_by(name, folder)))

    note("selected")
    codes = sorted({finding.code for finding in before.findings})
    chosen = [code for code in codes if rng.random() < 0.4] or codes[:1]
    how = {"select": chosen} if rng.random() < 0.5 else {"ignore": chosen}
    some = tried(**how, max_per_rule=rng.choice((0, 1)), severity=rng.choice(("info", "error")))
    if some is not None:
        yield from (f"{how}: {problem}" for problem in more_changed(old, after, files_below(folder)))

    note("unsafe")
    every = tried(unsafe=True)
    if every is not None:
        yield from _judged("unsafe", before, every)
        kept_apart = removed(scratch)
        yield from _again("unsafe", data, folder, scratch, unsafe=True)
        yield from (
            f"unsafe: {value!r} is lost in {name}" for name, value in lost(old, files_below(folder), kept_apart)
        )


def fixed(data: Path, scratch: Path, **words: Any) -> ragdatakit.FixResult:
    """Repair; what goes is kept in the scratch folder, and nothing is there of times before."""
    sidecar = scratch / "removed.ndjson"
    sidecar.unlink(missing_ok=True)
    return ragdatakit.fix(data, **{"max_per_rule": 0, "removed": sidecar, "severity": "info", **words})


def removed(scratch: Path) -> set[str]:
    """The values that unsafe fixes have removed."""
    path = scratch / "removed.ndjson"
    found: set[str] = set()
    for line in path.read_text("utf-8").split("\n")[:-1] if path.exists() else []:
        text = json.loads(line).get("removed", "")
        member = _decoded(f"{{{text}}}")
        values = [member] if _decoded(text) is None and member is not None else [_decoded(text)]
        for name in ("x.csv", "x.tsv", "x.txt") if values == [None] else ():
            values += _records(name, text.encode())
        found.update(*map(_scalars, values))
    return found


def _judged(name: str, before: ragdatakit.Report, result: ragdatakit.FixResult) -> Iterator[str]:
    """No crash; no error that was not there and that nothing has hidden."""
    if any(finding.code == "RD112" for finding in result.report.findings):
        yield f"{name}: a rule crashed"
    applied = {code for counts in result.fixed.values() for code in counts}
    old, new = (
        Counter(finding.code for finding in report.findings if finding.severity == "error")
        for report in (before, result.report)
    )
    more = {code for code in new - old if not any(RULES[each].may_reveal(RULES[code]) for each in applied)}
    unread = {code for code in {*old, *new} if RULES[code].name in _UNREAD}
    if sum(new[code] for code in unread) <= sum(old[code] for code in unread):
        more -= unread  # what a record is hides what it has: one such fault took the place of another
    if more:
        yield f"{name}: {sorted(applied)} leads to {sorted(more)}"


def _again(name: str, data: Path, folder: Path, scratch: Path, **words: Any) -> Iterator[str]:
    now = files_below(folder)
    try:
        again = fixed(data, scratch, **words)
    except (RagdataError, OSError) as error:
        yield f"{name}: cannot be read any more: {error}"
        return
    if again.changed or files_below(folder) != now:
        yield f"{name}: a second time changes {again.fixed}"


def files_below(folder: Path) -> Files:
    """The contents of all files, unpacked."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            data = path.read_bytes()
            try:
                data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
            except (OSError, EOFError, zlib.error):
                pass
            found[path.relative_to(folder).as_posix()] = data
    return found


def lost(old: Files, new: Files, kept: set[str]) -> Iterator[tuple[str, str]]:
    """Values that were in a file and are in none any more, nor among what was ``kept``."""
    there = {value for name, data in new.items() for value in _leaves(name, data)}
    for name, data in old.items():
        if new.get(name) != data and Path(name.removesuffix(".gz")).suffix in _TEXTS:
            gone = set(_leaves(name, data)) - there - kept
            yield from ((name, value) for value in sorted(gone))


def _leaves(name: str, data: bytes) -> Iterator[str]:
    """All values in a file that say something, as texts: numbers in one way of writing."""
    for value in _records(name, data):
        yield from _scalars(value)


def _records(name: str, data: bytes) -> list[Any]:
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    suffix = Path(name.removesuffix(".gz")).suffix
    if suffix in (".csv", ".tsv"):
        try:
            return list(
                csv.reader(io.StringIO(text, newline=""), delimiter="," if suffix == ".csv" else "\t", strict=True)
            )
        except csv.Error:
            return []
    if suffix in (".txt", ".run", ".qrels"):
        commas = Path(name).name.startswith("kg.txt")  # of triples, around which there may be blanks
        rows = [(line.replace(",", " ") if commas else line).split() for line in text.splitlines()]
        return [row[:3] + row[4:] if len(row) == 6 else row for row in rows]  # ranks are counted anew
    try:
        return [json.loads(text)]
    except (ValueError, RecursionError):
        lines = (line.strip().removesuffix(",") for line in text.split("\n"))  # or elements of an array, one a line
        return [value for line in lines if (value := _decoded(line)) is not None]


def _decoded(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _scalars(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for each in value.values():
            yield from _scalars(each)
    elif isinstance(value, list):
        for each in value:
            yield from _scalars(each)
    elif value is not None and not isinstance(value, bool):
        text = as_json_has_it(str(value).strip().strip("\ufeff\0"))
        if text[:1] == "{" and text[-1:] == "}" and isinstance(value, str):
            with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
                yield from _scalars(ast.literal_eval(text))
                return
        name, colon, rest = text.partition(":")
        if colon and name.strip().isdecimal():  # as A-RAG has the id of a chunk before its text
            yield from (*_scalars(name), *_scalars(rest))
            return
        try:
            text = str(float(text))
        except (ValueError, OverflowError):
            text = "".join(text.split()).casefold().strip("\ufeff")
        if text not in _NOTHING:
            yield text


def more_changed(old: Files, all_rules_: Files, some_rules: Files) -> Iterator[str]:
    """Records that some rules change, and all of them leave as they are."""
    for name, data in old.items():
        left, now = (Counter(_pieces(files.get(name, b""))) for files in (all_rules_, some_rules))
        for piece, number in Counter(_pieces(data)).items():
            if min(number, left[piece]) > now[piece]:
                yield f"{name}: {piece[:150]!r} is changed only so"


def _pieces(data: bytes) -> list[bytes]:
    """The records of a file: lines, or elements of the list that it is."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return [line.strip(b"\r\xef\xbb\xbf") for line in data.split(b"\n") if line.strip()]
    return [json.dumps(each).encode() for each in (value if isinstance(value, list) else [value])]
