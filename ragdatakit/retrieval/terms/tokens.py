"""Texts as tokens for lexical search, in any script, without a model.

1. Unicode NFKC (full-width letters, ligatures, circled digits).
2. Words: runs of letters and digits, with the marks that belong to them; ``_`` and all punctuation separate.
3. Parts: of ``getUserName2`` are ``get``, ``user``, ``name`` and ``2`` kept beside the whole.
4. Lower case, stop words, Snowball stemmer.
5. Chinese, Japanese and Korean runs give each character and each pair of neighbours. Hiragana is grammar for the most
   part: of a stretch of it only the first two characters are kept, as a pair, beside the pairs with what is around it.
   Other scripts without blanks between words (Thai, Lao, Khmer, Burmese) give each three neighbours.
6. A word of more than `LONGEST` characters is cut into pieces of that length, as they stand.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

from ragdatakit.retrieval.terms.japanese import JapaneseWords
from ragdatakit.retrieval.terms.stop_words import STOP_WORDS
from ragdatakit.schemas.errors import MissingExtraError, UnknownNameError

RULES = 1
"""Counted up whenever the same text gives other tokens."""
ANALYZERS = ("default", "ja")
LONGEST = 64
"""Characters of the longest token."""
_MOST_PARTS = 12
"""A word of more parts is no name but a checksum or a key."""
_CACHED = 1 << 19
"""Words whose tokens are remembered: about 100 MB."""
_SLICE = 1 << 20
"""Characters of a text that are cut into words at once: a list of words takes ten times their bytes."""
_HAN = "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_HAN += "\U00020000-\U0003ffff"
_HIRAGANA = "\u3041-\u309f\U0001b001-\U0001b11f\U0001b150-\U0001b152"
_KATAKANA = "\u30a0-\u30ff\u31f0-\u31ff\U0001b000\U0001b120-\U0001b122\U0001b164-\U0001b167"
_BOPOMOFO = "\u3100-\u312f\u31a0-\u31bf"
_HANGUL = "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff\ua9e0-\ua9ff\uaa60-\uaa7f"
_CJK = _HAN + _HIRAGANA + _KATAKANA + _BOPOMOFO
_JOINERS = "\u00ad\u200c\u200d\u2060\ufeff"
"""Characters that are within a word and are not seen."""
_NOT_SEEN = re.compile(f"[{_JOINERS}\u034f\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_ASCII = "".join(chr(code) if chr(code).isalnum() else " " for code in range(128))
_ASCII_WORD = re.compile(r"[^\W_]+")
_CHARACTER = re.compile(f"[^{_HIRAGANA}]")
_STRETCH = re.compile(f"[{_HIRAGANA}]+")
_PAIR = re.compile(f"(?=([^{_HIRAGANA}].|[{_HIRAGANA}][^{_HIRAGANA}]|(?<![{_HIRAGANA}])[{_HIRAGANA}]{{2}}))", re.DOTALL)
_THREE = re.compile("(?=(...))", re.DOTALL)
_ALL = re.compile(".+", re.DOTALL)

Span = tuple[str, int, int]
"""A token with the offsets of the characters it is made of."""


@cache
def _marks() -> str:
    """All combining marks, as what is between the brackets of a character class."""
    ranges: list[list[int]] = []
    for code in [*range(0x300, 0x1F000), *range(0xE0100, 0xE01F0)]:
        if unicodedata.category(chr(code))[0] == "M":
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


@cache
def _word() -> re.Pattern[str]:
    """A word with its marks. (The check before these is for speed: most words have none.)"""
    return re.compile(rf"[^\W_]+(?:(?![\0-\u00ac\u00ae-\u02ff])[{_marks()}{_JOINERS}]+[^\W_]*)*")


@cache
def _scripts() -> re.Pattern[str]:
    """The parts of a word whose scripts are treated alike."""
    kinds = {"cjk": _CJK, "hangul": _HANGUL, "unspaced": _UNSPACED}
    runs = [f"(?P<{kind}>[{kinds[kind]}][{kinds[kind]}{_marks()}{_JOINERS}]*)" for kind in kinds]
    return re.compile("|".join((*runs, f"(?P<word>[^{_CJK}{_HANGUL}{_UNSPACED}]+)")))


def _slices(text: str) -> Iterator[str]:
    """A text in parts that end where a blank begins: no word, and no character in its normal form, goes over one."""
    start = 0
    while start + _SLICE < len(text):
        end = text.rfind(" ", start + 1, start + _SLICE)
        if end < 0 and (end := text.find(" ", start + _SLICE)) < 0:
            break
        yield text[start:end]
        start = end
    yield text[start:]


class Tokenizer:
    """Cuts texts into tokens.

    ``analyzer`` is ``default``, or ``ja`` for the dictionary forms of Japanese words (what is not Japanese is treated
    as ever). ``stemmer`` is a Snowball language or ``none``; stop words go with it. Raises `UnknownNameError` for
    other names, `MissingExtraError` without the libraries.
    """

    def __init__(self, analyzer: str = "default", stemmer: str = "english") -> None:
        if analyzer not in ANALYZERS:
            raise UnknownNameError("analyzer", analyzer, ANALYZERS)
        self._settings: dict[str, Any] = {
            "analyzer": analyzer,
            "stemmer": stemmer,
            "rules": RULES,
            "unicode": unicodedata.unidata_version,
        }
        self._stem = _stemmer(stemmer)
        self._stop_words = STOP_WORDS.get(stemmer, frozenset())
        if self._stem is not None:
            from Stemmer import version

            self._settings["PyStemmer"] = version()
        self._japanese = None
        if analyzer == "ja":
            self._japanese = JapaneseWords()
            self._settings |= JapaneseWords.versions()
        self._words = _Words(self)

    @property
    def settings(self) -> dict[str, Any]:
        """All that decides about the tokens, as JSON values."""
        return dict(self._settings)

    def tokens(self, text: str) -> list[str]:
        """The tokens in order; the parts of a word follow it."""
        return " ".join(self.lines(text)).split()

    def lines(self, text: str) -> Iterator[str]:
        """The tokens with blanks between them: what an index is built from. Only a very long text has several lines."""
        return map(self._line, _slices(text))

    def _line(self, text: str) -> str:
        if text.isascii():
            return " ".join(map(self._words.__getitem__, text.translate(_ASCII).split()))
        return " ".join(map(self._words.__getitem__, _word().findall(unicodedata.normalize("NFKC", text))))

    def spans(self, text: str) -> list[Span]:
        """The tokens of `tokens` with their offsets in the text as it was given.

        Parts overlap with their whole. A token of a character that NFKC makes several of stands for all of it.
        """
        if text.isascii() or unicodedata.is_normalized("NFKC", text):
            return list(self._spans(text))
        normal, starts, ends = _aligned(text)
        return [(token, starts[start], ends[end - 1]) for token, start, end in self._spans(normal)]

    def _spans(self, text: str) -> Iterator[Span]:
        words = _ASCII_WORD if text.isascii() else _word()
        for match in words.finditer(text):
            word, at = match[0], match.start()
            if word.isascii() and " " not in (line := self._words[word]):
                if line:
                    yield line, at, at + len(word)  # the only token is the whole word
                continue
            for token, start, end in self.analyse(word):
                yield token, at + start, at + end

    def analyse(self, word: str) -> Iterator[Span]:
        """The tokens of one word as rule 2 has it, normalised."""
        if word.isascii():
            yield from self._of_word(word, 0)
            return
        for match in _scripts().finditer(word):
            piece, kind, at = match[0], match.lastgroup, match.start()
            if kind == "word":
                yield from self._of_word(piece, at)
            elif kind == "cjk" and self._japanese is not None:
                for token, start, end in self._japanese.words(piece):
                    yield token, at + start, at + end
            else:
                yield from _grams(piece, kind, at)

    def line_of(self, word: str) -> str:
        """The tokens of `analyse` with blanks between them."""
        if word.isascii():
            return " ".join([token for token, _, _ in self._of_word(word, 0)])
        lines = []
        for match in _scripts().finditer(word):
            piece, kind = match[0], match.lastgroup
            if kind == "word":
                lines += [token for token, _, _ in self._of_word(piece, 0)]
            elif kind == "cjk" and self._japanese is not None:
                lines += [token for token, _, _ in self._japanese.words(piece)]
            else:
                lines.append(_grams_line(_NOT_SEEN.sub("", piece), kind))
        return " ".join(lines)

    def _of_word(self, word: str, at: int) -> Iterator[Span]:
        if len(word) > LONGEST:
            for start in range(0, len(word), LONGEST):
                yield from _span(word[start : start + LONGEST], at + start)
            return
        whole = self._token(word)
        if not whole:
            return
        yield whole, at, at + len(word)
        if word.isalpha() and (word.islower() or word.isupper() or word[1:].islower()):
            return
        parts = _parts(word)
        if 1 < len(parts) <= _MOST_PARTS:
            for start, end in parts:
                if token := self._token(word[start:end]):
                    yield token, at + start, at + end

    def _token(self, word: str) -> str:
        """Empty for a stop word."""
        word = (word if word.isascii() else _NOT_SEEN.sub("", word)).lower()
        if word in self._stop_words:
            return ""
        return word if self._stem is None else self._stem(word) or word


class _Words(dict[str, str]):
    """The tokens of words, remembered; those of runs without blanks are not, they seldom come twice."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        super().__init__()
        self._tokenizer = tokenizer

    def __missing__(self, word: str) -> str:
        if len(word) > LONGEST or (not word.isascii() and _kind(word) != "word"):
            return self._tokenizer.line_of(word)
        if len(self) >= _CACHED:
            self.clear()
        line = self[word] = self._tokenizer.line_of(word)
        return line


def _kind(word: str) -> str | None:
    match = _scripts().match(word)
    return match.lastgroup if match else None


def _stemmer(name: str) -> Callable[[str], str] | None:
    if name == "none":
        return None
    try:
        import Stemmer
    except ImportError as error:
        raise MissingExtraError("retrieval", "PyStemmer") from error
    if name not in (known := Stemmer.algorithms()):
        raise UnknownNameError("stemmer", name, ["none", *known])
    stem: Callable[[str], str] = Stemmer.Stemmer(name, 0).stemWord
    return stem


def _span(piece: str, at: int) -> Iterator[Span]:
    """A piece as it stands, without what is not seen; nothing where nothing is left."""
    if token := _NOT_SEEN.sub("", piece).lower():
        yield token, at, at + len(piece)


def _gram_patterns(run: str, kind: str | None) -> tuple[re.Pattern[str], ...]:
    """What is found in a run without blanks: in the last group of each pattern."""
    if kind != "unspaced":
        return _CHARACTER, _PAIR
    return (_THREE,) if len(run) > 3 else (_ALL,)


def _grams(run: str, kind: str | None, at: int) -> Iterator[Span]:
    places: Sequence[int] = range(len(run))
    if (seen := _NOT_SEEN.sub("", run)) != run:
        places = [place for place, character in enumerate(run) if not _NOT_SEEN.match(character)]
    for pattern in _gram_patterns(seen, kind):
        group = pattern.groups
        for match in pattern.finditer(seen):
            yield match[group], at + places[match.start(group)], at + places[match.end(group) - 1] + 1


def _grams_line(seen: str, kind: str | None) -> str:
    """The tokens of `_grams`, faster."""
    if kind != "unspaced":
        return " ".join((*_STRETCH.sub("", seen), *_PAIR.findall(seen)))
    return " ".join(_gram_patterns(seen, kind)[0].findall(seen))


def _parts(word: str) -> list[tuple[int, int]]:
    """Where a word changes between letters and digits, or from lower to upper case: ``HTTPServer2`` is ``HTTP``,
    ``Server``, ``2``."""
    kinds = ["0" if c.isdigit() else "A" if c.isupper() else "a" if c.isalpha() else "" for c in word]
    begins, before = [0], kinds[0]
    for at in range(1, len(word)):
        kind = kinds[at]
        if not kind:
            continue
        if kind != before and (before, kind) != ("A", "a"):
            begins.append(at)
        elif (before, kind) == ("A", "a") and at - 1 > begins[-1]:
            begins.append(at - 1)
        before = kind
    return list(zip(begins, [*begins[1:], len(word)], strict=True))


@cache
def _continues(character: str) -> bool:
    """Whether NFKC may join a character with the one before it: marks, and the later parts of a Korean syllable."""
    first = unicodedata.normalize("NFKD", character)[0]
    return unicodedata.category(first)[0] == "M" or "\u1160" <= first <= "\u11ff"


def _aligned(text: str) -> tuple[str, list[int], list[int]]:
    """The text in NFKC, and for each of its characters where what it comes from begins and ends in the given text."""
    normal = unicodedata.normalize("NFKC", text)
    begins = [at for at, character in enumerate(text) if not at or not _continues(character)]
    pieces = [text[start:end] for start, end in zip(begins, [*begins[1:], len(text)], strict=True)]
    normals = [piece if piece.isascii() else unicodedata.normalize("NFKC", piece) for piece in pieces]
    if "".join(normals) != normal:  # a Unicode version that joins other characters
        begins, normals = [0], [normal]
    starts: list[int] = []
    ends: list[int] = []
    for begin, end, part in zip(begins, [*begins[1:], len(text)], normals, strict=True):
        starts += [begin] * len(part)
        ends += [end] * len(part)
    return normal, starts, ends
