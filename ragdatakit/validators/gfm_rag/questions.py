"""What the loaders make of the processed questions: which nodes they find, which samples are left, what they skip."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

import orjson

from ragdatakit.arrays.small_graphs import Graph, PlainGraph
from ragdatakit.files.containers import strict_json
from ragdatakit.files.texts.codes import code_of
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.declarations import INT64_MAX, INT64_MIN
from ragdatakit.schemas.findings import Problem
from ragdatakit.schemas.texts import some_of
from ragdatakit.validators.checks import FormatChecks, Needs
from ragdatakit.validators.excerpts import show
from ragdatakit.validators.row_problems import RowProblems

if TYPE_CHECKING:
    from ragdatakit.files.datasets import DataFile, Dataset
    from ragdatakit.validators.checks import Placed
    from ragdatakit.validators.csv_parts import CsvTable

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

MASK_BYTES_PER_CELL = 16
"""On disk, per node and sample: two masks of eight bytes."""

LARGE_MASKS = 1_000_000_000
"""Bytes of masks above which they are worth a warning."""

TARGET_TYPES = {"document": "no-document-target", "entity": "no-entity-target"}
"""The node types for which a trainer wants a target in every sample, and the rule that says so."""

SIDES = ("start_nodes", "target_nodes")
NAMES_SHOWN = 3

Listed = tuple[str, str, Any]
"""Type key, JSON Pointer of the name, the name."""

Question = tuple[int, list[int], list[int]]
"""Row, start nodes, target nodes."""

QUESTIONS_AT_ONCE = 1 << 14

LOOKED_THROUGH = 1 << 26
"""Bytes of a file of questions up to which its names are collected before it is read."""


def _names_in(file: DataFile) -> list[str]:
    """The names that a file of questions asks for, each once, also letters of texts and keys of objects in the place of
    lists; none where it is too large to be looked through first."""
    try:
        small = file.path.stat().st_size < LOOKED_THROUGH
        samples = orjson.loads(file.boundary.read_bytes(file.path)) if small else []
    except (OSError, orjson.JSONDecodeError):
        return []
    names: dict[Any, None] = {}
    for sample in samples if isinstance(samples, list) else ():
        if isinstance(sample, dict):
            lists = [sample.get("supporting_documents")]
            lists += [n for side in SIDES if isinstance(sample.get(side), dict) for n in sample[side].values()]
            walked = (found for found in lists if isinstance(found, list | str | dict))
            names.update(dict.fromkeys(n for found in walked for n in found if type(n) is str))
    return list(names)


class Tables(Protocol):
    """What the questions ask of the tables, once these are read."""

    @property
    def usable(self) -> bool:
        """Whether the nodes could be read, so that names can be looked up."""

    @property
    def types(self) -> Mapping[str, int]:
        """How many nodes each type has."""

    def expect(self, names: list[str]) -> None:
        """These names will be asked for."""

    def node(self, name: str) -> tuple[int, str] | None:
        """Number and type of the node that the loader's index has under this name."""

    def graph(self) -> Graph:
        """The graph that messages run through."""


class NoTables:
    """The tables of a dataset without them: it is not known what is a node."""

    usable = False
    types: Mapping[str, int] = MappingProxyType({})

    def expect(self, names: list[str]) -> None:
        """Nothing to look up."""

    def node(self, name: str) -> tuple[int, str] | None:
        """No node is known."""
        return None

    def graph(self) -> Graph:
        """A graph without nodes."""
        return PlainGraph(0, [], [])


class Asked:
    """Start and target nodes of many questions, as numbers, without a Python object each.

    Iterates as ``(row, starts, targets)``.
    """

    def __init__(self) -> None:
        self._rows = array("q")
        self._nodes = array("i")
        self._splits = array("q")  # per question: end of its starts, end of its targets

    def add(self, row: int, starts: Iterable[int], targets: Iterable[int]) -> None:
        """One question more."""
        self._rows.append(row)
        for nodes in (starts, targets):
            self._nodes.extend(nodes)
            self._splits.append(len(self._nodes))

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Question]:
        begin = 0
        for i, row in enumerate(self._rows):
            middle, end = self._splits[2 * i], self._splits[2 * i + 1]
            yield row, self._nodes[begin:middle].tolist(), self._nodes[middle:end].tolist()
            begin = end


@dataclass(slots=True)
class Resolved:
    """The nodes of one side (start or target) of a sample.

    ``known`` are distinct node numbers in order with their types, ``names`` their names; ``unknown`` names are no node;
    ``misplaced`` those under another type key, with the node's type; ``raises``: the loader ends there.
    """

    known: dict[int, str] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    unknown: list[Listed] = field(default_factory=list)
    misplaced: list[tuple[Listed, str]] = field(default_factory=list)
    raises: bool = False


def listed_names(nodes: Any, where: str) -> Iterator[Listed]:
    """Every name that the loader looks up in ``start_nodes`` or ``target_nodes``, as it walks through them.

    A text is walked through letter by letter, an object by its keys; what cannot be walked through gives nothing.
    """
    if not isinstance(nodes, dict):
        return
    for key, names in nodes.items():
        pointer = f"/{where}/{strict_json.escape(key)}"
        if isinstance(names, list):
            for i, name in enumerate(names):
                yield key, f"{pointer}/{i}", name
        elif isinstance(names, str | dict):
            for name in names:
                yield key, pointer, name


def resolve(nodes: Any, where: str, tables: Tables) -> Resolved:
    """The nodes that the loader finds under these names."""
    found = Resolved(raises=walk_fails(nodes))
    for entry in listed_names(nodes, where):
        key, _, name = entry
        node = tables.node(name) if isinstance(name, str) else None
        if node is None:
            found.unknown.append(entry)
            continue
        number, kind = node
        if number not in found.known:
            found.known[number] = kind
            found.names.append(name)
        if kind != key:
            found.misplaced.append((entry, kind))
    return found


def walk_fails(nodes: Any) -> bool:
    """Whether the loader raises on the way through ``start_nodes`` or ``target_nodes``."""
    if not isinstance(nodes, dict):
        return True
    for names in nodes.values():
        if not isinstance(names, list | str | dict):
            return True
        if isinstance(names, list) and any(isinstance(n, list | dict) for n in names):
            return True
    return False


def shape_problems(value: dict[str, Any]) -> Iterator[Problem]:
    """Faults in the form of the node lists that the declaration does not say."""
    for where in SIDES:
        nodes = value.get(where)
        for key, names in nodes.items() if isinstance(nodes, dict) else ():
            pointer, shown_field = f"/{where}/{strict_json.escape(key)}", f"{where}.{key}"
            if isinstance(names, str):
                if names:
                    yield Problem("node-list-is-text", pointer, names, {"type": key, "field": shown_field})
            elif isinstance(names, list):
                for i, name in enumerate(names):
                    if not isinstance(name, str):
                        yield Problem("node-name-not-text", f"{pointer}/{i}", name, {"field": f"{shown_field}[{i}]"})
            elif not isinstance(names, dict):  # the keys of an object are taken as names
                yield Problem("node-list-not-list", pointer, names, {"type": key, "field": shown_field})


def id_kind(value: Any) -> str:
    """What kind of column an id makes; ``""`` for what is reported for itself, or goes with any."""
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int):
        return "an integer"
    return "text" if isinstance(value, str) else ""


def id_key(value: Any) -> str | None:
    """An id as a key; None where it cannot be one (it is reported for that)."""
    return str(value) if isinstance(value, str | int) else None


def id_problems(value: dict[str, Any]) -> Iterator[Problem]:
    """Ids that the loader cannot keep as they are; null is found by the declaration."""
    found = value.get("id")
    if isinstance(found, float):
        yield Problem("question-id-decimal", "/id", found)
    elif isinstance(found, int):
        if not INT64_MIN <= found <= INT64_MAX:
            yield Problem("question-id-too-big", "/id", found)
    elif isinstance(found, str):
        if not found.isascii() and (lone := _LONE_SURROGATE.search(found)):
            yield Problem("question-id-surrogate", "/id", found, {"surrogate": f"\\u{ord(lone.group()):04x}"})
    elif found is not None:
        yield Problem("question-id-other", "/id", found)


def evaluation_problems(value: dict[str, Any]) -> Iterator[Problem]:
    """Fields that the loaders do without, and that answering or its evaluation wants."""
    if "answer" not in value:
        yield Problem("missing-answer", "")
    missing = [name for name in ("supporting_documents", "answer_aliases") if name not in value]
    if missing:
        yield Problem("missing-evaluation-field", "", facts={"field": " and no ".join(missing)})


def in_words(names: Sequence[Any]) -> str:
    """The first few names, and how many more there are; only texts, each once."""
    distinct = list(dict.fromkeys(n for n in names if isinstance(n, str)))
    return some_of(map(show, distinct), NAMES_SHOWN) or "none is listed"


class QuestionChecks(FormatChecks):
    """The processed questions of one dataset, against its graph."""

    def __init__(self, dataset: Dataset, profiles: tuple[str, ...], tables: Tables) -> None:
        super().__init__(dataset, profiles)
        self._tables = tables
        self._file: DataFile | None = None
        self._earlier: dict[int, int] = {}
        self._here: dict[int, int] = {}
        self._id_kind = ""
        self._first_id = (0, "")
        self._file_row = 0
        self._kept: dict[str, int] = {}
        self._raises = False
        self._asked = Asked()
        self._names_known: bool | None = None
        # by the address of a sample, which is kept alive next to it until `batch` has seen it
        self._looked_up: dict[int, tuple[Any, tuple[Resolved, Resolved]]] = {}

    @property
    def _usable(self) -> bool:
        """Whether names can be looked up: of nodes that were read in part, none can be said to be missing."""
        if self._names_known is None:  # the nodes are read before any question
            self._names_known = self._tables.usable and all(f.to_end for f in self.dataset.of_kind("nodes"))
        return self._names_known

    def _whole(self, *kinds: str) -> bool:
        return all(file.readable for kind in kinds for file in self.dataset.of_kind(kind))

    def needs(self, kind: str, split: str | None = None) -> Needs:
        """Each question has names to look up; what depends on the samples before is found batch by batch.

        What an empty list means is known at the end only, when all files were read. The nodes are in the memory of who
        read the tables: questions are judged there, too, and not in ranges.
        """
        return Needs(records=True, columns=("@id",), values=True, may_be_empty=True)

    def record(self, file: DataFile, value: Any) -> Iterable[Problem]:
        """The faults of one sample."""
        if not isinstance(value, dict):
            return
        yield from shape_problems(value)
        yield from id_problems(value)
        yield from evaluation_problems(value)
        if self._usable:
            yield from self._node_problems(value)

    def _node_problems(self, value: dict[str, Any]) -> Iterator[Problem]:
        sides = self._sides(value)
        self._looked_up[id(value)] = (value, sides)
        kept = True
        for where, side in zip(SIDES, sides, strict=True):
            if side.raises:
                kept = False
                continue
            word = where.removesuffix("_nodes")
            if not side.known:
                kept = False
                names = [n for v in value[where].values() for n in ([v] if isinstance(v, str) else v)]
                yield Problem(f"no-known-{word}-node", f"/{where}", None, {"names": in_words(names)})
            else:
                yield from (
                    Problem(f"unknown-{word}-node", pointer, name)
                    for key, pointer, name in side.unknown
                    if isinstance(name, str) and not isinstance(value[where][key], str)
                )
            yield from (
                Problem("node-under-other-type", pointer, name, {"type": key, "found": kind})
                for (key, pointer, name), kind in side.misplaced
                if not isinstance(value[where][key], str)
            )
        if kept:
            yield from self._missing_types(sides[1])

    def _sides(self, value: dict[str, Any]) -> tuple[Resolved, Resolved]:
        start, target = (resolve(value.get(where), where, self._tables) for where in SIDES)
        return start, target

    def _missing_types(self, targets: Resolved) -> Iterator[Problem]:
        there = set(targets.known.values())
        for wanted, rule in TARGET_TYPES.items():
            if wanted not in there and wanted in self._tables.types:
                yield Problem(rule, "/target_nodes")

    def derive(self, kind: str, value: Any, to_show: bool = False) -> dict[str, str | None]:
        """``@id``: the id as a key of its kind."""
        return {"@id": id_key(value.get("id")) if isinstance(value, dict) else None}

    def start_file(self, file: DataFile) -> None:
        """Questions of the files before are compared with those of this one."""
        if self._tables.usable:
            self._tables.expect(_names_in(file))
        self._file = file
        self._earlier.update((text, row) for text, row in self._here.items() if text not in self._earlier)
        self._here = {}

    def batch(
        self, kind: str, split: str | None, values: list[Any] | None, batch: Any, sets: Any
    ) -> Iterable[RowProblems]:
        """Ids of several kinds, questions that are in two files; and what the end needs to know."""
        mixed: list[int] = []
        kinds: list[dict[str, str]] = []
        leaked: list[int] = []
        firsts: list[int] = []
        for row, value in enumerate(values or (), batch.first_row):
            if not isinstance(value, dict):
                self._raises = True
                continue
            if self._keep(row, value):
                found = id_kind(value.get("id"))
                if found and not self._id_kind:
                    self._id_kind, self._first_id = found, (row, self._place(row))
                elif found and found != self._id_kind:
                    mixed.append(row)
                    kinds.append({"kind": found, "other": self._id_kind, "first": self._first_id[1]})
            first = self._asked_before(row, value.get("question"))
            if first is not None:
                leaked.append(row)
                firsts.append(first)
        if any(side.unknown or not (side.known or side.raises) for _, s in self._looked_up.values() for side in s):
            sets.missed.add("nodes")
        self._looked_up = {}
        begin = [self._first_id[0]] * len(mixed)
        yield RowProblems("mixed-question-ids", kind, "id", mixed, None, begin, kind, "the first id", kinds)
        yield RowProblems("question-in-train-and-test", kind, "question", leaked, None, firsts, kind, "also asked here")

    def _place(self, row: int) -> str:
        name = self._file.name.rsplit("/", 1)[-1] if self._file is not None else "this file"
        return f"{name}, sample {row - self._file_row + 1:,}"

    def _keep(self, row: int, value: dict[str, Any]) -> bool:
        """Whether the loader keeps the sample (as far as can be said); remembers its nodes."""
        self._raises = self._raises or "id" not in value
        if self._usable:
            _, (start, target) = self._looked_up.get(id(value)) or (value, self._sides(value))
            self._raises = self._raises or start.raises or target.raises
            if not start.known or not target.known:
                return False
            self._asked.add(row, start.known, target.known)
        elif walk_fails(value.get("start_nodes")) or walk_fails(value.get("target_nodes")):
            self._raises = True
        self._raises = self._raises or "question" not in value  # which is not read of a sample that is skipped
        if self._file is not None:
            self._kept[self._file.display] = self._kept.get(self._file.display, 0) + 1
        return True

    def _asked_before(self, row: int, question: Any) -> int | None:
        """The row of an earlier file that asks the same."""
        if not isinstance(question, str) or not question or question.isspace():
            return None
        text = code_of(question)
        self._here.setdefault(text, row)
        return self._earlier.get(text)

    def finish_file(self, file: DataFile, records: int, table: CsvTable | None = None) -> Iterable[Placed]:
        """Rows are counted over the files of a kind."""
        self._file_row += records
        return ()

    def finish(self) -> Iterator[Placed | RowProblems]:
        """Targets out of reach; how many samples are left, and how large their masks will be."""
        yield from self._out_of_reach()
        yield from self._left()

    def _out_of_reach(self) -> Iterator[RowProblems]:
        """Questions with targets that no walk within the limit leads to."""
        if not self._usable or not self._whole("nodes", "relations", "edges") or not self._tables.graph().usable():
            return
        graph = self._tables.graph()
        hops = int(self.dataset.options.get("max_hops", 3))
        asked = iter(self._asked)
        while questions := list(islice(asked, QUESTIONS_AT_ONCE)):
            found: dict[str, tuple[list[int], list[dict[str, Any]]]] = {}
            _, starts, targets_of = zip(*questions, strict=True)
            out_of_reach = graph.unreachable(starts, targets_of, hops)
            for (row, _, targets), missed in zip(questions, out_of_reach, strict=True):
                if not missed:
                    continue
                rule = "unreachable-targets" if len(missed) == len(targets) else "partly-unreachable-targets"
                rows, facts = found.setdefault(rule, ([], []))
                rows.append(row)
                facts.append({"hops": hops, "start": self._start_names, "targets": self._names_at(missed)})
            for rule, (rows, facts) in found.items():
                yield RowProblems(rule, "questions", "target_nodes", rows, facts=facts)

    def _start_names(self, value: Any) -> str:
        return in_words(resolve(value.get("start_nodes"), "", self._tables).names if isinstance(value, dict) else ())

    def _names_at(self, positions: Sequence[int]) -> Callable[[Any], str]:
        """The names of some known targets of a sample, once it is read again."""

        def name(value: Any) -> str:
            names = resolve(value.get("target_nodes"), "", self._tables).names if isinstance(value, dict) else []
            return in_words([names[i] for i in positions if i < len(names)])

        return name

    def _left(self) -> Iterator[Placed]:
        """How many samples are left, and how large their masks will be."""
        files = self.dataset.of_kind("questions")
        if not files or self._raises or not all(f.readable and f.records is not None for f in files):
            return
        kept = sum(self._kept.values())
        if kept == 0:
            yield files[-1], Problem("no-usable-sample", facts={"samples": sum(f.records or 0 for f in files)})
            return
        for file in files:
            if not self._kept.get(file.display):
                yield file, Problem("empty-split", facts={"samples": file.records or 0})
        nodes = sum(self._tables.types.values()) if self._usable else 0
        size = MASK_BYTES_PER_CELL * nodes * kept
        if size > LARGE_MASKS:
            facts = {"bytes": f"{size / 1e9:,.1f} GB", "nodes": nodes, "samples": kept}
            yield files[-1], Problem("large-masks", facts=facts)
