"""Quality of texts: too short, too long, garbled, with control characters, there twice, there nearly twice."""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragdatakit.tables.flat_text import flat_words
from ragdatakit.tables.plain_tokens import count
from ragdatakit.validators.garbled import garbled
from ragdatakit.validators.quality_hits import Checked, Hit, Sought, shown_id

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragdatakit.validators.near_copies import NearCopies

_LOST = "\ufffd"
_CONTROL = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ufffd-\uffff]")


@dataclass(slots=True)
class TextKeys:
    """By ordinal, for all passages: a code of the text (0: it is blank), one of the id, one of its document's id.

    Texts that are nearly the same have one ``alike``.
    """

    keys: npt.NDArray[np.int64]
    ids: npt.NDArray[np.int64]
    documents: npt.NDArray[np.int64]
    alike: npt.NDArray[np.int64]


def check_texts(run: Checked) -> TextKeys:
    """Look at every passage; what is found are hits of the run. Memory: 24 bytes a text, 184 where near copies are
    looked for."""
    import numpy as np

    keys, ids, documents, exact = array("q"), array("q"), array("q"), array("q")
    told = run.hits.tells_same_text()
    near = _near_copies(run)
    least = max(run.options.near_words, 3)
    for ordinal, row in enumerate(run.passages("reading")):
        text = row.text or ""
        words = flat_words(text)
        squeezed = " ".join(text.split())
        keys.append(_key(squeezed))
        ids.append(_key(row[0]))
        if told:
            exact.append(hash(text))
        documents.append(_key(row.doc_id) if run.noun == "chunk" and row.doc_id is not None else 0)
        _check_one(run, row, text, words)
        if near is not None and len(words) >= least:
            near.add(ordinal, words)
    of_texts, of_ids, of_documents = (np.array(codes, np.int64) for codes in (keys, ids, documents))
    found = TextKeys(of_texts, of_ids, of_documents, of_texts)
    run.texts = found
    pairs = (
        list(_identical(found.keys, found.ids, np.array(exact, np.int64))) if run.hits.wants("identical-texts") else []
    )
    _keep_pairs(run, "identical-texts", [(later, earlier, {}) for later, earlier in pairs])
    if near is not None:
        _check_near(run, near, found)
    return found


def check_question_texts(run: Checked) -> None:
    """The same for questions, as far as it matters there: garbled text and control characters."""
    if not run.hits.wants("garbled-text", "control-character"):
        return
    if run.progress is not None:
        run.progress.doing = "reading questions"
    for row in run.tables.peek("questions"):
        values = tuple(value for value in (row.text, row.question_id) if value)
        _check_characters(run, Sought(values, row.split), "question", row.question_id, "text", row.text or "")


def _near_copies(run: Checked) -> NearCopies | None:
    of_negatives = run.hits.wants("negative-like-positive") and run.tables.any("triplets")
    if not run.hits.wants("near-identical-texts") and not of_negatives:
        return None
    from ragdatakit.validators.near_copies import NearCopies

    return NearCopies(run.options.near_similarity, run.options.near_similarity_replaced)


def _check_one(run: Checked, row: Any, text: str, words: Sequence[str]) -> None:
    options, hits = run.options, run.hits
    place = Sought((text, row[0]))
    facts = {"table": run.noun, "id": shown_id(row[0])}
    image = run.noun == "chunk" and row.image_path
    if len(words) < options.least_words and not image:
        told = "no word" if not words else "1 word" if len(words) == 1 else f"{len(words):,} words"
        hits.keep(Hit("few-words-text", place, text, {**facts, "words": told}))
    elif len(text) > options.most_tokens and (number := count(text)) > options.most_tokens:
        told_most = {"tokens": number, "most": options.most_tokens}
        hits.keep(Hit("over-token-budget", place, None, {**facts, **told_most}))
    _check_characters(run, place, run.noun, row[0], "text", text)
    title = row.title if run.noun == "document" else None
    if title:
        _check_characters(run, Sought((title, row[0])), run.noun, row[0], "title", title)


def _check_characters(run: Checked, place: Sought, noun: str, name: str | None, field: str, text: str) -> None:
    hits = run.hits
    if hits.wants("garbled-text") and (found := garbled(text)) is not None:
        fragment, repaired = found
        told = f" (perhaps it was {_quoted(repaired)})" if repaired else ""
        facts = {"fragment": _quoted(fragment), "repaired": told}
        hits.keep(Hit("garbled-text", place, fragment, facts, fragment))
    elif (not text.isprintable() or _LOST in text) and (match := _CONTROL.search(text)) is not None:
        number = len(_CONTROL.findall(text))
        facts = {
            "what": _named(match[0]),
            "field": field,
            "table": noun,
            "id": shown_id(name),
            "more": f", and {number - 1:,} more" if number > 1 else "",
        }
        hits.keep(Hit("control-character", place, match[0], facts, match[0]))


def _named(character: str) -> str:
    if character == _LOST:
        return "replacement character U+FFFD"
    kind = "control character" if unicodedata.category(character) == "Cc" else "character"
    return f"{kind} U+{ord(character):04X}"


def _quoted(words: str) -> str:
    return f"“{words if len(words) <= 60 else words[:59] + '…'}”"


def _key(text: str) -> int:
    """A code of a text, never 0 but for a blank one; equal texts have equal codes in this process."""
    return hash(text) or 1 if text else 0


def _identical(
    keys: npt.NDArray[np.int64], ids: npt.NDArray[np.int64], exact: npt.NDArray[np.int64]
) -> Iterator[tuple[int, int]]:
    """(text, first text that is the same under another id), by the first number; without those whose codes are the
    same in ``exact``, where this is not empty."""
    import numpy as np

    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    firsts = first[inverse]
    again = np.flatnonzero((keys != 0) & (ids != ids[firsts]))
    if len(exact):
        again = again[exact[again] != exact[firsts[again]]]
    yield from zip(again.tolist(), firsts[again].tolist(), strict=True)


def _keep_pairs(run: Checked, rule: str, pairs: Sequence[tuple[int, int, dict[str, Any]]]) -> None:
    """Keep pairs of passages as far as there is room; their ids and texts are read again."""
    if not pairs:
        return
    kept = 0
    most = run.hits.collector.selection.max_per_rule
    while kept < len(pairs) and run.hits.room(rule) and (not most or kept < most):
        kept += 1
    rows = _rows(run, {number for pair in pairs[:kept] for number in pair[:2]})
    for later, earlier, facts in pairs[:kept]:
        row, first = rows[later], rows[earlier]
        told = {"table": run.noun, "id": shown_id(row[0]), "other": shown_id(first[0]), **facts}
        other = Sought((first.text, first[0]))
        run.hits.keep(Hit(rule, Sought((row.text, row[0])), row[0], told, "", other, "the earlier one"))
    run.hits.count(rule, None, len(pairs) - kept)


def _rows(run: Checked, ordinals: set[int]) -> dict[int, Any]:
    found: dict[int, Any] = {}
    for ordinal, row in enumerate(run.passages("reading again") if ordinals else ()):
        if ordinal in ordinals:
            found[ordinal] = row
            if len(found) == len(ordinals):
                break
    return found


def _check_near(run: Checked, near: NearCopies, found: TextKeys) -> None:
    def read() -> Iterator[tuple[int, str]]:
        for ordinal, row in enumerate(run.passages("comparing")):
            yield ordinal, row.text

    pairs = near.pairs(found.keys, read)
    told = [(later, earlier, {"similarity": f"{100 * alike:.0f} %"}) for later, earlier, alike in pairs]
    _keep_pairs(run, "near-identical-texts", told)
    if pairs:
        found.alike = _alike(found.keys, pairs)


def _alike(keys: npt.NDArray[np.int64], pairs: Sequence[tuple[int, int, float]]) -> npt.NDArray[np.int64]:
    """The codes of texts, those of near copies replaced by that of the earliest."""
    import numpy as np

    roots: dict[int, int] = {}
    for later, earlier, _ in pairs:  # rising, so that an earlier one has its root already
        key, root = int(keys[later]), int(keys[earlier])
        roots[key] = roots.get(root, root)
    old = np.array(sorted(roots), np.int64)
    new = np.array([roots[key] for key in old.tolist()], np.int64)
    places = np.minimum(np.searchsorted(old, keys), len(old) - 1)
    return np.where(old[places] == keys, new[places], keys)
