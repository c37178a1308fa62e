"""Stage1 datasets of GFM-RAG made of public triples and questions, and what pandas and a plain search say of them.

Nothing here uses ragdata: what it says is compared with this.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, reduce
from operator import or_
from pathlib import Path
from typing import Any, NamedTuple

from tests.upstream_data import UPSTREAM_DATA

MENTION = "is_mentioned_in"
Triple = tuple[str, str, str]


@dataclass
class Stage1:
    """A dataset before it is written: rows of the three tables, documents, questions by file name."""

    nodes: list[tuple[str, str, str]] = field(default_factory=list)
    relations: list[str] = field(default_factory=list)
    edges: list[Triple] = field(default_factory=list)
    documents: dict[str, str] = field(default_factory=dict)
    questions: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def write(self, root: Path) -> Path:
        """Write the dataset folder."""
        stage1 = root / "processed" / "stage1"
        stage1.mkdir(parents=True)
        (root / "raw").mkdir()
        _write_table(stage1 / "nodes.csv", ("name", "type", "attributes"), self.nodes)
        _write_table(stage1 / "relations.csv", ("name", "attributes"), ((name, "{}") for name in self.relations))
        edges = ((*edge, "{}") for edge in self.edges)
        _write_table(stage1 / "edges.csv", ("source", "relation", "target", "attributes"), edges)
        (root / "raw" / "documents.json").write_text(json.dumps(self.documents), encoding="utf-8")
        for name, records in self.questions.items():
            (stage1 / name).write_text(json.dumps(records), encoding="utf-8")
        return root


def _write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


def read_triples(path: Path) -> list[Triple]:
    """Tab-separated triples, plain or gzipped, in their order."""
    packed = path.read_bytes()
    text = (gzip.decompress(packed) if path.suffix == ".gz" else packed).decode("utf-8")
    return [(h, r, t) for h, r, t in (line.split("\t") for line in text.split("\n") if line)]


class KnowledgeGraph(NamedTuple):
    """The three parts of a published graph."""

    train: list[Triple]
    valid: list[Triple]
    test: list[Triple]

    @property
    def triples(self) -> list[Triple]:
        """All of them."""
        return [*self.train, *self.valid, *self.test]


@cache
def knowledge_graph(name: str) -> KnowledgeGraph:
    """One of ``umls``, ``kinships``, ``nations``, ``codex-s``."""
    folder = UPSTREAM_DATA / "kg-triples-small" / name
    ending = "txt.gz" if (folder / "train.txt.gz").is_file() else "txt"
    return KnowledgeGraph(*(read_triples(folder / f"{part}.{ending}") for part in ("train", "valid", "test")))


def names_of(triples: Iterable[Triple]) -> list[str]:
    """Heads and tails, each once, in their order."""
    return list(dict.fromkeys(name for head, _, tail in triples for name in (head, tail)))


def article(head: str) -> str:
    """The title of the document about a head."""
    return f"About {head}"


def graph_of(triples: Sequence[Triple], type_of: Callable[[str], str] = lambda name: "entity") -> Stage1:
    """Nodes, relations and edges; each head is mentioned in a document of its own, which tells its triples."""
    facts = defaultdict(list)
    for head, relation, tail in triples:
        facts[head].append(f"{head} {relation} {tail}.")
    documents = {article(head): " ".join(lines) for head, lines in facts.items()}
    return Stage1(
        nodes=[
            *((name, type_of(name), "{}") for name in names_of(triples)),
            *((title, "document", json.dumps({"content": text})) for title, text in documents.items()),
        ],
        relations=[*dict.fromkeys(relation for _, relation, _ in triples), MENTION],
        edges=[*triples, *((head, MENTION, article(head)) for head in facts)],
        documents=documents,
    )


def held_out_questions(triples: Iterable[Triple], prefix: str) -> list[dict[str, Any]]:
    """A question per head and relation: its targets are all tails, and the document about the head."""
    tails: dict[tuple[str, str], list[str]] = defaultdict(list)
    for head, relation, tail in triples:
        tails[head, relation].append(tail)
    return [
        question(f"{prefix}{number}", f"Whom does {head} {relation}?", head, found, [article(head)])
        | {"target_nodes": {"entity": found, "document": [article(head)]}}
        for number, ((head, relation), found) in enumerate(tails.items())
    ]


def question(key: str, text: str, start: str, answers: Sequence[str], documents: Sequence[str]) -> dict[str, Any]:
    """A processed sample with every field that loaders and evaluators read; its targets are the answers."""
    return {
        "id": key,
        "question": text,
        "answer": answers[0],
        "answer_aliases": list(answers[1:]),
        "supporting_documents": list(documents),
        "start_nodes": {"entity": [start]},
        "target_nodes": {"entity": list(answers)},
    }


class PathQuestion(NamedTuple):
    """A question of PathQuestion, its gold path (node, relation, node, …), and all answers that its authors accept."""

    text: str
    path: list[str]
    answers: list[str]

    @property
    def subject(self) -> str:
        """Where the path begins."""
        return self.path[0]

    @property
    def documents(self) -> list[str]:
        """The titles about the heads of the path."""
        return [article(head) for head in dict.fromkeys(self.path[:-1:2])]


def path_questions(name: str = "PQ-2H.txt.gz") -> list[PathQuestion]:
    """Lines ``question TAB answer(one/another/) TAB subject#relation#object#…#answer``."""
    text = gzip.decompress((UPSTREAM_DATA / "pathquestion" / name).read_bytes()).decode("utf-8")
    found = []
    for line in text.splitlines():
        asked, shown, path = line.split("\t")
        answers = shown.partition("(")[2].removesuffix(")")
        found.append(PathQuestion(asked, path.partition("#<end>#")[0].split("#"), [a for a in answers.split("/") if a]))
    return found


# What is expected, by other means.


def within(triples: Iterable[Triple], hops: int, starts: Iterable[str]) -> dict[str, set[str]]:
    """For each of some nodes those that lie at most this many edges, of either direction, away; itself, too.

    Sets are numbers with a bit per node: each round, a node takes over what its neighbours have.
    """
    beside: dict[str, set[str]] = defaultdict(set)
    for head, _, tail in triples:
        beside[head].add(tail)
        beside[tail].add(head)
    names = list(beside)
    near = {name: 1 << number for number, name in enumerate(names)}
    for _ in range(hops):
        grown = {name: reduce(or_, (near[n] for n in beside[name]), near[name]) for name in names}
        if grown == near:
            break
        near = grown
    return {name: {n for n, bit in zip(names, bin(near[name])[:1:-1], strict=False) if bit == "1"} for name in starts}


def pieces(triples: Iterable[Triple]) -> list[set[str]]:
    """The connected parts, the largest first: each edge puts the smaller of two parts into the larger."""
    part: dict[str, set[str]] = {}
    for head, _, tail in triples:
        one, other = (part.setdefault(name, {name}) for name in (head, tail))
        if one is not other:
            large, small = sorted((one, other), key=len, reverse=True)
            large |= small
            part |= dict.fromkeys(small, large)
    return sorted({id(p): p for p in part.values()}.values(), key=len, reverse=True)


class Loaded(NamedTuple):
    """What a loader that reads with pandas makes of the tables: node names as text, and the edges that it keeps."""

    names: list[str]
    kept: int
    dropped: int


def load_with_pandas(root: Path) -> Loaded:
    """Read the three tables as the graph loader does: types column by column, names saved as JSON keys."""
    import pandas as pd

    stage1 = root / "processed" / "stage1"
    nodes, relations, edges = (
        pd.read_csv(stage1 / f"{name}.csv", keep_default_na=False) for name in ("nodes", "relations", "edges")
    )
    known, named = set(nodes["name"].tolist()), set(relations["name"].tolist())
    kept = sum(
        s in known and t in known and r in named
        for s, r, t in zip(edges["source"], edges["relation"], edges["target"], strict=True)
    )
    saved = json.loads(json.dumps(dict.fromkeys(nodes["name"].tolist())))
    return Loaded(list(saved), kept, len(edges) - kept)


def looks_like_a_number(names: Iterable[str]) -> list[str]:
    """The names that a column of their own would make a number or a boolean."""
    import pandas as pd

    def alone(name: str) -> bool:
        if not (name[:1] in "+-.0123456789" or name.lower() in ("true", "false", "inf", "infinity")):
            return False
        cells = io.StringIO()
        csv.writer(cells).writerows([["name"], [name]])
        column = pd.read_csv(io.StringIO(cells.getvalue()), keep_default_na=False)["name"]
        return bool(pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column))

    return [name for name in names if alone(name)]
