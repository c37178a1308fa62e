"""A guess at the languages of texts: by their scripts, else by the stop words that are in them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import repeat
from typing import TYPE_CHECKING

import numpy as np

from ragdatakit.reports.summary.numbers import MOST_VALUES
from ragdatakit.schemas.summaries import Frequencies, Note

if TYPE_CHECKING:
    from ragdatakit.database.dataset_database import DatasetDatabase
    from ragdatakit.reports.summary.texts import Column

UNCLEAR = "unclear"
"""What is said of a text whose language nothing shows: too short, code, or a language that is not known here."""
_LEAST_WORDS = 2
_LEAST_SHARE = 0.1
"""In prose a third of the words or more are stop words; in code, names and lists of terms next to none are."""
_WORD = re.compile(r"[^\W\d_]+")
_ASCII = bytes(range(128))
_LETTERS = bytes(code if code > 127 or chr(code).isalpha() else ord(" ") for code in range(256)).lower()
"""Letters of ASCII in lower case, all its other characters as blanks."""
_STOP_WORDS = {
    "English": "the of and to in is that it was for on with as are this by be which from or a an at not have has had "
    "were been but they their its what who whom whose when where why how does did do can could will would than his "
    "her he she you your we our i my if into about between more most also only no after before during while such "
    "these those there some any all me per without within under over should may might",
    "German": "der die das und ist nicht von zu den mit sich auf für ein eine einer einem einen dem des wird auch als "
    "bei im am vom zum zur sind war in wie was wer wann wo warum welche welcher welches hat haben wurde werden nach "
    "aus oder um an über nur noch kein keine es er sie wir ich durch dass kann",
    "French": "le la les des et est une un du de dans que pour qui sur pas au aux par avec sont plus ce cette ces en à "
    "a qu il elle on se sa son ses leur ne été ont où quand comment pourquoi quel quelle quels quelles était "
    "ou mais comme nous vous je",
    "Spanish": "el los las la del de que qué y en una un por con para es su sus se como cómo más pero fue este esta "
    "entre a al lo le ha son no si o sin sobre quién cuándo dónde cuál cuáles desde era han también",
    "Portuguese": "o os a as uma um do da dos das de e em no na nos não para com que quem por mais como foi ao à são "
    "seu sua se é ou qual quais quando onde pelo pela era mas foram também",
    "Italian": "il lo la le i gli della dei delle del di da e che chi è per un una con sono nel nella non anche più "
    "come alla al dal si ha quando dove perché quale quali cosa stato era o ma suo sua",
    "Dutch": "de het een en van in is niet dat die op te zijn met voor er maar om ook als aan wordt bij door wat wie "
    "wanneer waar hoe waarom welke welk heeft was werd hun haar hij zij naar uit of kan",
    "Swedish": "och i att det den de som en ett är på av för med till inte om har hade från jag man men var vad vem "
    "när hur varför vilken vilket vilka sig kan eller vid under han hon",
    "Polish": "nie na się w we z i do że jest są jak jaki jaka jakie co kto kiedy gdzie dlaczego czy ale od tak przez "
    "był była było oraz który która które przy już tylko także dla po o za ile",
    "Turkish": "ve bir bu için ile da de çok daha olarak gibi olan olduğu ne ama kadar sonra değil ya en her kim "
    "nerede hangi neden mi kaç hangisi zaman ilk mu bunu değildir",
    "Indonesian": "yang dan di itu ini dengan untuk tidak dari dalam akan pada juga ke adalah oleh ada bisa atau apa "
    "siapa kapan mana bagaimana mengapa berapa sebagai para telah sudah",
    "Russian": "и в во не на что как это для так все был была было были или он она они при только если может кто "
    "где когда почему какой какая какие сколько из по к от до её же чтобы",
}
_CYRILLIC = frozenset({"Russian"})
_OF_SCRIPT = {
    "Japanese": "Japanese",
    "Han": "Chinese",
    "Hangul": "Korean",
    "Thai": "Thai",
    "Greek": "Greek",
    "Hebrew": "Hebrew",
    "Armenian": "Armenian",
    "Georgian": "Georgian",
}
"""Languages that their scripts identify."""


Sampled = tuple[str, int, int]
"""Which texts, how many of them were read, how many there are."""


def languages(database: DatasetDatabase, column: Column, what: str) -> tuple[Frequencies | None, Sampled | None]:
    """A guess at the languages of a column's texts, and how many were read where that is not all of them.

    None where the language of no text can be guessed, as of ids, names and numbers.
    """

    from ragdatakit.reports.summary.shown_texts import BEGINNING, encoded_beginnings_at, places_to_read
    from ragdatakit.reports.summary.text_numbers import SCRIPTS

    chosen = places_to_read(column.tokens, column.scripts)
    if not len(chosen):
        return None, None
    texts = encoded_beginnings_at(database, column.table, column.name, column.read[chosen], BEGINNING)
    names = (SCRIPTS[script] for script in column.scripts[chosen].tolist())
    counts = Counter(languages_of(zip(names, texts, strict=True)))
    if not counts.keys() - {UNCLEAR}:
        return None, None
    found = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    place = f"{column.table}.{column.name}.language"
    frequencies = Frequencies(place, f"Languages of {what} (a guess)", tuple(found[:MOST_VALUES]), len(found))
    if len(chosen) == np.count_nonzero((column.tokens > 0) & (column.scripts > 0)):
        return frequencies, None
    total = int(np.count_nonzero(column.characters > 0))
    return frequencies, (what, len(chosen), total)


def languages_note(sampled: Sequence[Sampled]) -> Note:
    """One note for all columns whose texts were not all read; ``sampled`` is not empty."""
    counts = ", ".join(f"{read:,} of {total:,} {what}" for what, read, total in sampled)
    words = f"languages are guessed from texts that are evenly spread: {counts}"
    return Note("sampled.languages", words, sum(read for _, read, _ in sampled))


def languages_of(texts: Iterable[tuple[str, bytes]]) -> Iterator[str]:
    """The language of each text, given with its script, as UTF-8, or `UNCLEAR`.

    A script that only one language has identifies it. Of other texts the language of most different stop words counts,
    where there are two of them. One alone (``van``, ``de`` and ``la`` are in names, too), or as many of several
    languages, show only the language that most of the other texts have.
    """
    given = list(texts)
    words = _stop_words_of([text for script, text in given if script not in _OF_SCRIPT])
    guesses = [
        frozenset({_OF_SCRIPT[script]}) if script in _OF_SCRIPT else _candidates(*next(words), script)
        for script, _ in given
    ]
    sure = [guess for guess in guesses if len(guess) == 1]
    counts = Counter(language for guess in sure for language in guess)
    usual = min(counts, key=lambda language: (-counts[language], language), default=None)
    for guess in guesses:
        if len(guess) == 1:
            yield from guess
        else:
            yield usual if usual is not None and usual in guess else UNCLEAR


def _candidates(words: list[bytes], total: int, script: str) -> frozenset[str]:
    """The languages that a text may have, of whose words, so many in ``total``, these are stop words: one where it is
    clear, several or none where it is not."""
    best, number = _best(tuple(words), script) if words else (frozenset(), 0)
    return best if number >= _LEAST_SHARE * total else frozenset()


@lru_cache(1 << 10)  # many questions have the same few
def _best(words: tuple[bytes, ...], script: str) -> tuple[frozenset[str], int]:
    """The languages of most of these stop words, `UNCLEAR` among them where these are too few, and how many words are
    stop words of one of them."""
    known, stop_words = _languages_of_words(), frozenset(words)
    votes = dict[str, int]()
    for word in stop_words:
        for language in known[word]:
            votes[language] = votes.get(language, 0) + 1
    if script in ("Latin", "Cyrillic"):
        votes = {one: number for one, number in votes.items() if (one in _CYRILLIC) == (script == "Cyrillic")}
    if not votes:
        return frozenset(), 0
    most = max(votes.values())
    best = frozenset(language for language, number in votes.items() if number == most)
    counted = {word for word in stop_words if not best.isdisjoint(known[word])}
    return best if most >= _LEAST_WORDS else best | {UNCLEAR}, sum(map(counted.__contains__, words))


def _stop_words_of(texts: Sequence[bytes]) -> Iterator[tuple[list[bytes], int]]:
    """The stop words in each text, and how many words it has."""
    from ragdatakit.reports.summary.shown_texts import BEGINNING
    from ragdatakit.reports.summary.text_numbers import words_of_list

    stop_words = [*_languages_of_words()]
    for text, found in zip(texts, words_of_list(texts, stop_words, BEGINNING) or repeat(None), strict=False):
        if found is not None:
            yield [stop_words[place] for place in found[0]], found[1]
        else:
            words = _words_of(text.decode("utf-8", "surrogatepass")[:BEGINNING])
            yield [word for word in words if word in _languages_of_words()], len(words)


def _words_of(text: str) -> list[bytes]:
    """The words of a text, in lower case: runs of letters."""
    if text.isascii():
        return text.encode().translate(_LETTERS).split()
    data = text.lower().encode("utf-8", "surrogatepass")
    beyond = data.translate(None, _ASCII).decode("utf-8", "surrogatepass")
    if beyond.isalpha():  # much the quickest, and what most texts are
        return data.translate(_LETTERS).split()
    words: list[str] = []
    for piece in text.lower().split():
        if piece.isalpha():
            words.append(piece)
        else:
            words += _WORD.findall(piece)
    return [word.encode("utf-8", "surrogatepass") for word in words]


@cache
def _languages_of_words() -> dict[bytes, tuple[str, ...]]:
    found: dict[bytes, tuple[str, ...]] = {}
    for language, words in _STOP_WORDS.items():
        for word in dict.fromkeys(words.encode().split()):
            found[word] = (*found.get(word, ()), language)
    return found
