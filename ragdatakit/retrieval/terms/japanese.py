"""Japanese text as the dictionary forms of its content words, by MeCab (fugashi) with the dictionary UniDic lite."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from ragdatakit.schemas.errors import MissingExtraError

CONTENT = frozenset(("名詞", "動詞", "形容詞", "形状詞", "副詞", "接頭辞", "接尾辞", "連体詞", "感動詞"))
"""Parts of speech that are kept: all but particles, auxiliary verbs, pronouns, conjunctions, symbols and blanks."""
_LEMMA = 7
"""The field of the dictionary form."""
_CACHED = 1 << 18
_WINDOW = 2000
"""Characters that are analysed at once: the memory that this takes grows with them."""


class JapaneseWords:
    """Finds the words in a run of Japanese characters. Raises `MissingExtraError` without the libraries."""

    def __init__(self) -> None:
        try:
            import fugashi
            import unidic_lite
        except ImportError as error:
            raise MissingExtraError("ja", "fugashi and unidic-lite") from error
        folder = Path(unidic_lite.DICDIR).as_posix()
        # Named, because the library takes another dictionary where there is one.
        self._tagger = fugashi.GenericTagger(f'-r "{folder}/mecabrc" -d "{folder}"')
        self._lemmas = _Lemmas()

    @staticmethod
    def versions() -> dict[str, str]:
        """What decides about the words."""
        return {"fugashi": version("fugashi"), "unidic-lite": version("unidic-lite")}

    def words(self, run: str) -> Iterator[tuple[str, int, int]]:
        """The dictionary form of each content word with its offsets; the word as it stands where it has none."""
        for begin in range(0, len(run), _WINDOW):
            window, at = run[begin : begin + _WINDOW], begin
            for node in self._tagger(window):
                surface: str = node.surface
                start, at = at, at + len(surface)
                lemma = self._lemmas[node.feature_raw]
                if lemma is not None:
                    yield lemma or surface, start, at


class _Lemmas(dict[str, str | None]):
    """The dictionary form by the dictionary's fields; empty where it has none, None for what is not kept."""

    def __missing__(self, fields: str) -> str | None:
        values = next(csv.reader([fields]))
        lemma = None
        if values[0] in CONTENT:
            found = values[_LEMMA] if len(values) > _LEMMA else ""
            # The lemma of a loan word has the foreign word behind a hyphen.
            lemma = found.partition("-")[0].strip("* ")
        if len(self) >= _CACHED:
            self.clear()
        self[fields] = lemma
        return lemma
