"""What the cookbook's own notebook makes of damaged files: run it, and keep its verdicts.

``python -m tests.contextual_retrieval_oracle PATH/TO/guide.ipynb`` writes ``contextual_retrieval_verdicts.json`` anew
(commit 4b36a1e1); tests read it. Only its loaders, its evaluation and its fusion are run, with stand-ins for the
services: an embedder that knows which chunks answer which question, and a BM25 index that returns all chunks.
"""

from __future__ import annotations

import copy
import io
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Self

VERDICTS = Path(__file__).parent / "contextual_retrieval_verdicts.json"
CORPUS, QUESTIONS = "codebase_chunks.json", "evaluation_set.jsonl"
ROOMY = 150


def _chunk(doc: str, index: int, content: str) -> dict[str, Any]:
    return {"chunk_id": f"{doc}_chunk_{index}", "original_index": index, "content": content}


DOCUMENTS: list[Any] = [
    {
        "doc_id": "doc_1",
        "original_uuid": "u1",
        "content": "Mara built it. Joss mapped it.",
        "chunks": [_chunk("doc_1", 0, "Mara built it. "), _chunk("doc_1", 1, "Joss mapped it.")],
    },
    {
        "doc_id": "doc_2",
        "original_uuid": "u2",
        "content": "The ferry leaves at nine. It is slow.",
        "chunks": [_chunk("doc_2", 0, "The ferry leaves at nine. "), _chunk("doc_2", 1, "It is slow.")],
    },
]


def _golden(document: dict[str, Any]) -> dict[str, Any]:
    uuid, chunks = document["original_uuid"], document["chunks"]
    parts = [{"doc_uuid": uuid, "index": c["original_index"], "content": c["content"]} for c in chunks]
    return {"uuid": uuid, "content": document["content"], "meta": {"num_chunks": len(chunks)}, "chunks": parts}


ASKED: list[Any] = [
    {
        "query": "Who mapped it?",
        "answer": "Joss",
        "golden_doc_uuids": ["u1"],
        "golden_chunk_uuids": [["u1", 1]],
        "golden_documents": [_golden(DOCUMENTS[0])],
    },
    {
        "query": "When does the slow ferry leave?",
        "answer": "At nine",
        "golden_doc_uuids": ["u2"],
        "golden_chunk_uuids": [["u2", 0], ["u2", 1]],
        "golden_documents": [_golden(DOCUMENTS[1])],
    },
]
ANSWERING = {"Who mapped it?": {"Joss mapped it."}, "When does the slow ferry leave?": {"The ferry leaves at nine.",
             "It is slow."}}  # fmt: skip
MISSING = object()
VARIANTS: dict[str, Any] = {
    "missing": MISSING, "null": None, "empty": "", "blank": " ", "zero": 0, "one": 1, "seven": 7, "minus one": -1,
    "decimal": 1.5, "one as decimal": 1.0, "true": True, "a digit": "1", "two letters": "ab", "no items": [],
    "no members": {}, "two members": {"a": 1, "b": 2}, "nested": [[]], "another": "Fog is low cloud.", "u1": "u1",
}  # fmt: skip


def _paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if path:
        yield path
    for key, each in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from _paths(each, (*path, key))


def _changed(value: Any, path: tuple[str | int, ...], new: Any) -> Any:
    value = copy.deepcopy(value)
    within = value
    for key in path[:-1]:
        within = within[key]
    if new is MISSING:
        del within[path[-1]]
    else:
        within[path[-1]] = new(within[path[-1]]) if callable(new) else new
    return value


def _corpus_text(documents: Any) -> str:
    return json.dumps(documents)


def _question_text(asked: Any) -> str:
    return "".join(json.dumps(each) + "\n" for each in asked)


TEXTS: dict[str, Callable[[Any], Any]] = {
    "a dot more": lambda v: f"{v}." if isinstance(v, str) else v,
    "blanks around": lambda v: f"\n {v}  " if isinstance(v, str) else v,
    "twice": lambda v: [*v, *v] if isinstance(v, list) else v,
    "reversed": lambda v: v[::-1] if isinstance(v, list) else v,
    "half": lambda v: v[:1] if isinstance(v, list) else v,
}


def cases() -> Iterator[tuple[str, str, str]]:
    """Name, corpus, questions of each case."""
    corpus, questions = _corpus_text(DOCUMENTS), _question_text(ASKED)
    yield "sound", corpus, questions
    for name, new in {**VARIANTS, **TEXTS}.items():
        for path in _paths(DOCUMENTS):
            yield f"corpus {'/'.join(map(str, path))}: {name}", _corpus_text(_changed(DOCUMENTS, path, new)), questions
        for path in _paths(ASKED):
            yield f"asked {'/'.join(map(str, path))}: {name}", corpus, _question_text(_changed(ASKED, path, new))
    line = _question_text(ASKED[:1])
    for name, text in {
        "a blank line": f"{line}\n{line}", "blanks in a line": f"{line} \n", "an array": json.dumps(ASKED) + "\n",
        "no line": "", "only a blank line": "\n", "a byte-order mark": f"\ufeff{questions}",
        "cut off": questions[:-9], "a text": '"a"\n', "a number": "7\n", "null": "null\n",
        "a comma more": questions.replace("}\n", "},\n"), "windows": questions.replace("\n", "\r\n"),
        "no last line end": questions[:-1], "a key twice": questions.replace('"answer"', '"query": "x", "answer"', 1),
    }.items():  # fmt: skip
        yield f"questions: {name}", corpus, text
    for name, text in {
        "cut off": corpus[:-9], "no list": json.dumps(DOCUMENTS[0]), "lines": _question_text(DOCUMENTS),
        "empty": "", "no document": "[]", "a text": '"a"', "null": "null", "a byte-order mark": f"\ufeff{corpus}",
        "blanks around": f"\n{corpus}\n\n", "a comma more": f"{corpus[:-1]},]", "rubbish behind": f"{corpus} x",
    }.items():  # fmt: skip
        yield f"corpus: {name}", text, questions


class _Embedder:
    """Texts as directions, one for each chunk of the sound corpus; questions point to what answers them."""

    _known = sorted({c["content"].strip() for d in DOCUMENTS for c in d["chunks"]})

    def __init__(self, **_: Any) -> None:
        pass

    def embed(self, texts: list[str], **_: Any) -> Any:
        return SimpleNamespace(embeddings=[self._one(text) for text in texts])

    def _one(self, text: str) -> list[float]:
        if not isinstance(text, str):
            raise TypeError("the service takes texts only")
        wanted = ANSWERING.get(text, {text.strip()})
        return [float(known in wanted) for known in self._known] + [0.001]


def load(path: Path) -> dict[str, Any]:
    """The functions and classes of the notebook."""
    for name in ("voyageai", "anthropic", "elasticsearch", "elasticsearch.helpers", "tqdm"):
        sys.modules[name] = ModuleType(name)
    sys.modules["voyageai"].Client = _Embedder  # type: ignore[attr-defined]
    sys.modules["anthropic"].Anthropic = _Writer  # type: ignore[attr-defined]
    sys.modules["elasticsearch"].Elasticsearch = sys.modules["elasticsearch.helpers"].bulk = None  # type: ignore[attr-defined]
    sys.modules["tqdm"].tqdm = _Bar  # type: ignore[attr-defined]
    found: dict[str, Any] = {}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "code" and any(
            sign in text
            for sign in (
                "class VectorDB",
                "def evaluate_retrieval(",
                "class ContextualVectorDB",
                "def retrieve_advanced",
            )
        ):
            exec(compile(text, str(path), "exec"), found)  # noqa: S102 - it is the oracle
    return found


class _Writer:
    """Writes the same context for every chunk."""

    def __init__(self, **_: Any) -> None:
        usage = SimpleNamespace(
            input_tokens=0, output_tokens=0, cache_read_input_tokens=0, cache_creation_input_tokens=0
        )
        reply = SimpleNamespace(content=[SimpleNamespace(text="Of the log.")], usage=usage)
        messages = SimpleNamespace(create=lambda **_: reply)
        self.beta = SimpleNamespace(prompt_caching=SimpleNamespace(messages=messages))


class _Bar:
    def __init__(self, items: Any = (), **_: Any) -> None:
        self._items = items

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def update(self, _: int) -> None:
        pass


def verdict(notebook: dict[str, Any], folder: Path) -> str:
    """What became of one set: the error, or what is reported, lost or misread; empty where all is as it should be."""
    shown = io.StringIO()
    try:
        with redirect_stdout(shown), redirect_stderr(shown):
            corpus = json.loads((folder / CORPUS).read_text())
            database = notebook["VectorDB"]("none")
            database.save_db = lambda: None
            database.load_data(corpus)
            contextual = notebook["ContextualVectorDB"]("none")
            contextual.save_db = lambda: None
            contextual.load_data(corpus)
            if not all(isinstance(document["content"], str) for document in corpus):
                return "a context is written for what is no text"
            asked = notebook["load_jsonl"](folder / QUESTIONS)
            score = notebook["evaluate_retrieval"](asked, notebook["retrieve_base"], database, 2)["pass_at_n"]
            everything = SimpleNamespace(search=lambda _, k: database.metadata[:k])
            for each in asked:
                found, *_ = notebook["retrieve_advanced"](each["query"], database, everything, ROOMY)
                given = [chunk["chunk"] for chunk in found]
                if len(given) != len(database.metadata) or len(set(map(id, given))) != len(given):
                    return "hybrid: a chunk is given for another"
    except Exception as error:  # noqa: BLE001 - what stops it is what is asked
        return f"stops: {type(error).__name__}"
    if "Warning: No golden contents" in shown.getvalue():
        return "a question is passed over"
    if "Warning" in shown.getvalue():
        return f"golden chunk left out, Pass@2 {score:.0f}"
    return "" if round(score, 6) == 100 else f"Pass@2 {score:.0f}"


def written(folder: Path, corpus: str, questions: str) -> Path:
    """The two files of a case."""
    (folder / CORPUS).write_text(corpus, encoding="utf-8", newline="")
    (folder / QUESTIONS).write_text(questions, encoding="utf-8", newline="")
    return folder


if __name__ == "__main__":
    functions = load(Path(sys.argv[1]).resolve())
    verdicts: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        for case, a, b in cases():
            verdicts[case] = verdict(functions, written(Path(scratch), a, b))
    VERDICTS.write_text(json.dumps(verdicts, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
