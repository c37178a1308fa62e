"""The files of release 1, as its own loader read them: triples line by line, and lists of names it looked up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ragdatakit.files.containers.beginnings import BOM
from ragdatakit.files.containers.lines import line_begin, line_ends
from ragdatakit.files.texts.codes import code_of
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.checks import FormatChecks, Needs

if TYPE_CHECKING:
    from ragdatakit.files.datasets import DataFile, Dataset
    from ragdatakit.validators.checks import Placed
    from ragdatakit.validators.csv_parts import CsvTable

KINDS = ("legacy-documents", "legacy-triples", "legacy-entities", "legacy-raw-questions", "legacy-questions")
NAME_LISTS = ("question_entities", "supporting_entities", "supporting_facts")
DELIMITER, FORKED_DELIMITER = ",", ",,"


@dataclass(frozen=True, slots=True)
class Triple:
    """One line of ``kg.txt`` that the loader keeps."""

    head: str
    relation: str
    tail: str


def split_line(line: str, delimiter: str) -> Triple | int:
    """The triple of a line, or the number of its parts where they are not three; the line is trimmed, parts are not."""
    parts = line.strip().split(delimiter)
    return Triple(*parts) if len(parts) == 3 else len(parts)


def lines_of(text: str) -> list[str]:
    """Lines as a file in text mode has them."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def delimiter_of(lines: Iterable[str]) -> str:
    """``,``, or the ``,,`` of a fork where most lines are only so three parts."""
    counts: Counter[str] = Counter()
    for line in lines:
        if not line.strip():
            continue
        counts["lines"] += 1
        as_read, as_forked = split_line(line, DELIMITER), split_line(line, FORKED_DELIMITER)
        if isinstance(as_forked, Triple) and not isinstance(as_read, Triple):
            counts["forked"] += 1
    return FORKED_DELIMITER if counts["forked"] * 2 > counts["lines"] else DELIMITER


class TripleLines:
    """Reads the lines of one ``kg.txt``; ``entities`` are all heads and tails."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.delimiter = delimiter_of(lines)
        self.entities: set[str] = set()
        self._seen: set[int] = set()
        self._wrong: dict[int, dict[str, Any]] = {}

    def problems(self) -> Iterator[Problem]:
        """The faults of every line; blank ones hold nothing that could be lost."""
        for number, line in enumerate(self.lines, 1):
            if not line.strip():
                continue
            triple = split_line(line, self.delimiter)
            if isinstance(triple, int):
                facts = self._wrong.setdefault(triple, {"parts": triple})
                yield Problem("triple-not-three", None, line.strip(), facts, line=number)
                continue
            self.entities.update((triple.head, triple.tail))
            if self.delimiter == FORKED_DELIMITER:
                yield Problem("double-comma-delimiter", None, line.strip(), line=number)
            yield from _part_problems(triple, line, number)
            code = code_of(line.strip())
            if code in self._seen:
                yield Problem("repeated-triple", None, line.strip(), line=number)
            self._seen.add(code)


def _part_problems(triple: Triple, line: str, number: int) -> Iterator[Problem]:
    for part in (triple.head, triple.relation, triple.tail):
        if part != part.strip():
            yield Problem("untrimmed-part", None, part, position=line.find(part), length=len(part), line=number)
            break
    if not (triple.head and triple.relation and triple.tail):
        yield Problem("empty-part", None, line.strip(), line=number)


def decode(data: bytes) -> tuple[str, Problem | None]:
    """The text of a file, and what is wrong with its bytes."""
    try:
        return data.decode("utf-8"), None
    except UnicodeDecodeError as error:
        line = line_ends(data[: error.start]) + 1
        begin = line_begin(data, error.start)
        position = len(data[begin : error.start].decode("utf-8", "replace"))
        facts = {"byte": data[error.start]}
        problem = Problem("invalid-utf8", facts=facts, position=position, length=1, line=line)
        return data.decode("utf-8", "replace"), problem


def listed(names: Any) -> Iterator[Any] | None:
    """What the loader looks up one by one; None where it raises. A text gives its letters, an object its keys."""
    if not isinstance(names, list | str | dict):
        return None
    if isinstance(names, list) and any(isinstance(n, list | dict) for n in names):
        return None
    return iter(names)


class LegacyChecks(FormatChecks):
    """The files of release 1 of one dataset."""

    def __init__(self, dataset: Dataset, profiles: tuple[str, ...]) -> None:
        super().__init__(dataset, profiles)
        self._entities: set[str] | None = None
        self._titles: set[str] | None = None
        self._kept = 0
        self._samples = 0
        self._raises = False

    def needs(self, kind: str, split: str | None = None) -> Needs:
        """Lists of names are looked up."""
        return Needs(records=kind in ("legacy-entities", "legacy-questions"))

    def text(self, file: DataFile, data: bytes) -> Iterable[Problem]:
        """The triples."""
        if data.startswith(BOM):
            yield Problem("byte-order-mark", line=1, position=0)
        text, damage = decode(data)
        if damage is not None:
            file.readable = False
            yield damage
            return
        triples = TripleLines(lines_of(text))
        yield from triples.problems()
        self._entities = triples.entities
        file.records = sum(1 for line in triples.lines if line.strip())

    def start_file(self, file: DataFile) -> None:
        """The titles of one more file come."""
        if file.kind == "legacy-entities":
            self._titles = self._titles or set()

    def record(self, file: DataFile, value: Any) -> Iterable[Problem]:
        """The faults of one document's entities, or of one question."""
        if not isinstance(value, dict):
            return ()
        return self._document(value) if file.kind == "legacy-entities" else self._question(value)

    def _document(self, value: dict[str, Any]) -> Iterator[Problem]:
        title, names = value.get("title"), value.get("entities")
        if isinstance(title, str):
            if self._titles is not None:
                self._titles.add(title)
            if self._entities is not None and title in self._entities:
                yield Problem("title-is-entity", "/title", title)
        if isinstance(names, str):
            if names:
                yield Problem("entities-is-text", "/entities", names)
        elif isinstance(names, list | dict) and listed(names) is not None:
            yield from self._unknown_entities(names)
        else:
            self._raises = True
            if names is not None and not isinstance(names, list):  # null and items are found by the declaration
                yield Problem("entities-not-list", "/entities", names)

    def _unknown_entities(self, names: Iterable[Any]) -> Iterator[Problem]:
        if self._entities is None:
            return
        for i, name in enumerate(names):
            if isinstance(name, str) and name not in self._entities:
                yield Problem(
                    "unknown-document-entity", f"/entities/{i}" if isinstance(names, list) else "/entities", name
                )

    def _question(self, value: dict[str, Any]) -> Iterator[Problem]:
        self._samples += 1
        kept = True
        for field in NAME_LISTS:
            if field not in value:
                self._raises, kept = True, False
                continue
            names = listed(value[field])
            if names is None:
                self._raises, kept = True, False
                continue
            vocabulary = self._titles if field == "supporting_facts" else self._entities
            if vocabulary is not None and not any(name in vocabulary for name in names):
                kept = False
                yield Problem("legacy-sample-skipped", f"/{field}", value[field], {"list": field})
        self._kept += kept

    def finish_file(self, file: DataFile, records: int, table: CsvTable | None = None) -> Iterable[Placed]:
        """Nothing is missing from titles that could not all be read."""
        if file.kind == "legacy-entities" and not file.readable:
            self._titles = None
        return ()

    def finish(self) -> Iterator[Placed]:
        """Release 1 could not do without a usable sample."""
        triples = self.dataset.of_kind("legacy-triples")
        files = self.dataset.of_kind("legacy-questions")
        if not triples or self._raises or self._kept or self.dataset.layout == "file":
            return
        if self._entities is None or not all(f.readable for f in (*files, *self.dataset.of_kind("legacy-entities"))):
            return
        yield (files or triples)[-1], Problem("no-usable-legacy-sample", facts={"samples": self._samples})
