"""Quality of texts: too short, too long, cut off, garbled, with control characters, there twice or nearly twice."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ragdatakit.arrays.code_tables import repeated
from ragdatakit.files.texts.cut_texts import TextLengths
from ragdatakit.files.texts.plain_tokens import count
from ragdatakit.quality.findings import Checked, RecordLookup, TextKeys, question_at, question_lookup, shown_id
from ragdatakit.quality.garbled import garbled
from ragdatakit.quality.measures import Measuring, in_batches, named_texts, text_at
from ragdatakit.quality.near_copies import NearCopies
from ragdatakit.quality.odd_characters import CONTROL
from ragdatakit.quality.word_codes import RUN
from ragdatakit.schemas.texts import many

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragdatakit.converters.kept_texts import Look, Passages


_LOST = "\ufffd"
_CONTROL = re.compile(f"[{CONTROL}]")


def check_texts(run: Checked) -> TextKeys:
    """Look at every passage. Memory: 49 bytes a text, 165 where near copies are looked for."""
    ids, keys, exact = ([np.zeros(0, np.int64)] for _ in range(3))
    number = 0
    near = _near_copies(run)
    look = _Look(run)
    lengths = TextLengths()
    measuring = _measuring(run, near)
    for batch in measuring.each(_first_passages(run, measuring)):
        ids.append(batch.ids)
        keys.append(batch.squeezed)
        exact.append(batch.exact)
        for place, row in batch.looks.items():
            look.at(row, number + place, row.text or "", int(batch.words[place]))
        lengths.extend(batch.lengths)
        number += len(batch.words)
    of_texts = np.concatenate(exact)
    run.note_passages(of_texts)
    codes = np.concatenate(keys)
    found = TextKeys(codes, np.concatenate(ids), codes)
    run.texts = found
    again, firsts = repeated(codes)
    if run.findings.wants("identical-texts"):
        counts = (codes[again] != 0) & (found.ids[again] != found.ids[firsts])
        if run.findings.reports_same_text():
            counts &= of_texts[again] != of_texts[firsts]
        pairs = zip(again[counts].tolist(), firsts[counts].tolist(), strict=True)
        _keep_pairs(run, "identical-texts", [(later, earlier, {}) for later, earlier in pairs])
    if near is not None:
        _check_near(run, near, found, again)
    _check_cut(run, lengths)
    return found


def _first_passages(run: Checked, measuring: Measuring) -> Iterator[Passages]:
    """All passages, some thousands at a time; some of them were looked at where they were scanned."""
    if run.progress is not None:
        run.progress.doing = "reading"
    return _passages(run, measuring.in_library)


def _passages(run: Checked, look: Look | None) -> Iterator[Passages]:
    blocks = run.tables.blocks.get(run.table)
    return blocks(run.jobs, look) if blocks is not None else in_batches(run.tables.peek(run.table))


def _texts_again(run: Checked, doing: str, numbers: Sequence[int]) -> Iterator[tuple[int, str]]:
    """Some passages, by their rising numbers, with these; ``doing`` is what progress says of it."""
    if run.progress is not None:
        run.progress.doing = doing
    first = done = 0
    for rows in _passages(run, None):
        while done < len(numbers) and (place := numbers[done] - first) < len(rows):
            yield numbers[done], text_at(rows, place)
            done += 1
        if done == len(numbers):
            return
        first += len(rows)


def _measuring(run: Checked, near: NearCopies | None) -> Measuring:
    return Measuring(
        least_words=run.options.least_words,
        most_characters=run.options.most_tokens,
        characters=run.findings.wants("garbled-text", "control-character"),
        garbled=run.findings.wants("garbled-text"),
        titles=run.noun == "document",
        near_words=max(run.options.near_words, RUN),
        near=near,
        jobs=run.jobs,
        hashed_ids=run.tables.any("triplets"),
    )


def check_question_texts(run: Checked) -> None:
    """The same for questions, as far as it matters there: garbled text and control characters."""
    if not run.findings.wants("garbled-text", "control-character"):
        return
    if run.progress is not None:
        run.progress.doing = "reading questions"
    first = 0
    for block in run.questions():
        texts = [text or "" for text in block.text]
        for number in named_texts(texts, run.findings.wants("garbled-text")):
            if not ((text := texts[number]).isascii() and text.isprintable()):
                row = question_at(block, number)
                place = partial(question_lookup, row, row.split, first + number)
                _check_characters(run, place, "question", row.question_id, "text", text)
        first += len(texts)


def _near_copies(run: Checked) -> NearCopies | None:
    of_negatives = run.findings.wants("negative-like-positive") and run.tables.any("triplets")
    if not run.findings.wants("near-identical-texts") and not of_negatives:
        return None
    return NearCopies(run.options.near_similarity, run.options.near_similarity_replaced)


class _Look:
    """What is reported of a passage by itself."""

    def __init__(self, run: Checked) -> None:
        self._run = run
        self._noun = run.noun
        self._least, self._most = run.options.least_words, run.options.most_tokens
        self._characters = run.findings.wants("garbled-text", "control-character")

    def at(self, row: Any, number: int, text: str, words: int) -> None:
        """One passage, its number, and how many words it has."""
        if words < self._least:
            if self._noun != "chunk" or not row.image_path:
                counted = many(words, "word") if words else "no word"
                self._keep("few-words-text", row, number, text, {"words": counted})
        elif len(text) > self._most and (tokens := count(text)) > self._most:
            self._keep("over-token-budget", row, number, None, {"tokens": tokens, "most": self._most})
        if not self._characters:
            return
        if not (text.isascii() and text.isprintable()):
            _check_characters(self._run, partial(_place, self._run, row, number), self._noun, row[0], "text", text)
        if self._noun == "document" and row.title and not (row.title.isascii() and row.title.isprintable()):
            _check_characters(self._run, partial(_title, row, number), self._noun, row[0], "title", row.title)

    def _keep(self, rule: str, row: Any, number: int, value: str | None, facts: dict[str, Any]) -> None:
        named = {"table": self._noun, "id": shown_id(row[0])}
        self._run.findings.keep(rule, _place(self._run, row, number), value, {**named, **facts})


def _place(run: Checked, row: Any, number: int) -> RecordLookup:
    """A passage by its text, its id, and its title: where the reader makes up the ids, that distinguishes equal
    texts; where there is no title, which of them it is does."""
    title = (row.title,) if run.noun == "document" and row.title else ()
    return RecordLookup((row.text or "", row[0], *title), None, row.text or "", (run.table, number))


def _title(row: Any, number: int) -> RecordLookup:
    """The title of a document."""
    text = (row.text,) if row.text else ()
    return RecordLookup((row.title, row[0], *text), None, row.text or "", ("documents", number))


def _check_characters(
    run: Checked, place: Callable[[], RecordLookup], noun: str, name: str | None, field: str, text: str
) -> None:
    """Look at the characters of a text that is not plain."""
    if run.findings.wants("garbled-text") and (found := garbled(text)) is not None:
        fragment, repaired = found
        guess = f" (perhaps it was {_quoted(repaired)})" if repaired else ""
        facts = {"fragment": _quoted(fragment), "repaired": guess}
        run.findings.keep("garbled-text", place(), fragment, facts, fragment)
    elif (not text.isprintable() or _LOST in text) and (match := _CONTROL.search(text)) is not None:
        number = len(_CONTROL.findall(text))
        facts = {
            "what": _named(match[0]),
            "field": field,
            "table": noun,
            "id": shown_id(name),
            "more": f", one of {number:,} such characters" if number > 1 else "",
            "obeyed": "" if match[0] == _LOST else "; tools that show the text may obey it",
        }
        run.findings.keep("control-character", place(), match[0], facts, match[0])


def _named(character: str) -> str:
    if character == _LOST:
        return "replacement character U+FFFD"
    kind = "control character" if unicodedata.category(character) == "Cc" else "character"
    return f"{kind} U+{ord(character):04X}"


def _quoted(words: str) -> str:
    return f"“{words if len(words) <= 60 else words[:59] + '…'}”"


def _keep_pairs(run: Checked, rule: str, pairs: Sequence[tuple[int, int, dict[str, Any]]]) -> None:
    """Keep pairs of passages as far as there is room; their ids and texts are read again."""
    if not pairs:
        return
    kept = 0
    most = run.findings.collector.selection.max_per_rule
    while kept < len(pairs) and run.findings.room(rule) and (not most or kept < most):
        kept += 1
    rows = _rows(run, {number for pair in pairs[:kept] for number in pair[:2]})
    for later, earlier, facts in pairs[:kept]:
        row, first = rows[later], rows[earlier]
        named = {"table": run.noun, "id": shown_id(row[0]), "other": shown_id(first[0]), **facts}
        place, other = _place(run, row, later), _place(run, first, earlier)
        run.findings.keep(rule, place, row[0], named, "", other, "the earlier one")
    run.findings.count(rule, None, len(pairs) - kept)


def _rows(run: Checked, ordinals: set[int]) -> dict[int, Any]:
    found: dict[int, Any] = {}
    for ordinal, row in enumerate(run.passages("reading again") if ordinals else ()):
        if ordinal in ordinals:
            found[ordinal] = row
            if len(found) == len(ordinals):
                break
    return found


def _check_cut(run: Checked, lengths: TextLengths) -> None:
    def read(numbers: Sequence[int]) -> Iterator[str]:
        return (text for _, text in _texts_again(run, "reading again", numbers))

    if not run.findings.wants("texts-cut-off") or (cut := lengths.cut_off(read)) is None:
        return
    row = _rows(run, {cut.first})[cut.first]
    facts = {"what": cut.words(run.noun), "id": shown_id(row[0])}
    run.findings.keep("texts-cut-off", _place(run, row, cut.first), None, facts)


def _check_near(run: Checked, near: NearCopies, found: TextKeys, again: npt.NDArray[np.int64]) -> None:
    pairs = near.pairs(again, run.jobs, partial(_texts_again, run, "comparing"))
    similar = [(later, earlier, {"similarity": f"{100 * alike:.0f} %"}) for later, earlier, alike in pairs]
    _keep_pairs(run, "near-identical-texts", similar)
    if pairs:
        found.alike = _alike(found.keys, pairs)


def _alike(keys: npt.NDArray[np.int64], pairs: Sequence[tuple[int, int, float]]) -> npt.NDArray[np.int64]:
    """The codes of texts, those of near copies replaced by that of the earliest."""
    roots: dict[int, int] = {}
    for later, earlier, _ in pairs:  # rising, so that an earlier one has its root already
        key, root = int(keys[later]), int(keys[earlier])
        roots[key] = roots.get(root, root)
    old = np.array(sorted(roots), np.int64)
    new = np.array([roots[key] for key in old.tolist()], np.int64)
    places = np.minimum(np.searchsorted(old, keys), len(old) - 1)
    return np.where(old[places] == keys, new[places], keys)
