"""What HippoRAG makes of OpenIE results: which triples it keeps, which names vanish, and whose results they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ragdatakit.files.hipporag.passages import passage_id
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.hipporag.known_passages import KnownPassages, code_of

_OUTSIDE = re.compile("[^A-Za-z0-9 ]")
_SHOWN = 60


def processed(name: str) -> str:
    """A name as the graph has it."""
    return _OUTSIDE.sub(" ", name.lower()).strip()


class ResultsCheck:
    """Checks one file of results; `finish` gives what is known when it has been read whole."""

    def __init__(self) -> None:
        self._corpus: KnownPassages | None = None
        self._start()

    def _start(self) -> None:
        self._seen: set[Any] = set()
        self._members = 0
        self._missing = 0

    def problems(self, value: dict[str, Any], corpus: KnownPassages | None) -> Iterator[Problem]:
        """The faults of the results of all passages; ``corpus`` None: the passages are not known."""
        self._corpus = corpus
        docs = value.get("docs")
        for i, doc in enumerate(docs if isinstance(docs, list) else ()):
            if isinstance(doc, dict):
                yield from self._doc(doc, f"/docs/{i}")

    def _doc(self, doc: dict[str, Any], pointer: str) -> Iterator[Problem]:
        entities, triples = doc.get("extracted_entities"), doc.get("extracted_triples")
        fits = {
            "passage": isinstance(doc.get("passage"), str),
            "extracted_entities": isinstance(entities, list) and all(isinstance(e, str) for e in entities),
            "extracted_triples": isinstance(triples, list) and all(isinstance(t, list) for t in triples),
        }
        for field, fit in fits.items():
            if not fit:
                where = f"{pointer}/{field}" if field in doc else pointer
                yield Problem("unusable-results", where, doc.get(field), {"field": field})
        if fits["passage"]:
            yield from self._passage(doc, pointer)
        if fits["extracted_triples"]:
            yield from self._triples(doc["extracted_triples"], f"{pointer}/extracted_triples")
        if fits["extracted_triples"] and fits["extracted_entities"]:
            names = {str(t[i]) for t in doc["extracted_triples"] if len(t) == 3 for i in (0, 2)}
            self._members += len(names)
            self._missing += len(names - set(doc["extracted_entities"]))

    def _passage(self, doc: dict[str, Any], pointer: str) -> Iterator[Problem]:
        passage = doc["passage"]
        code = code_of(passage, self._corpus)
        shown = passage if len(passage) <= _SHOWN else f"{passage[: _SHOWN - 1]}…"
        if "idx" in doc and doc["idx"] != passage_id(passage):
            yield Problem("wrong-passage-id", f"{pointer}/idx", doc["idx"], {"expected": passage_id(passage)})
        if code in self._seen:
            yield Problem("repeated-results", f"{pointer}/passage", shown)
        elif self._corpus is not None and code not in self._corpus:
            yield Problem("results-without-passage", f"{pointer}/passage", shown)
        self._seen.add(code)

    def _triples(self, triples: list[Any], pointer: str) -> Iterator[Problem]:
        seen: set[tuple[str, ...]] = set()
        for i, triple in enumerate(triples):
            where = f"{pointer}/{i}"
            parts = tuple(map(str, triple))
            if len(parts) != 3:
                yield Problem("triple-not-three", where, triple, {"members": len(parts)})
                continue
            if parts in seen:
                yield Problem("repeated-triple", where, triple)
                continue
            seen.add(parts)
            for place in (0, 2):
                if not processed(parts[place]):
                    yield Problem("vanishing-name", f"{where}/{place}", triple[place])
            if processed(parts[0]) == processed(parts[2]) and processed(parts[0]):
                yield Problem("self-loop", where, parts[0])

    def finish(self) -> Iterator[Problem]:
        """After the last record of a file."""
        if self._missing:
            yield Problem("entity-not-extracted", facts={"missing": self._missing, "members": self._members})
        if self._corpus is not None and self._seen:
            missing = sum(code not in self._seen for code in self._corpus)
            if missing:
                yield Problem("passage-without-results", facts={"missing": missing, "passages": len(self._corpus)})
        self._start()
