"""What HippoRAG makes of OpenIE results: which triples it keeps, which names vanish, and whose results they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ragdatakit.files.hipporag.passages import passage_id
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.hipporag.known_passages import KnownPassages, code_of
from ragdatakit.validators.lacking import unusable

if TYPE_CHECKING:
    from ragdatakit.scanner.long_records import ScannedItems

MEMBERS, MISSING = "members of triples", "members that are no entities"
"""What is counted of results that are not looked at."""

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
        self._scanned: ScannedItems | None = None
        self._repeated: set[int] = set()
        self._members = 0
        self._missing = 0

    def problems(self, value: dict[str, Any], corpus: KnownPassages | None) -> Iterator[Problem]:
        """The faults of the results of all passages; ``corpus`` None: the passages are not known."""
        self._corpus = corpus
        docs = value.get("docs")
        for i, doc in enumerate(docs if isinstance(docs, list) else ()):
            if isinstance(doc, dict):
                yield from self._doc(doc, i)

    def repeated(self, items: ScannedItems) -> Iterable[int]:
        """The places of scanned results whose passage is that of earlier ones."""
        from ragdatakit.arrays.codes import first_of_each

        firsts, numbers = first_of_each(items.codes)
        is_first = firsts[numbers] == range(len(numbers))
        self._repeated = set(items.places[~is_first].tolist())
        return self._repeated

    def items_problems(self, items: ScannedItems, corpus: KnownPassages | None) -> Iterator[Problem]:
        """The same as `problems`, where the results were scanned."""
        self._corpus, self._scanned = corpus, items
        self._members += items.counts[MEMBERS]
        self._missing += items.counts[MISSING]
        for i, doc in sorted((items.seen | items.again).items()):
            yield from self._doc(doc, i, i in items.again)

    def _doc(self, doc: dict[str, Any], place: int, is_counted: bool = False) -> Iterator[Problem]:
        pointer = f"/docs/{place}"
        entities, triples = doc.get("extracted_entities"), doc.get("extracted_triples")
        fits = {
            "passage": isinstance(doc.get("passage"), str),
            "extracted_entities": isinstance(entities, list) and all(isinstance(e, str) for e in entities),
            "extracted_triples": isinstance(triples, list) and all(isinstance(t, list) for t in triples),
        }
        for field, fit in fits.items():
            if not fit:
                yield unusable("unusable-results", pointer, doc, field, fits.keys() | {"idx"})
        if fits["passage"]:
            yield from self._passage(doc, place)
        if fits["extracted_triples"]:
            yield from self._triples(doc["extracted_triples"], f"{pointer}/extracted_triples")
        if fits["extracted_triples"] and fits["extracted_entities"] and not is_counted:
            names = {str(t[i]) for t in doc["extracted_triples"] if len(t) == 3 for i in (0, 2)}
            self._members += len(names)
            self._missing += len(names - set(doc["extracted_entities"]))

    def _passage(self, doc: dict[str, Any], place: int) -> Iterator[Problem]:
        passage, pointer = doc["passage"], f"/docs/{place}"
        code = code_of(passage, self._corpus)
        shown = passage if len(passage) <= _SHOWN else f"{passage[: _SHOWN - 1]}…"
        if "idx" in doc and doc["idx"] != passage_id(passage):
            yield Problem("wrong-passage-id", f"{pointer}/idx", doc["idx"], {"expected": passage_id(passage)})
        if place in self._repeated if self._scanned is not None else code in self._seen:
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
        if self._corpus is not None and (missing := self._without_results(self._corpus)):
            yield Problem("passage-without-results", facts={"missing": missing, "passages": len(self._corpus)})
        self._start()

    def _without_results(self, corpus: KnownPassages) -> int:
        """How many passages have no results, where there are results of any."""
        if self._scanned is None:
            return sum(code not in self._seen for code in corpus) if self._seen else 0
        from ragdatakit.arrays.code_tables import HashTable

        codes = self._scanned.codes
        return int((HashTable(codes).positions(corpus.codes()) < 0).sum()) if len(codes) else 0
