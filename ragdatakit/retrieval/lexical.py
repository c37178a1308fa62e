"""Lexical search: BM25 (k1 1.2, b 0.75) by tantivy over the tokens of our own tokenizer.

tantivy sees tokens with blanks between them and only takes them apart again. One thread writes, so that the same
passages give the same index.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any
from weakref import finalize

import numpy as np

from ragdatakit.retrieval.index_parts import Progress, Ranking
from ragdatakit.retrieval.terms.accents import accent_pattern
from ragdatakit.schemas.errors import MissingExtraError, RagdataError

if TYPE_CHECKING:
    import numpy.typing as npt
    import tantivy

    from ragdatakit.files.reading.canonical_tables import CanonicalTables
    from ragdatakit.retrieval.passages import Passage, Passages
    from ragdatakit.retrieval.terms.tokens import Tokenizer
    from ragdatakit.schemas.retrieved import Query

    Array = npt.NDArray[Any]

_TEXT, _ORDINAL = "text", "ordinal"
_HEAP = 128_000_000
"""Bytes that the writer fills before it writes a segment."""
_SLACK = 16
"""Passages that are fetched beyond those asked for, for ties."""
_SAME = 1e-6
"""Scores that differ by less of their size are equal: their sums of 32-bit floats depend on the order of adding."""
_MOST_FETCHED = 8192
"""Passages that are fetched at once because their scores are equal: about 10 ms. One-word questions have as many, as
the lengths of passages are rounded."""
_PROGRESS_EVERY = 10_000


class LexicalPart:
    """BM25 over the passages: title, context and text."""

    kind = "lexical"

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer

    @property
    def settings(self) -> Mapping[str, Any]:
        """The tokenizer's, and the engine's version: the index format belongs to it."""
        return {"tokenizer": self.tokenizer.settings, "tantivy": _tantivy().__version__}

    def build(
        self, folder: Path, passages: Passages, tables: Callable[[], CanonicalTables], progress: Progress | None
    ) -> Mapping[str, Any]:
        """Write the index into the folder."""
        self._prepare(tables)
        tantivy = _tantivy()
        index = tantivy.Index(_schema(tantivy), path=str(folder), reuse=False, sort_by_field=_ORDINAL)
        writer = index.writer(_HEAP, 1)
        total, without_terms = len(passages), 0
        for ordinal, passage in enumerate(passages):
            document = tantivy.Document()
            document.add_integer(_ORDINAL, ordinal)
            has_terms = False
            for line in self.tokenizer.lines(self._text(passage)):
                document.add_text(_TEXT, line)
                has_terms = has_terms or bool(line)
            without_terms += not has_terms
            writer.add_document(document)
            if progress is not None and ordinal % _PROGRESS_EVERY == 0:
                progress("lexical index", ordinal, total)
        writer.commit()
        writer.wait_merging_threads()
        if progress is not None:
            progress("lexical index", total, total)
        return {"passages": total, **({"without_terms": without_terms} if without_terms else {})}

    def _prepare(self, tables: Callable[[], CanonicalTables]) -> None:
        """Read what is needed besides the passages: nothing."""

    def _text(self, passage: Passage) -> str:
        """What is indexed of a passage."""
        return passage.searched

    def open(self, folder: Path, passages: Passages) -> LexicalRanker:
        """Open what was built."""
        return LexicalRanker(folder, self.tokenizer)


class LexicalRanker:
    """An open lexical index. Raises `RagdataError` where the folder has none that can be read."""

    def __init__(self, folder: Path, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self._tantivy = _tantivy()
        try:
            index = self._opened(folder)
            self._schema, self._searcher = index.schema, index.searcher()
        except (OSError, ValueError) as error:
            raise RagdataError(
                f"the lexical index cannot be opened; delete {folder} and index again: {error}"
            ) from error

    def _opened(self, folder: Path) -> tantivy.Index:
        """The index; from a folder of links where its own is read-only, as tantivy writes a lock next to it."""
        place = str(folder)
        if not os.access(folder, os.W_OK):
            place = mkdtemp(prefix="ragdata-")
            finalize(self, shutil.rmtree, place, ignore_errors=True)
            for file in folder.glob("[!.]*"):  # not the lock itself
                Path(place, file.name).symlink_to(file.absolute())
        index: tantivy.Index = self._tantivy.Index.open(place)
        return index

    def known(self, token: str) -> bool:
        """Whether a token is in the index."""
        return self.document_frequency(token) > 0

    def with_other_accents(self, token: str) -> int | None:
        """The first passage that has the token with other accents; None where there is none.

        Tokens of fewer than four letters, and those in letters that take no accents, are not looked for.
        """
        pattern = accent_pattern(token)
        if not pattern:
            return None
        ordinals, _ = self._hits(self._tantivy.Query.regex_query(self._schema, _TEXT, pattern), 1)
        return int(ordinals[0]) if len(ordinals) else None

    def document_frequency(self, token: str) -> int:
        """How many passages have a token."""
        try:
            count: int = self._searcher.doc_freq(_TEXT, token)
        except ValueError:  # half of a character
            return 0
        return count

    def rank(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        """For each query the ``k`` best passages. Equal scores are in the order of the passages, also at the end."""
        return [self._rank(query.text, k) for query in queries]

    def _rank(self, text: str, k: int) -> Ranking:
        counts = Counter(self.tokenizer.tokens(text))
        query = self._query(counts)
        passages = self._searcher.num_docs if counts and k > 0 else 0
        k = min(k, passages)
        limit = k + _SLACK
        while True:
            ordinals, scores = self._hits(query, limit) if passages else _nothing()
            if len(scores) < limit or scores[-1] < scores[k - 1] * (1 - _SAME):
                return _ordered(ordinals, scores, k)
            if limit >= _MOST_FETCHED:
                return self._first_of_equal(query, ordinals, scores, k)
            limit = min(32 * limit, max(_MOST_FETCHED, 2 * k))

    def _first_of_equal(self, query: tantivy.Query, ordinals: Array, scores: Array, k: int) -> Ranking:
        """The ``k`` best where too many have the score of the last: these are looked for in ranges of passages, from
        the first on, as wide as the number of them allows."""
        same = scores >= scores[k - 1] * (1 - _SAME)
        begin = int(np.argmax(scores <= scores[k - 1] * (1 + _SAME)))
        least, wanted = float(scores[same][-1]) * (1 - _SAME), k - begin
        first, width, most = 0, len(scores), len(scores)
        found: list[int] = []
        while len(found) < wanted and first < self._searcher.num_docs:
            near, near_scores = self._hits(self._within(query, first, first + width), most)
            equal = np.sort(near[near_scores >= least])
            if len(near) == len(equal) == most and width > most:
                width = max(most, width // 4)
                continue
            found += equal[~np.isin(equal, ordinals[:begin])].tolist()
            first, width = first + width, 4 * width
        chosen = np.concatenate((ordinals[:begin], np.array(found[:wanted], np.int64)))
        return _ordered(chosen, np.concatenate((scores[:begin], np.full(len(chosen) - begin, scores[k - 1]))), k)

    def _hits(self, query: tantivy.Query, limit: int) -> tuple[Array, Array]:
        """Ordinals and scores by falling score."""
        hits = self._searcher.search(query, limit, count=False).hits
        if not hits:
            return _nothing()
        ordinals = self._searcher.fast_field_values(_ORDINAL, [address for _, address in hits])
        return np.array(ordinals, np.int64), np.array([score for score, _ in hits], np.float64)

    def _within(self, query: tantivy.Query, first: int, end: int) -> tantivy.Query:
        """The same with the same scores, for a range of ordinals."""
        make, must, integer = self._tantivy.Query, self._tantivy.Occur.Must, self._tantivy.FieldType.Integer
        within = make.range_query(self._schema, _ORDINAL, integer, first, end, True, False)
        combined: tantivy.Query = make.boolean_query([(must, query), (must, make.const_score_query(within, 0.0))])
        return combined

    def _query(self, counts: Mapping[str, int]) -> tantivy.Query:
        query, should = self._tantivy.Query, self._tantivy.Occur.Should
        terms = []
        for token, count in counts.items():
            term = query.term_query(self._schema, _TEXT, token, "freq")
            terms.append((should, term if count == 1 else query.boost_query(term, float(count))))
        combined: tantivy.Query = query.boolean_query(terms)
        return combined


def _nothing() -> tuple[Array, Array]:
    return np.empty(0, np.int64), np.empty(0, np.float64)


def _ordered(ordinals: Array, scores: Array, k: int) -> Ranking:
    """The ``k`` best of what was found by falling score; scores that count as equal become equal."""
    if len(scores) > 1:
        begins = np.concatenate(([True], scores[1:] < scores[:-1] * (1 - _SAME)))
        scores = scores[begins][np.cumsum(begins) - 1]
    order = np.lexsort((ordinals, -scores))[:k]
    return Ranking(ordinals[order], scores[order])


def _schema(engine: Any) -> tantivy.Schema:
    builder = engine.SchemaBuilder()
    builder.add_text_field(_TEXT, stored=False, tokenizer_name="whitespace", index_option="freq")
    builder.add_integer_field(_ORDINAL, stored=False, indexed=False, fast=True)
    schema: tantivy.Schema = builder.build()
    return schema


def _tantivy() -> Any:
    try:
        import tantivy
    except ImportError as error:
        raise MissingExtraError("retrieval", "tantivy") from error
    return tantivy
