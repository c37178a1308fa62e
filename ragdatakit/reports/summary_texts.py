"""Texts of a dataset in numbers: their lengths in characters and tokens, their scripts, a guess at their languages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from ragdatakit.reports.summary_numbers import MOST_VALUES, of_numbers
from ragdatakit.schemas.summaries import Distribution, Frequencies, Note

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragdatakit.tables.dataset_database import DatasetDatabase
    from ragdatakit.tables.text_numbers import TextNumbers

    Numbers = npt.NDArray[np.int64]

_BATCH_BYTES = 4 << 20
_BATCH_ROWS = 1 << 16
_MOST_BYTES = 32 << 20
_WORTH_THREADS = 8 << 20
_MOST_READ = 1000
"""Texts of a column that are read to guess languages."""
_LEAST_WORDS = 2
_WORD = re.compile(r"[^\W\d_]+")
_STOP_WORDS = {
    "English": "the of and to in is that it was for on with as are this by be which from or",
    "German": "der die das und ist nicht von zu den mit sich auf für ein eine dem wird auch als bei",
    "French": "le la les des et est une du dans que pour qui sur pas au par avec sont plus ce",
    "Spanish": "el los las del que y en una por con para es su se como más pero fue este entre",
    "Portuguese": "o os uma do da dos em não para com que por mais como foi ao na no são seu",
    "Italian": "il lo gli della che di è per una con sono nel non anche più come dei alla delle si",
    "Dutch": "het een van en niet dat op te zijn met voor er maar om ook als aan wordt bij door",
    "Swedish": "och att det som en på är av för med till den inte om ett har från jag men var",
    "Polish": "nie na się że jest jak ale co od tak przez był oraz który która przy już tylko także dla",
    "Turkish": "ve bir bu için ile da de çok daha olarak gibi olan ne ama kadar sonra değil ya en her",
    "Indonesian": "yang dan di itu dengan untuk tidak ini dari dalam akan pada juga ke adalah oleh ada bisa atau",
    "Russian": "что как это для так все было или она они при было только был если может где когда",
}  # fmt: skip
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
"""Languages that their scripts tell."""


@dataclass(slots=True)
class Column:
    """The numbers of the texts of a column, in the order of the rows; a missing text has -1.

    Tokens and scripts are those of the rows ``read``: all of them, but of more than 32 MiB of texts every n-th.
    """

    table: str
    name: str
    characters: Numbers
    tokens: Numbers
    scripts: npt.NDArray[np.uint8]
    read: Numbers

    @property
    def sampled(self) -> bool:
        """Whether not all texts were read for tokens and scripts."""
        return len(self.read) < len(self.characters)

    def of(self, chosen: npt.NDArray[np.bool_]) -> Column:
        """The numbers of some rows."""
        import numpy as np

        read = chosen[self.read]
        places = np.cumsum(chosen) - 1
        return Column(
            self.table,
            self.name,
            self.characters[chosen],
            self.tokens[read],
            self.scripts[read],
            places[self.read[read]],
        )


def measure(
    database: DatasetDatabase, table: str, column: str, progress: Callable[[str, int, int], None] | None = None
) -> Column:
    """Count the characters of all texts of a column, and the tokens of all or of every n-th, in two threads."""
    import numpy as np

    from ragdatakit.tables.allocation import keep_freed_memory
    from ragdatakit.tables.text_numbers import text_numbers

    keep_freed_memory()
    connection = database.load(table)
    lengths = f'select coalesce(length("{column}"), -1) as characters from main."{table}"'
    characters = np.asarray(connection.execute(lengths).fetchnumpy()["characters"], np.int64)
    size = connection.execute(f'select coalesce(sum(strlen("{column}")), 0) from main."{table}"').fetchall()[0][0]
    step = -(-int(size) // _MOST_BYTES) or 1
    read = np.arange(0, len(characters), step)
    found: list[TextNumbers] = []
    done = 0
    batches = _batches(database, table, column, step, int(size))
    if size < _WORTH_THREADS:
        found = [text_numbers(batch) for batch in batches]
    else:
        with ThreadPoolExecutor(2) as pool:
            for numbers in _in_turn(pool, text_numbers, batches):
                found.append(numbers)
                done += len(numbers.characters)
                if progress is not None:
                    progress(f"measuring {table}", done, len(read))
    if not found:
        return Column(table, column, characters, characters[:0], np.empty(0, np.uint8), read)
    _, tokens, scripts = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return Column(table, column, characters, tokens, scripts, read)


def _in_turn(pool: ThreadPoolExecutor, work: Callable[[Any], Any], given: Iterator[Any]) -> Iterator[Any]:
    """Results in order, while only a few are on the way."""
    waiting: list[Any] = []
    for item in given:
        waiting.append(pool.submit(work, item))
        if len(waiting) > 3:
            yield waiting.pop(0).result()
    for future in waiting:
        yield future.result()


def _batches(database: DatasetDatabase, table: str, column: str, step: int, size: int) -> Iterator[Any]:
    rows = max(2048, min(_BATCH_ROWS, int(_BATCH_BYTES * database.rows(table) / max(size, 1))))
    where = f" where rowid % {step} = 0" if step > 1 else ""
    with database.load(table).cursor() as cursor:
        for batch in cursor.sql(f'select "{column}" from main."{table}"{where}').to_arrow_reader(rows):
            yield batch.column(0)


def distributions(column: Column, what: str, by: str | None = None) -> list[Distribution]:
    """Lengths in characters and in tokens; missing texts do not count."""
    place, title = f"{column.table}.{column.name}", f"Length of {what}"
    made = (
        of_numbers(column.characters[column.characters >= 0], f"{place}.characters", title, "characters", by),
        of_numbers(column.tokens[column.tokens >= 0], f"{place}.tokens", title, "tokens", by),
    )
    return [one for one in made if one is not None]


def sample_note(column: Column, what: str) -> Note | None:
    """That tokens and scripts are not those of all texts, where that is so."""
    if not column.sampled:
        return None
    words = f"tokens and scripts of {what} are those of {len(column.read):,} of {len(column.characters):,} texts, "
    return Note(f"sampled.{column.table}.{column.name}.tokens", f"{words}evenly spread", len(column.read))


def scripts(column: Column, what: str) -> Frequencies | None:
    """How many texts are in which script; those without letters are ``none``."""
    import numpy as np

    from ragdatakit.tables.text_numbers import SCRIPTS

    counts = np.bincount(column.scripts[column.tokens >= 0], minlength=len(SCRIPTS))
    found = [(SCRIPTS[place], int(count)) for place, count in enumerate(counts) if count]
    return _frequencies(found, f"{column.table}.{column.name}.script", f"Scripts of {what}")


def languages(database: DatasetDatabase, column: Column, what: str) -> tuple[Frequencies | None, Note | None]:
    """A guess at the language of texts, and a note where not all of them were read.

    A script that one language has tells it; other texts are of the language of which most stop words stand in them,
    of ``other`` where there are fewer than two.
    """
    import numpy as np

    from ragdatakit.tables.text_numbers import SCRIPTS

    there = np.flatnonzero((column.tokens > 0) & (column.scripts > 0))
    if not len(there):
        return None, None
    chosen = there if len(there) <= _MOST_READ else there[np.linspace(0, len(there) - 1, _MOST_READ).astype(np.int64)]
    connection = database.load(column.table)
    listed = ", ".join(map(str, column.read[chosen].tolist()))
    query = f'select left("{column.name}", 2000) from main."{column.table}" where rowid in ({listed}) order by rowid'
    counts: Counter[str] = Counter()
    for place, (text,) in zip(chosen, connection.execute(query).fetchall(), strict=True):
        script = SCRIPTS[column.scripts[place]]
        counts[_OF_SCRIPT.get(script) or _by_words(text)] += 1
    place = f"{column.table}.{column.name}.language"
    found = _frequencies(list(counts.items()), place, f"Languages of {what} (a guess)")
    if len(chosen) == len(there):
        return found, None
    total = int(np.count_nonzero(column.characters > 0))
    words = f"languages of {what} are guessed from {len(chosen):,} of {total:,} texts, evenly spread"
    return found, Note(f"sampled.{place}", words, len(chosen))


def _by_words(text: str) -> str:
    """The language of most stop words; of several the one that stands first above."""
    known = _languages_of_words()
    votes = dict.fromkeys(_STOP_WORDS, 0)
    for word in _WORD.findall(text.lower()):
        for language in known.get(word, ()):
            votes[language] += 1
    best = max(votes, key=lambda language: votes[language])
    return best if votes[best] >= _LEAST_WORDS else "other"


@cache
def _languages_of_words() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for language, words in _STOP_WORDS.items():
        for word in words.split():
            found.setdefault(word, []).append(language)
    return found


def _frequencies(found: list[tuple[str, int]], name: str, title: str) -> Frequencies | None:
    if not found:
        return None
    found.sort(key=lambda pair: (-pair[1], pair[0]))
    rest = sum(count for _, count in found[MOST_VALUES:])
    return Frequencies(name, title, tuple(found[:MOST_VALUES]), len(found), rest)
