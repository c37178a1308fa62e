"""Sets of one container from the clean datasets of the fault injector: many copies of their records under other ids, a
share of them damaged, written in one of the ways in which files of the container are written."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import dataclass
from random import Random

from tests.faults.drafts import Draft, DraftFile
from tests.faults.grid import DRAFTS
from tests.fuzz.made_sets import Files
from tests.fuzz.record_damage import BLANKS, ENDS, damaged_cells, damaged_element, damaged_json

_NUMBER = re.compile(rb"[0-9a-f]{32}|(?<![0-9.\-eE])[0-9]{1,3}(?![0-9.\-])")
_BETWEEN = (b",\n", b",\n", b", ", b",", b" ,\r\n", b"\n,", b",\n\n  ", b",\t")
RATES = (0.001, 0.003, 0.01, 0.02, 0.05, 0.1, 0.5)
"""How many of the records of a set are damaged: one of these."""


@dataclass(slots=True)
class _Plan:
    """``faults``: how many more records of a file may be no JSON at all, after which nothing is read of an array."""

    rate: float
    odd_ends: bool
    faults: int
    damaged: int = 0


def has(draft: Draft, container: str) -> bool:
    """Whether a dataset has files of a container."""
    return any(_is(file, container) for file in draft.files)


def _weight(draft: Draft, container: str) -> float:
    """How many of the records are in files of the container: the others take time, too."""
    mine = sum(len(file.cells) for file in draft.files if _is(file, container))
    return mine / sum(len(file.cells) for file in draft.files)


def _is(file: DraftFile, container: str) -> bool:
    declared = file.kind.container
    if declared == "json":
        return container == "ndjson" and len(file.cells) > 1 and file.kind.kind != "tree"  # one alone takes long
    if container == "gz":
        return declared == "ndjson" and (file.path.endswith(".gz") or file.kind.kind in _PACKED)
    return {"json-wrapped": "json-array", "columns": "tsv"}.get(declared, declared) == container


_PACKED = {"queries", "documents", "positives", "scores", "triplets"}
_CONTAINERS = ("ndjson", "json-array", "json-object", "csv", "tsv", "tagged", "gz")
_OF_CONTAINER = {name: [draft for draft in DRAFTS if has(draft, name)] for name in _CONTAINERS}
_WEIGHTS = {name: [_weight(draft, name) for draft in drafts] for name, drafts in _OF_CONTAINER.items()}


def draw_draft(container: str, rng: Random) -> Draft:
    """A dataset with files of a container."""
    return rng.choices(_OF_CONTAINER[container], _WEIGHTS[container])[0]


def files_of(draft: Draft, container: str, rng: Random, many: int, share: float | None = None) -> tuple[Files, int]:
    """The files of a dataset, with at least ``many`` records in those of the container, of which ``share`` is damaged,
    and how many are damaged."""
    mine = [file for file in draft.files if _is(file, container)]
    copies = -(-many // sum(len(file.cells) for file in mine))
    rate = rng.choice(RATES) if share is None else share
    files: Files = {}
    damaged = 0
    for file in draft.files:
        if file.content is not None or not file.cells:
            files[file.path] = file.data()
            continue
        plan = _Plan(rate if file in mine else 0.001, rng.random() < 0.2, rng.choice((0, 0, 0, 1, 2)))
        data = _content(file, copies, rng, plan)
        damaged += plan.damaged
        path = file.path
        if container == "gz" and file in mine and not path.endswith(".gz"):
            path += ".gz"
        files[path] = _packed(data, rng) if path.endswith(".gz") else data
    return files, damaged


def _content(file: DraftFile, copies: int, rng: Random, plan: _Plan) -> bytes:
    cells = [_numbered(cell.raw, 1000 * copy) for copy in range(copies) for cell in file.cells]
    sound, cells = cells, [_damaged(file, cell, rng, plan) if rng.random() < plan.rate else cell for cell in cells]
    plan.damaged = sum(one is not other for one, other in zip(sound, cells, strict=True))
    if rng.random() < 0.05:
        rng.shuffle(cells)
    if file.is_array or file.is_object:
        body = file.header.strip() + rng.choice((b"\n", b"", b"  ", b"\r\n")) + rng.choice(_BETWEEN).join(cells)
        body += rng.choice((b"\n", b"", b" ")) + file.closing
    else:
        end = rng.choice((b"\n",) * 6 + (b"\r\n", b"\r\n"))
        body = _header(file, rng) + b"".join(cell + _end(end, rng, plan) for cell in cells)
    return _around(body, rng)


def _numbered(record: bytes, more: int) -> bytes:
    """The record with other numbers in its ids and texts, the same ones in every file."""

    def other(found: re.Match[bytes]) -> bytes:
        text = found.group()
        return text[:-6] + b"%06x" % more if len(text) == 32 else b"%d" % (int(text) + more)

    return _NUMBER.sub(other, record) if more else record


def _damaged(file: DraftFile, record: bytes, rng: Random, plan: _Plan) -> bytes:
    if file.is_table:
        changed = damaged_cells(record, b",", rng)
        return changed if changed.count(b'"') % 2 == 0 or rng.random() < 0.05 else record
    if file.is_columns:
        return damaged_cells(record, file.kind.columns.separator.encode() or b" ", rng)
    if file.is_tagged:
        return damaged_element(record, rng)
    if not (file.is_array or file.is_object):
        return damaged_json(record, rng)
    changed = damaged_json(record, rng, 0.1)
    if _is_json(changed, file.is_object):
        return changed
    plan.faults -= 1
    return changed if plan.faults >= 0 else record


def _is_json(record: bytes, is_member: bool) -> bool:
    text = record.decode("utf-8", "replace")
    try:
        json.loads(f"{{{text}}}" if is_member else text)
    except (ValueError, RecursionError):
        return False
    return True


def _end(usual: bytes, rng: Random, plan: _Plan) -> bytes:
    if not plan.odd_ends or rng.random() > plan.rate / 4:
        return usual
    return rng.choice(ENDS) if rng.random() < 0.5 else usual + rng.choice(BLANKS) + usual


def _header(file: DraftFile, rng: Random) -> bytes:
    header = file.header
    if not header or rng.random() < 0.93:
        return header.rstrip(b"\n") + rng.choice((b"\n", b"\n", b"\n", b"\r\n")) if header else header
    separator = b"," if file.is_table else b"\t"
    names = header.rstrip(b"\n").split(separator)
    how = rng.randrange(5)
    if how == 0:
        rng.shuffle(names)
    elif how == 1:
        names.append(rng.choice((b"more", names[0], b"", b"Unnamed: 0")))
    elif how == 2:
        names = [b'"' + name + b'"' for name in names]
    elif how == 3:
        return damaged_cells(separator.join(names), separator, rng) + b"\n"
    else:
        names.pop(rng.randrange(len(names)))
    return separator.join(names) + b"\n"


def _around(data: bytes, rng: Random) -> bytes:
    """What may be wrong with a file at its beginning or its end."""
    if rng.random() < 0.06:
        data = (
            rng.choice((b"\xef\xbb\xbf", b"\xef\xbb\xbf", b"\n", b"\r\n", b" ", b"\xef\xbb\xbf\n", b"\0", b"#\n"))
            + data
        )
    if rng.random() < 0.15:
        data = data.rstrip(b"\r\n")
    elif rng.random() < 0.1:
        data += rng.choice(
            (b"\n", b" \n\n", b"\r\n", b"\r", b"\0", b"\x1a", b"{", b"]", b"x", b"\xef\xbb\xbf", b"\xff", b'"')
        )
    if rng.random() < 0.04:
        data = data[: rng.randrange(len(data) + 1)]
    return data


def _packed(data: bytes, rng: Random) -> bytes:
    """gzip data of one member or several, seldom damaged."""
    parts = [data]
    for _ in range(rng.choice((0, 0, 0, 1, 3))):
        at = rng.randrange(len(parts[-1]) + 1)
        parts[-1:] = [parts[-1][:at], parts[-1][at:]]
    packed = b"".join(gzip.compress(part, rng.choice((0, 1, 6)), mtime=0) for part in parts)
    if rng.random() > 0.05:
        return packed
    at = rng.randrange(len(packed))
    how = rng.randrange(4)
    if how == 0:
        return packed[:at]
    if how == 1:
        return packed[:at] + bytes([packed[at] ^ 1 << rng.randrange(8)]) + packed[at + 1 :]
    return packed + rng.choice((b"\0" * 20, b"x", b"\x1f\x8b", data[:50])) if how == 2 else data
