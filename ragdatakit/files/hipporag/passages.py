"""What HippoRAG makes of a passage and of a question: the passage's text and id, what is to be found, right answers.

The rules are those of its ``main.py`` (`get_gold_docs`, `get_gold_answers`), for values of any shape: what upstream
would stop at is left out here, and reported by the validator.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.quick_values import NamedTuple

CORPUS_END = "_corpus.json"
EVIDENCE_FIELDS = ("supporting_facts", "context", "contexts", "paragraphs")
ANSWER_FIELDS = ("answer", "gold_ans", "reference", "obj", "o_wiki_title", "possible_answers", "o_aliases")


class Paragraph(NamedTuple):
    """A passage that is in a question, where in it, and whether it is one of those to be found."""

    pointer: str
    title: str
    text: str
    supporting: bool

    @property
    def passage(self) -> str:
        """The text that is compared with the corpus."""
        return passage_text(self.title, self.text)


def passage_text(title: str, text: str) -> str:
    """What is indexed of a passage."""
    return f"{title}\n{text}"


def passage_id(passage: str) -> str:
    """The id by which the index knows a passage."""
    return f"chunk-{_md5(passage).hexdigest()}"


def passage_code(passage: str) -> int:
    """What stands for a passage."""
    return int.from_bytes(_md5(passage).digest(), "little")


def _md5(text: str) -> Any:
    return hashlib.md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False)


def set_name(file_name: str) -> str:
    """The data set that a corpus or a file of questions belongs to, by its name."""
    name = PurePosixPath(file_name).name
    if name.endswith(CORPUS_END):
        return name.removesuffix(CORPUS_END)
    return name.removesuffix(".json")


def joiner_of(data_set: str) -> str:
    """What is between the sentences of a passage."""
    return "" if data_set.startswith("hotpotqa") else " "


def set_of_results(file_name: str, data_sets: list[str]) -> str | None:
    """The data set whose OpenIE results a file holds, of those that there are; None where nobody can tell."""
    parts = PurePosixPath(file_name).parts
    named = [s for s in data_sets if s in parts[:-1] or f"openie_{s}_results_ner_" in parts[-1]]
    if named:
        return max(named, key=len)
    if "_results_ner_" in parts[-1] and not parts[-1].startswith("openie_results_ner_"):
        return None  # it names another one
    return data_sets[0] if len(data_sets) == 1 and len(parts) == 1 else None


def corpus_of(data_set: str, dataset: Dataset) -> list[DataFile]:
    """The corpora of that name."""
    return [f for f in dataset.files if f.kind in ("corpus", "legacy-corpus") and set_name(f.name) == data_set]


def paragraphs_of(question: Mapping[str, Any], joiner: str) -> list[Paragraph]:
    """The passages that a question brings along, those to be found among them; what has another shape is left out."""
    if "supporting_facts" in question:
        titles = supporting_titles(question)
        return [
            Paragraph(f"/context/{i}", title, joiner.join(sentences), title in titles)
            for i, title, sentences in contexts_of(question)
        ]
    name = "contexts" if "contexts" in question else "paragraphs"
    found = []
    for i, item in _objects(question.get(name)):
        text = item.get("text", item.get("paragraph_text") if name == "paragraphs" else None)
        title = item.get("title")
        if isinstance(title, str) and isinstance(text, str):
            supporting = item.get("is_supporting", name == "paragraphs")
            found.append(Paragraph(f"/{name}/{i}", title, text, bool(supporting)))
    return found


def contexts_of(question: Mapping[str, Any]) -> Iterator[tuple[int, str, list[str]]]:
    """(place, title, sentences) of the contexts of a question of HotpotQA or 2Wiki."""
    context = question.get("context")
    for i, item in enumerate(context if isinstance(context, list) else ()):
        if is_context(item):
            yield i, item[0], item[1]


def is_context(item: Any) -> bool:
    """Whether an item is a title with its sentences."""
    if not (isinstance(item, list) and len(item) >= 2 and isinstance(item[0], str) and isinstance(item[1], list)):
        return False
    return all(isinstance(sentence, str) for sentence in item[1])


def supporting_titles(question: Mapping[str, Any]) -> set[str]:
    """The titles of the contexts that are to be found."""
    facts = question.get("supporting_facts")
    pairs = facts if isinstance(facts, list) else ()
    return {p[0] for p in pairs if isinstance(p, list) and p and isinstance(p[0], str)}


def _objects(value: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    for i, item in enumerate(value if isinstance(value, list) else ()):
        if isinstance(item, dict):
            yield i, item


class GoldAnswers(NamedTuple):
    """The field that holds a question's answers, and the answers; None where they are no texts."""

    field: str
    answers: list[str] | None


def gold_answers(question: Mapping[str, Any]) -> GoldAnswers:
    """The right answers except for ``answer_aliases``; the field is ``""`` where there is none."""
    for field in ("answer", "gold_ans", "reference"):
        if field in question:
            return GoldAnswers(field, _texts(question[field]))
    if "obj" not in question:
        return GoldAnswers("", None)
    found = [question["obj"], question.get("o_wiki_title")]
    for field in ("possible_answers", "o_aliases"):
        value = question.get(field)
        found += value if isinstance(value, list) else [value]
    return GoldAnswers("obj", _texts(found))


def _texts(value: Any) -> list[str] | None:
    if isinstance(value, str):
        return [value]
    return value if isinstance(value, list) and all(isinstance(v, str) for v in value) else None
