"""What the columns of a table mean: given as ``text=body,id=doc_id,metadata=lang+year``, or recognised by usual
names."""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from fnmatch import fnmatchcase

from ragdatakit.converters.usual_names import (
    EDGE,
    OF_OTHERS,
    OF_QUESTION,
    USUAL_NAMES,
    Columned,
    are_one,
    usual_columns,
)
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.errors import RagdataError

TARGETS: dict[str, str] = {
    "text": "a document's text",
    "id": "a document's id",
    "title": "a document's title",
    "question": "a question",
    "question_id": "a question's id",
    "answer": "the gold answer (of a JSON list the first one, the others are further right answers)",
    "aliases": "further right answers",
    "split": "which split a question or judgement is of",
    "doc_id": "the id of the document that answers the question (of a list, or of several columns, each one is)",
    "grade": "how well it does (an integer)",
    "source": "the node from which an edge leads",
    "relation": "the relation of an edge",
    "target": "the node to which an edge leads",
    "metadata": "columns to pass on as metadata, of an edge as attributes; * (all others) unless given",
}
_SEVERAL = ("metadata", "aliases", "doc_id")
_MOST_SHOWN = 5
_LIKE_AN_ID = re.compile(r"(?:^|[^A-Za-z])(?:id|ID|Id)$|[a-z]I[dD]$")
_OF_DOCUMENTS = re.compile(r"doc|passage|chunk|corpus|segment", re.I)
_GOLD = re.compile(r"(?:^|[^a-z])(?:gold|pos|positives?|relevant|evidence)(?:[^a-z]|$)", re.I)
_GOLD_ID = re.compile(r"^(?:doc|document|passage|chunk)[_-]?ids?[_-]?[0-9]+$", re.I)
_PIECE = re.compile(r'"((?:[^"]|"")*)"|([^",=+:]+)|([,=+:])')


@dataclass(frozen=True, slots=True)
class ColumnMap:
    """Which column of one file is what; ``metadata`` None: all that are nothing else. ``more_gold`` are the columns of
    documents that answer the question, behind the first."""

    columns: Mapping[str, str] = field(default_factory=dict)
    aliases: tuple[str, ...] = ()
    metadata: tuple[str, ...] | None = None
    more_gold: tuple[str, ...] = ()

    @property
    def documents(self) -> bool:
        """Whether a row has a document."""
        return "text" in self.columns

    @property
    def questions(self) -> bool:
        """Whether a row has a question."""
        return "question" in self.columns

    @property
    def qrels(self) -> bool:
        """Whether a row says that a document answers a question: because it has both, or by the document's id."""
        if self.questions:
            return self.documents or "doc_id" in self.columns
        return {"question_id", "doc_id"} <= self.columns.keys()

    @property
    def paired(self) -> bool:
        """Whether the question and the document of a row belong together, and no id names another one."""
        return self.documents and self.questions and not {"id", "doc_id"} <= self.columns.keys()

    @property
    def edges(self) -> bool:
        """Whether a row has an edge."""
        return self.columns.keys() >= set(EDGE)

    def usable(self) -> ColumnMap:
        """The same without what a row has no place for: such columns are passed on as any other."""
        wanted = {"text", "id", "title"} if self.documents else set()
        if self.documents and "id" not in self.columns:
            wanted.add("doc_id")
        if self.questions:
            wanted |= {"question", "question_id", "answer", "split"}
        if self.qrels:
            wanted |= {"question_id", "doc_id", "grade", "split"}
        if self.edges:
            wanted |= {*EDGE, "split"}
        columns = {target: column for target, column in self.columns.items() if target in wanted}
        gold = self.more_gold if "doc_id" in columns and self.qrels else ()
        return ColumnMap(columns, self.aliases if self.questions else (), self.metadata, gold)

    def used(self) -> set[str]:
        """The columns that mean something."""
        return {*self.columns.values(), *self.aliases, *self.more_gold}


@dataclass(frozen=True, slots=True)
class _Item:
    """``[FILE:]target=column[+column…]``."""

    target: str
    columns: tuple[str, ...]
    file: str = ""

    def concerns(self, file: Columned) -> bool:
        """Whether the item is of this file: by its path, its name, or its name without endings; where it begins with a
        slash, by its path alone."""
        if self.file.startswith("/"):
            return self.file == f"/{file.name}"
        base = file.name.rsplit("/", 1)[-1]
        return not self.file or any(fnmatchcase(n, self.file) for n in (file.name, base)) or self.file == file.stem


def map_columns(files: Sequence[Columned], text: str) -> list[ColumnMap | None]:
    """The map of each file; None for one that holds nothing that was asked for.

    Raises `RagdataError` where the text is no map, names a column that no file has, or, without one, the names of the
    columns do not say what they are.
    """
    found = _given(files, parse(text)) if text.strip() else guess_columns(files)
    if any(found):
        return found
    why = "the columns cannot be recognised"
    if text.strip():
        why = f"--map {text}: no text, question or edge is mapped; with --map nothing is auto-detected"
    raise RagdataError(f"{why}; {_advice(files, files)}")


def guess_columns(files: Sequence[Columned]) -> list[ColumnMap | None]:
    """The map of each file that the names of its columns show; None where they say nothing.

    Raises `RagdataError` where several columns may be meant.
    """
    return [_guessed(file, files) for file in files]


def maps_edges(text: str) -> bool:
    """Whether a map says which columns are those of edges. Raises `RagdataError` where the text is no map."""
    return any(item.target in EDGE for item in parse(text))


def named_files(text: str) -> set[str] | None:
    """The paths of the only files that a map reads: one all of whose items begin with such a path; None: any. Raises
    `RagdataError` where the text is no map."""
    items = parse(text)
    return {item.file[1:] for item in items} if items and all(item.file.startswith("/") for item in items) else None


def parse(text: str) -> list[_Item]:
    """The items of a map. Raises `RagdataError`."""
    return [_item(pieces, text) for pieces in _split(_pieces(text), ",") if pieces]


_Pieces = list[tuple[str, bool]]
"""Texts, and whether each is one of the signs ``, = + :``."""


def _pieces(text: str) -> _Pieces:
    found: _Pieces = []
    at = 0
    while at < len(text):
        match = _PIECE.match(text, at)
        if match is None:
            raise RagdataError(f"--map {text}: a quote is not closed")
        quoted, bare, sign = match.groups()
        if quoted is not None:
            found.append((quoted.replace('""', '"'), False))
        elif bare is None or bare.strip():
            found.append((sign or bare.strip(), bare is None))
        at = match.end()
    return found


def _split(pieces: _Pieces, sign: str) -> list[_Pieces]:
    parts: _Pieces = []
    found = [parts]
    for piece in pieces:
        if piece == (sign, True):
            parts = []
            found.append(parts)
        else:
            parts.append(piece)
    return found


def _item(pieces: _Pieces, text: str) -> _Item:
    if ("=", True) not in pieces:
        raise RagdataError(f"--map {text}: expected target=column, got {_joined(pieces)!r}")
    equals = pieces.index(("=", True))
    head, columns = pieces[:equals], [_joined(part) for part in _split(pieces[equals + 1 :], "+") if part]
    colon = max((i for i, piece in enumerate(head) if piece == (":", True)), default=-1)
    target, file = _joined(head[colon + 1 :]).lower().replace("-", "_"), _joined(head[: max(colon, 0)])
    if target not in TARGETS:
        near = [f"{columns[0]}={target}"] if columns and columns[0] in TARGETS else []
        near = near or difflib.get_close_matches(target, TARGETS, n=1)
        advice = f", did you mean {near[0]}?" if near else f"; known: {', '.join(TARGETS)}"
        raise RagdataError(f"--map {text}: unknown target {target!r}{advice}")
    if target not in _SEVERAL and len(columns) != 1:
        raise RagdataError(
            f"--map {text}: {target} takes one column ({', '.join(_SEVERAL[:-1])} and {_SEVERAL[-1]} take several); "
            'a name with + in it is quoted: "a+b"'
        )
    return _Item(target, tuple(columns), file)


def _joined(pieces: Iterable[tuple[str, bool]]) -> str:
    return "".join(piece for piece, _ in pieces)


def _given(files: Sequence[Columned], items: Sequence[_Item]) -> list[ColumnMap | None]:
    found: list[ColumnMap | None] = []
    missing = {(item, column) for item in items for column in item.columns if column != "*"}
    for file in files:
        columns: dict[str, str] = {}
        aliases: list[str] = []
        more_gold: list[str] = []
        metadata: tuple[str, ...] | None = None
        names = set(file.column_names())
        for item in items:
            present = [c for c in item.columns if c in names]
            if not item.concerns(file):
                continue
            missing -= {(item, c) for c in present}
            if item.target == "metadata":
                metadata = None if "*" in item.columns else (*(metadata or ()), *present)
            elif item.target == "aliases":
                aliases += present
            elif item.target == "doc_id" and present:
                more_gold += present[1:] if "doc_id" not in columns else present
                columns.setdefault("doc_id", present[0])
            elif present:
                _refuse_second(columns, item, file)
                columns[item.target] = present[0]
        if "question" in columns and "text" not in columns and "id" in columns and "question_id" not in columns:
            # The only thing in the rows that could have this id.
            columns["question_id"] = columns.pop("id")
        _refuse_half_an_edge(columns, file)
        _refuse_gold_alone(columns, file)
        made = ColumnMap(columns, tuple(aliases), metadata, tuple(more_gold))
        if made.qrels and "grade" not in columns:
            columns |= _known_grade(file, made)
        found.append(made.usable() if made.documents or made.questions or made.qrels or made.edges else None)
    if missing:
        item, column = sorted(missing, key=lambda pair: items.index(pair[0]))[0]
        raise RagdataError(_no_column(files, item, column))
    return found


def _known_grade(file: Columned, found: ColumnMap) -> dict[str, str]:
    """The column of grades, where the map names none, but a column is called as one is: judgements that say 0 are not
    to become 1."""
    other = {*found.used(), *(found.metadata or ())}
    named = [n for n in file.column_names() if n.lower() in USUAL_NAMES["grade"] and n not in other]
    if len(named) > 1:
        choice = f"grade may be {' or '.join(named)}"
        raise RagdataError(f"{file.name}: {choice}; --map grade=COLUMN chooses one")
    return {"grade": named[0]} if named else {}


def _refuse_half_an_edge(columns: Mapping[str, str], file: Columned) -> None:
    given = [target for target in EDGE if target in columns]
    if 0 < len(given) < len(EDGE):
        lacking = ", ".join(f"{target}=COLUMN" for target in EDGE if target not in columns)
        raise RagdataError(f"--map {given[0]}={columns[given[0]]}: an edge of {file.name} needs {lacking}, too")


def _refuse_gold_alone(columns: Mapping[str, str], file: Columned) -> None:
    if "doc_id" in columns and not {"question", "question_id", "text"} & columns.keys():
        raise RagdataError(
            f"--map doc_id={columns['doc_id']}: gold of {file.name} needs question=COLUMN or question_id=COLUMN, too; "
            f"{_advice([file])}"
        )


def _refuse_second(columns: Mapping[str, str], item: _Item, file: Columned) -> None:
    if item.target in columns:
        raise RagdataError(
            f"--map: {item.target} of {file.name} is given twice: {columns[item.target]}, {item.columns[0]}"
        )


def _no_column(files: Sequence[Columned], item: _Item, column: str) -> str:
    concerned = [f for f in files if item.concerns(f)]
    if not concerned:
        return f"--map {item.file}:{item.target}={column}: no such file; there are {_listed(f.name for f in files)}"
    known = list(dict.fromkeys(name for f in concerned for name in f.column_names()))
    near = difflib.get_close_matches(column, known, n=1)
    hint = f", did you mean {near[0]}?" if near else ";"
    return f"--map {item.target}={column}: no column {column!r}{hint} {_advice(concerned)}"


def _guessed(file: Columned, files: Sequence[Columned]) -> ColumnMap | None:
    wanted = usual_columns(file)
    if wanted is None:
        return None
    for target, listed in wanted.items():
        if len(listed) > 1 and not (target in ("id", "question_id") and are_one(file, listed)):
            choice = f"{target} may be {' or '.join(listed)}"
            raise RagdataError(f"{file.name}: {choice}; {_advice([file], files)}")
    columns = {target: listed[0] for target, listed in wanted.items() if listed and target != "aliases"}
    return ColumnMap(columns, tuple(wanted.get("aliases", ()))).usable()


def id_like_columns(file: Columned, columns: ColumnMap, target: str) -> str:
    """The columns that mean nothing, but whose names end as those of ids do; empty where there are none. Those of
    documents are not ids of questions."""
    used = columns.used()
    named = [n for n in file.column_names() if n not in used and _LIKE_AN_ID.search(n)]
    return _listed(n for n in named if target != "question_id" or not _OF_DOCUMENTS.search(n))


def gold_like_columns(file: Columned, columns: ColumnMap) -> list[str]:
    """The columns whose names say that they hold what answers a question, and that are passed on as metadata."""
    used = {*columns.used(), *(columns.metadata or ())}
    if not columns.questions:
        return []
    return [n for n in file.column_names() if n not in used and (_GOLD.search(n) or _GOLD_ID.search(n))]


def _advice(columned: Sequence[Columned], files: Sequence[Columned] = ()) -> str:
    """The columns of some files, and a map to begin with: one that reads all ``files`` as far as they can be."""
    shown = "; ".join(f"{f.name} has {_listed(f.column_names()) or 'none'}" for f in columned[:_MOST_SHOWN])
    shown += f"; {len(columned) - _MOST_SHOWN:,} more files" if len(columned) > _MOST_SHOWN else ""
    others = [f.name for f in files if f not in columned]
    shown += f" (next to it: {_listed(others[:_MOST_SHOWN])})" if others else ""
    return f"columns: {shown}; say what they are, for example --map {_proposed(files) or 'text=COLUMN,id=COLUMN'}"


def _proposed(files: Sequence[Columned]) -> str:
    """A map with the first of the columns that may be meant, for each file of its own where they differ; empty where
    no column has a usual name."""
    items: dict[tuple[str, str], list[Columned]] = {}
    for file in files:
        for target, listed in (usual_columns(file) or {}).items():
            if len(listed) > 1 and listed[1].endswith(OF_QUESTION):  # a question with its texts is one row
                target, listed = "question_id", [listed[1].removesuffix(OF_QUESTION)]
            elif len(listed) > 1 and listed[1].endswith(OF_OTHERS):
                target, listed = "doc_id", [listed[1].removesuffix(OF_OTHERS)]
            for column in listed[: None if target in _SEVERAL else 1]:
                items.setdefault((target, column), []).append(file)
    words: list[str] = []
    for (target, column), having in items.items():
        differ = any(t == target and c != column for t, c in items) and target not in _SEVERAL
        heads = [f"{_listed([file.stem])}:" for file in having] if differ else [""]
        words += [f"{head}{target}={_listed([column])}" for head in heads]
    return shlex.quote(",".join(words)) if words else ""


def _listed(names: Iterable[str]) -> str:
    listed = [n if re.fullmatch(r"[^\s,=+:\"]+", n) else '"' + n.replace('"', '""') + '"' for n in names]
    return ", ".join(listed[:20]) + (f", and {len(listed) - 20} more" if len(listed) > 20 else "")
