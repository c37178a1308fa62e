"""What upstream does with a dataset, as words: the vocabulary of the cases in `gfm_rag_cases`, and the dataset that
each of them changes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

_NOON = 1_790_000_000
Kind = Literal["raises", "drops", "misreads", "risky", "fine"]
SERIOUS = frozenset({"raises", "drops", "misreads"})

DOCUMENTS = "raw/documents.json"
RAW_TRAIN, RAW_TEST = "raw/train.json", "raw/test.json"
NODES, RELATIONS, EDGES = (f"processed/stage1/{name}.csv" for name in ("nodes", "relations", "edges"))
TRAIN, TEST = "processed/stage1/train.json", "processed/stage1/test.json"

Content = str | bytes | None | Callable[[], str]
Files = Mapping[str, Content]


@dataclass(frozen=True, slots=True)
class Does:
    """What one loader, or another of upstream's programs (``action``), does.

    ``error`` is how its exception begins, ``shows`` are parts of the answer of `gfm_rag_loaders` that prove it.
    """

    kind: Kind
    error: str = ""
    action: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    shows: Mapping[str, Any] = field(default_factory=dict)

    @property
    def serious(self) -> bool:
        """Whether our verdict has to be an error."""
        return self.kind in SERIOUS

    def request(self, profile: str) -> tuple[str, dict[str, Any]]:
        """The action to be run for it, and its options."""
        if not self.action:
            return profile, dict(self.options)
        by_loader = {"loader": profile} if self.action in ("retrieve", "predict", "reload") else {}
        return self.action, {**by_loader, **self.options}


def raises(error: str, action: str = "", **options: Any) -> Does:
    """Stops with an exception whose ``Type: message`` begins so."""
    return Does("raises", error, action, options)


def raises_later(error: str) -> Does:
    """As `raises`, in a program that is not run here; the specification has it from reading the code."""
    return Does("raises", error, "read")


def drops(**shows: Any) -> Does:
    """Goes on without some of the data; ``shows`` tells how much."""
    return Does("drops", shows=shows)


def misreads(action: str = "", options: Mapping[str, Any] | None = None, **shows: Any) -> Does:
    """Goes on with other data than were written."""
    return Does("misreads", action=action, options=options or {}, shows=shows)


def misreads_later() -> Does:
    """As `misreads`, in a program that is not run here."""
    return Does("misreads", action="read")


def risky(**shows: Any) -> Does:
    """Loads, and is worth a warning."""
    return Does("risky", shows=shows)


def fine(**shows: Any) -> Does:
    """Loads as it was meant."""
    return Does("fine", shows=shows)


RISKY, FINE = Does("risky"), Does("fine")


@dataclass(frozen=True, slots=True)
class Case:
    """One row of a table of the specification: the changed dataset, upstream's two answers, our rules.

    ``id``, the section and what was changed, is the name under which upstream's answers are recorded.
    ``rules`` are all that must be reported besides what is reported of the unchanged dataset, space-separated.
    ``differs`` says where a run showed something else than the specification. ``base`` is the dataset that is changed,
    ``older`` are files that were written an hour before the others.
    """

    id: str
    files: Files
    reasoner: Does
    rules: str
    gfm_rag: Does | None = None
    differs: str = ""
    base: str = "minimal"
    older: tuple[str, ...] = ()

    def does(self, profile: str) -> Does:
        """What upstream does under this profile."""
        return self.gfm_rag if profile == "gfm-rag" and self.gfm_rag is not None else self.reasoner

    def expected(self) -> set[str]:
        """The names of the rules."""
        return set(self.rules.split())

    def write(self, root: Path) -> None:
        """Write the whole dataset below a folder that does not exist."""
        root.mkdir(parents=True)
        for path, content in {**BASES[self.base], **self.files}.items():
            if content is not None:
                file = root / path
                file.parent.mkdir(parents=True, exist_ok=True)
                found = content() if callable(content) else content
                file.write_bytes(found if isinstance(found, bytes) else found.encode())
                os.utime(file, (_NOON, _NOON - 3600 * (path in self.older)))


DOCUMENT = "The tug Osprey towed the barge Lena into Port Hale."
SAMPLE: dict[str, Any] = {
    "id": "h1",
    "question": "Which boat did the Osprey tow?",
    "answer": "Lena",
    "answer_aliases": [],
    "supporting_documents": ["Harbour log"],
    "start_nodes": {"entity": ["osprey"]},
    "target_nodes": {"document": ["Harbour log"], "entity": ["lena"]},
}
NODE_LINES = (
    "name,type,attributes",
    f'Harbour log,document,"{{""content"": ""{DOCUMENT}""}}"',
    "osprey,entity,{}",
    "lena,entity,{}",
)
RELATION_LINES = ("name,attributes", "towed,{}", "is_mentioned_in,{}")
EDGE_LINES = (
    "source,relation,target,attributes",
    "osprey,towed,lena,{}",
    "osprey,is_mentioned_in,Harbour log,{}",
    "lena,is_mentioned_in,Harbour log,{}",
)


def lines(*rows: str, end: str = "\n") -> str:
    """A text of these lines."""
    return "".join(row + end for row in rows)


def nodes(*rows: str) -> str:
    """The nodes of the minimal dataset and these rows."""
    return lines(*NODE_LINES, *rows)


def relations(*rows: str) -> str:
    """The relations of the minimal dataset and these rows."""
    return lines(*RELATION_LINES, *rows)


def edges(*rows: str) -> str:
    """The edges of the minimal dataset and these rows."""
    return lines(*EDGE_LINES, *rows)


def with_osprey(attributes: str) -> Files:
    """The node osprey with this attributes cell, as it stands in the file."""
    return {NODES: lines(*NODE_LINES[:2], f"osprey,entity,{attributes}", NODE_LINES[3])}


def with_towed(attributes: str) -> Files:
    """The relation towed with this attributes cell."""
    return {RELATIONS: lines(RELATION_LINES[0], f"towed,{attributes}", RELATION_LINES[2])}


def with_edge(attributes: str) -> Files:
    """The first edge with this attributes cell."""
    return {EDGES: lines(EDGE_LINES[0], f"osprey,towed,lena,{attributes}", *EDGE_LINES[2:])}


def renamed(osprey: str, lena: str, log: str, towed: str = "towed") -> Files:
    """The minimal dataset with other names for its nodes, in all files; the names of the questions as in the CSV."""
    mentioned = "is_mentioned_in"
    sample = {
        **SAMPLE,
        "supporting_documents": [log],
        "start_nodes": {"entity": [osprey]},
        "target_nodes": {"document": [log], "entity": [lena]},
    }
    return {
        DOCUMENTS: json.dumps({log: DOCUMENT}),
        NODES: lines(
            NODE_LINES[0],
            f'{log},document,"{{""content"": ""{DOCUMENT}""}}"',
            f"{osprey},entity,{{}}",
            f"{lena},entity,{{}}",
        ),
        RELATIONS: lines("name,attributes", f"{towed},{{}}", f"{mentioned},{{}}"),
        EDGES: lines(
            EDGE_LINES[0],
            f"{osprey},{towed},{lena},{{}}",
            f"{osprey},{mentioned},{log},{{}}",
            f"{lena},{mentioned},{log},{{}}",
        ),
        TEST: json.dumps([sample]),
    }


def questions(*samples: Any) -> str:
    """A file of these questions."""
    return json.dumps(list(samples), indent=1)


def asked(**changes: Any) -> dict[str, Any]:
    """The question of the minimal dataset, changed; a field that is ``...`` is left out."""
    return {k: v for k, v in {**SAMPLE, **changes}.items() if v is not ...}


def another(**changes: Any) -> dict[str, Any]:
    """A second, sound question, changed."""
    return asked(**{"id": "h2", "question": "Where was the Lena towed?", "answer": "Port Hale", **changes})


MINIMAL: Files = {
    DOCUMENTS: json.dumps({"Harbour log": DOCUMENT}),
    NODES: nodes(),
    RELATIONS: relations(),
    EDGES: edges(),
    TEST: questions(SAMPLE),
}
_RAW_SAMPLE = {k: v for k, v in SAMPLE.items() if k not in ("start_nodes", "target_nodes")}


def raw(**changes: Any) -> dict[str, Any]:
    """The question as it stands in a raw file, changed; a field that is ``...`` is left out."""
    return {k: v for k, v in {**_RAW_SAMPLE, **changes}.items() if v is not ...}


_OLD_SAMPLE = {
    "id": "h1",
    "question": SAMPLE["question"],
    "answer": "Lena",
    "supporting_facts": ["Harbour log"],
    "question_entities": ["osprey"],
    "supporting_entities": ["lena"],
}


def old(**changes: Any) -> dict[str, Any]:
    """The question of a legacy dataset, changed; a field that is ``...`` is left out."""
    return {k: v for k, v in {**_OLD_SAMPLE, **changes}.items() if v is not ...}


KG, ENTITIES, CORPUS = "processed/stage1/kg.txt", "processed/stage1/document2entities.json", "raw/dataset_corpus.json"
KG_LINES = ("osprey,towed,lena", "lena,moored at,port hale")

BASES: dict[str, Files] = {
    "minimal": MINIMAL,
    "raw": {DOCUMENTS: json.dumps({"Harbour log": "Osprey | towed | Lena. Lena | moored at | Port Hale."})},
    "raw questions": {**MINIMAL, TEST: None, RAW_TEST: questions(raw())},
    "legacy": {
        CORPUS: json.dumps({"Harbour log": DOCUMENT}),
        KG: lines(*KG_LINES),
        ENTITIES: json.dumps({"Harbour log": ["osprey", "lena"]}),
        TEST: questions(old()),
    },
}
