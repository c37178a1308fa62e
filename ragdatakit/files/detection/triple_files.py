"""Files of triples, as knowledge graphs are published: head, relation and tail of an edge on each line, between tabs.

Nothing in such a file says what it is, and three cells on a line may be much else: judgements, training triplets, texts
with id and title. So a file is taken for triples only where its columns are called so, or where the lines at its
beginning prove it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ragdatakit.files.containers.beginnings import HEAD_BYTES
from ragdatakit.files.paths.boundary import ANYWHERE, Boundary
from ragdatakit.files.paths.folders import is_regular
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.late_patterns import late_pattern

TRIPLE_SUFFIXES = tuple(f"{suffix}{packed}" for suffix in (".txt", ".tsv", ".csv") for packed in ("", ".gz"))
SOURCES = ("source", "head", "subject", "h")
RELATIONS = ("relation", "predicate", "r")
TARGETS = ("target", "tail", "object", "t")
"""What the columns of an edge are called. The n-th source and the n-th target go together."""
_FIRST_BYTES = 1 << 12
_FEWEST_LINES = 3
_LONGEST_RELATION = 200
_LONGEST_NAMES = 100
"""In characters, in the mean: beyond that they are texts."""
_LEAST_COMMON = 3
"""Per cent of the heads or tails. Real graphs have more of them in a mebibyte."""
_MOST_NUMBERS = 0.9
_NUMBER = late_pattern(r"[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?")
_LINE_END = late_pattern(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class TripleHead:
    """What the beginning of a file of triples shows: whether the first line names the columns, and the relations."""

    header: bool
    relations: frozenset[str]
    proved: bool
    numbers: bool


def triple_columns(names: Iterable[str]) -> list[tuple[str, str, str]]:
    """The columns that are source, relation and target of an edge by their usual names, in any case.

    Empty where there are none; several where it is not clear which ones are meant.
    """
    known = {name.lower(): name for name in reversed(list(names))}
    found = []
    for source, target in zip(SOURCES, TARGETS, strict=True):
        relations = [r for r in RELATIONS if r in known and (r != "r" or source == "h")]
        if source in known and target in known:
            found += [(known[source], known[relation], known[target]) for relation in relations]
    return found


def triple_files(paths: Iterable[Path], boundary: Boundary = ANYWHERE) -> dict[Path, TripleHead]:
    """The files of triples among these, recognised by their beginnings.

    A file that proves nothing by itself, such as one of two lines, is one beside a proved one of its folder whose
    relations it has.
    """
    heads = {path: head for path in paths if (head := read_triple_head(path, boundary)) is not None}
    known: dict[Path, set[str]] = {}
    for path, head in heads.items():
        if head.proved:
            known.setdefault(path.parent, set()).update(head.relations)

    def belongs(path: Path, head: TripleHead) -> bool:
        shared = head.relations & known.get(path.parent, set())
        return not head.numbers and 2 * len(shared) > len(head.relations)

    return {path: head for path, head in heads.items() if head.proved or belongs(path, head)}


def read_triple_head(path: Path, boundary: Boundary = ANYWHERE) -> TripleHead | None:
    """What the beginning of a file says where each line of it has three cells between tabs; None where not so."""
    if not path.name.lower().endswith(TRIPLE_SUFFIXES) or not is_regular(path, boundary):
        return None
    from ragdatakit.files.detection.sniffing import LONG_HEAD_BYTES, beginning

    found = None
    for length in (_FIRST_BYTES, HEAD_BYTES, LONG_HEAD_BYTES):
        data, more = beginning(path, length, boundary)
        rows = _rows(data, more)
        if rows is None:
            return None
        found = _judged(rows) if rows else None
        if not more or (found is not None and found.proved and length > _FIRST_BYTES):
            break
    return found


def _rows(data: bytes, more: bool) -> list[list[str]] | None:
    """The cells of the whole lines; None where one has not three, or one that is empty."""
    text = data.decode("utf-8", "replace")
    lines = _LINE_END.split(text)
    if more:
        lines.pop()
    rows = [line.split("\t") for line in lines if line.strip()]
    if any(len(row) != 3 or not all(cell.strip() for cell in row) for row in rows):
        return None
    return rows


def _judged(rows: Sequence[Sequence[str]]) -> TripleHead | None:
    if len(named := triple_columns(rows[0])) == 1:
        place = rows[0].index(named[0][1])
        return TripleHead(True, frozenset(row[place] for row in rows[1:]), proved=True, numbers=False)
    heads, relations, tails = ({row[place] for row in rows} for place in range(3))
    numeric = [sum(_NUMBER.fullmatch(row[place].strip()) is not None for row in rows) for place in (1, 2)]
    numbers = any(count >= _MOST_NUMBERS * len(rows) - 1 and count > 0 for count in numeric)
    common = len(heads & tails)
    proved = (
        len(rows) >= _FEWEST_LINES
        # Grades are numbers, and so are ids of triplets, which a relation cannot be distinguished from.
        and not numbers
        and 2 * len(relations) <= len(rows)
        and max(map(len, relations)) <= _LONGEST_RELATION
        # An entity is what edges lead from and to: ids and texts, questions and passages have nothing in common.
        and common > 0
        and 100 * common >= _LEAST_COMMON * min(len(heads), len(tails))
        and sum(map(len, heads)) + sum(map(len, tails)) <= _LONGEST_NAMES * (len(heads) + len(tails))
        # Of triplets out of one corpus the second is such a thing as the first and the third.
        and 10 * len(relations & (heads | tails)) <= len(relations)
    )
    return TripleHead(False, frozenset(relations), proved, numbers)
