"""The files next to SAGE records: documents, their mapping, benchmark results, profiling dumps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragdatakit.files.texts.codes import code_of
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.sage.record import is_blank
from ragdatakit.validators.sage.stages import Stages

COMPARED_BYTES = 256 << 20
"""Documents of more bytes than this are not kept for comparison with results; only their number is."""


def document_problems(value: Any) -> Iterator[Problem]:
    """A document with two texts, or a blank one."""
    if not isinstance(value, dict):
        return
    contents, text = value.get("contents"), value.get("text")
    if not isinstance(contents, str):
        return
    if contents and contents.isspace():
        yield Problem("empty-contents", "/contents", contents)
    if text is not None and text != contents:
        yield Problem("differing-contents-and-text", "/text", text, {"other": _shown(contents)})


def document_id(value: Any) -> str | None:
    """The id of a document as it is compared: numbers by their digits."""
    found = value.get("id") if isinstance(value, dict) else None
    if isinstance(found, bool) or found is None or not isinstance(found, str | int | float):
        return None
    return found if isinstance(found, str) else repr(found)


def mapping_problems(value: Any, documents: int | None) -> Iterator[Problem]:
    """An entry that is not a number of a document; ``documents`` is how many there are, where that is known."""
    if type(value) is not int:
        yield Problem("mapping-not-integers", "", value)
    elif value < 0 or (documents is not None and value >= documents):
        last = "more" if documents is None else str(documents - 1)
        yield Problem("mapping-out-of-range", "", value, {"last": last})


class Documents:
    """The documents next to the records: how many, and what each one holds, in hashes."""

    def __init__(self) -> None:
        self.count = 0
        self.whole = True
        self._texts: list[int | None] = []
        self._titles: list[int | None] = []
        self._by_id: dict[str, int] = {}

    def add(self, value: Any) -> None:
        """The next document of the file."""
        if value is None:  # a line that is no JSON is skipped by the retriever, too
            return
        document = value if isinstance(value, dict) else {}
        key = document_id(document)
        if key is not None:
            self._by_id.setdefault(key, self.count)
        contents = document.get("contents")
        self._texts.append(code_of(contents) if isinstance(contents, str) else None)
        title = document.get("title")
        self._titles.append(code_of(title) if isinstance(title, str) else None)
        self.count += 1

    def problems(self, stages: Stages) -> Iterator[Problem]:
        """Results of retrieval that name a document which is not there, or is another one."""
        for i, result in enumerate(stages.retrieval.results or () if self.whole else ()):
            if isinstance(result, dict):
                yield from self._of_result(f"retrieval_results/{i}", f"retrieval_results[{i}]", result)

    def _of_result(self, pointer: str, where: str, result: dict[str, Any]) -> Iterator[Problem]:
        place, number = result.get("document_index"), -1
        if type(place) is int:
            if not 0 <= place < self.count:
                facts = {"field": f"{where}.document_index", "expected": f"there are {self.count} documents"}
                yield Problem("unknown-document", f"/{pointer}/document_index", place, facts)
                return
            number = place
        else:
            metadata = result.get("metadata")
            below, holder = ("/metadata", metadata) if isinstance(metadata, dict) else ("", result)
            key = document_id(holder)
            if key is None or not self._by_id:
                return
            number = self._by_id.get(key, -1)
            if number < 0:
                facts = {"field": f"{where}{below.replace('/', '.')}.id", "expected": "no document has this id"}
                yield Problem("unknown-document", f"/{pointer}{below}/id", key, facts)
                return
        yield from self._compared(pointer, where, result, number)

    def _compared(self, pointer: str, where: str, result: dict[str, Any], number: int) -> Iterator[Problem]:
        text, title = result.get("text"), result.get("title")
        facts = {"document": number, "other": "another one"}
        if isinstance(text, str) and self._texts[number] not in (None, code_of(text)):
            yield Problem("result-unlike-document", f"/{pointer}/text", text, {**facts, "field": f"{where}.text"})
        if isinstance(title, str) and self._titles[number] not in (None, code_of(title)):
            yield Problem("result-unlike-document", f"/{pointer}/title", title, {**facts, "field": f"{where}.title"})


def benchmark_problems(value: Any) -> Iterator[Problem]:
    """Results that cannot be scored, or are not what the run says of them."""
    if not isinstance(value, dict) or not isinstance(value.get("results"), list):
        return
    results, metadata = value["results"], value.get("metadata")
    total = metadata.get("total_samples") if isinstance(metadata, dict) else None
    if total is not None and total != len(results):
        yield Problem("wrong-total-samples", "/metadata/total_samples", total, {"results": len(results)})
    first: dict[str, int] = {}
    for i, result in enumerate(results):
        where, pointer = f"results[{i}]", f"/results/{i}"
        if not isinstance(result, dict):
            yield Problem("benchmark-part-misshapen", pointer, result, {"field": where})
            continue
        if "prediction" not in result and "model_output" not in result:
            yield Problem("result-without-prediction", pointer, result, {"field": where})
        if result.get("error"):
            yield Problem("failed-result", f"{pointer}/error", result["error"], {"field": f"{where}.error"})
        key = document_id(result)
        if key is not None and first.setdefault(key, i) != i:
            facts = {"field": f"{where}.id", "first": f"results[{first[key]}]"}
            yield Problem("duplicate-result-id", f"{pointer}/id", result["id"], facts)


_DUMPS = (
    ("response", "generator", "response becomes generated"),
    ("input_docs", "refiner", "input_docs becomes retrieval_docs, refined_docs becomes refining_docs"),
    ("refined_docs", "refiner", "refined_docs becomes refining_docs"),
    ("retrieval_results", "retriever", "retrieval_results stays as it is"),
    ("documents", "Wiki18 retriever", "documents becomes retrieval_results"),
    ("prompt", "promptor", "prompt is the messages to the generator, external_corpus its context"),
)


def dump_problems(value: Any) -> Iterator[Problem]:
    """Not a fault: which operator's log it is, and how records are made of it."""
    if isinstance(value, dict):
        for key, operator, migration in _DUMPS:
            if key in value:
                facts = {"what": ", ".join(list(value)[:6]), "operator": operator, "migration": migration}
                yield Problem("profiling-dump", None, None, facts)
                return


def _shown(text: str) -> str:
    return f'"{text}"' if len(text) <= 50 and not is_blank(text) else f'"{text[:49]}…"'
