"""What sets of documents, questions and judgements in lines have in common: ids that survive, judgements by split."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING

from ragdatakit.converters.free_names import FreeNames
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.schemas.canonical import Qrel, Question

if TYPE_CHECKING:
    from ragdatakit.outputs.file_writers import LineWriter
    from ragdatakit.outputs.written_files import IdKind, Output

Splits = Mapping[str, str | None]
"""The splits of questions by their ids; None for those that have none, or several."""


class SafeIds:
    """What the ids of one kind are called in the output.

    ``ids`` gives all of them, in any order and as often as they occur, and may be called again; ``is_safe`` says which
    ones can stay. The others are put together of their words, with a number where that name is taken. Only those are
    held.
    """

    def __init__(self, ids: Callable[[], Iterable[str]], is_safe: Callable[[str], bool]) -> None:
        unsafe = dict.fromkeys(found for found in ids() if not is_safe(found))
        self._names: dict[str, str] = {}
        if not unsafe:
            return
        bases = {found: _suggested(found) for found in unsafe}
        starts = tuple(sorted(set(bases.values())))
        taken = {found for found in ids() if found not in unsafe and found.startswith(starts)}
        free = FreeNames(taken)
        self._names = {found: free(base) for found, base in bases.items()}

    def __getitem__(self, found: str) -> str:
        return self._names.get(found, found)

    def tell(self, out: Output, kind: IdKind) -> None:
        """Write the mapping of the ids that have another name."""
        for found, name in self._names.items():
            out.renamed(kind, name, found)


def _suggested(found: str) -> str:
    """The words of an id, without what may mean something at its beginning."""
    words = re.sub("[\0\ufeff<&]", " ", found).split()
    return "_".join(words).lstrip('"#') or "id"


def passage_ids(tables: CanonicalTables, is_safe: Callable[[str], bool]) -> SafeIds:
    """Names for the ids of passages, also of those that are only judged or retrieved."""

    def ids() -> Iterator[str]:
        for document in tables.peek_passages():
            yield document.doc_id
        for qrel in tables.peek_passage_qrels():
            yield qrel.target_id
        for run in tables.peek("runs"):
            if run.target_id is not None:
                yield run.target_id

    return SafeIds(ids, is_safe)


def question_ids(tables: CanonicalTables, is_safe: Callable[[str], bool]) -> SafeIds:
    """Names for the ids of questions, also of those that are only judged or answered."""

    def ids() -> Iterator[str]:
        for question in tables.peek("questions"):
            if question.question_id is not None:
                yield question.question_id
        for table in ("qrels", "runs"):
            for row in tables.peek(table):
                yield row.question_id

    return SafeIds(ids, is_safe)


def numbered_questions(tables: CanonicalTables, ids: SafeIds, *columns: str) -> Iterator[tuple[str, Question]]:
    """The questions with their ids, each id once; a question without one gets ``q1``, ``q2`` and so on."""
    named = {q.question_id for q in tables.peek("questions") if q.question_id is not None}
    taken = {*named, *map(ids.__getitem__, named)}
    texts: dict[str, int] = {}
    number = 0
    for question in tables.take("questions", *columns):
        found = question.question_id
        if found is None:
            number += 1
            while f"q{number}" in taken:
                number += 1
            found = f"q{number}"
            tables.losses.add("derived", "questions", "question_id", "the question has no id", question.text)
        elif found in texts:
            if texts[found] != hash(question.text):
                tables.drop("questions", question, "duplicate id, with another text")
            else:
                tables.losses.add("derived", "questions", None, "the same question again, written once", found)
            continue
        texts[found] = hash(question.text)
        yield found, question


def judged_splits(judged: Iterable[tuple[str, str | None]]) -> dict[str, str | None]:
    """The split of each question that is judged in one split only: given questions and in which they are judged."""
    found: dict[str, str | None] = {}
    for question, split in judged:
        if found.setdefault(question, split) != split:
            found[question] = None
    return found


class Judgements:
    """The judgements as they are written: each once a split, by the names that the ids have.

    ``documents`` and ``questions`` are those that judgements must name; None: they may name any. ``splits`` are those
    of the questions that were written, ``usual`` is that of judgements that have none, and whose question has none.
    """

    def __init__(
        self,
        tables: CanonicalTables,
        passages: SafeIds,
        question_names: SafeIds,
        documents: Container[str] | None,
        questions: Container[str] | None,
        splits: Splits,
        usual: str = "",
    ) -> None:
        self._tables = tables
        self._passages = passages
        self._question_names = question_names
        self._documents = documents
        self._questions = questions
        self._splits = splits
        self._usual = usual
        self.judged: dict[str, str | None] = {}

    def lines(self) -> Iterator[tuple[str, str, str, int]]:
        """(split, question, document, grade) of each; ``""`` is no split. In the end ``judged`` has all questions."""
        tables = self._tables
        seen: dict[str, set[tuple[str, str]]] = {}
        for qrel in tables.take_passage_qrels("question_id", "target_id", "grade", "split"):
            given = qrel.split or self._splits.get(qrel.question_id) or ""
            split = given or self._usual
            pair = (qrel.question_id, qrel.target_id)
            judged = seen.setdefault(split, set())
            if why := self._refusal(qrel) or ("it is judged before in this split" if pair in judged else ""):
                tables.drop("qrels", qrel, why)
                continue
            judged.add(pair)
            if split != given:
                tables.losses.add("derived", "qrels", "split", "judgements are of a split", split)
            if self.judged.setdefault(qrel.question_id, split) != split:
                self.judged[qrel.question_id] = None
            yield split, self._question_names[qrel.question_id], self._passages[qrel.target_id], qrel.grade
        self._tell_splits()

    def _refusal(self, qrel: Qrel) -> str:
        if self._questions is not None and qrel.question_id not in self._questions:
            return "it is for a question that is not there"
        if self._documents is not None and qrel.target_id not in self._documents:
            return "it judges a passage that is not there"
        return ""

    def _tell_splits(self) -> None:
        """A question is of the split in which it is judged; what else it says of its split is lost."""
        for found, split in self._splits.items():
            if split and self.judged.get(found) != split:
                why = "a question is of the split in which it is judged"
                self._tables.losses.add("lost", "questions", "split", why, f"{found}: {split}")

    def write(
        self, out: Output, part_of: Callable[[str], str], name_of: Callable[[str], str], line: str, header: bytes = b""
    ) -> None:
        """A file for each split.

        ``part_of`` gives what stands for a split in the name of its file, which ``name_of`` makes of it; ``line`` is
        the pattern of a line.
        """
        files: dict[str, LineWriter] = {}
        with ExitStack() as opened:
            for part, query, document, grade in self.by_file(part_of):
                if part not in files:
                    files[part] = opened.enter_context(out.lines(name_of(part)))
                    files[part].put(header)
                files[part].write_line(line % (query, document, grade))

    def by_file(self, part_of: Callable[[str], str]) -> Iterator[tuple[str, str, str, int]]:
        """The judgements as `lines` gives them, with what stands for the split in the name of its file."""
        parts: dict[str, str] = {}
        for split, query, document, grade in self.lines():
            if split not in parts:
                part = parts[split] = part_of(split)
                if part != split:
                    why = "it names a file"
                    self._tables.losses.add("coerced", "qrels", "split", why, f"{split} became {part}")
            yield parts[split], query, document, grade
