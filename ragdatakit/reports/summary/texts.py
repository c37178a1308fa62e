"""Texts of a dataset in numbers: their lengths in characters and tokens, their scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ragdatakit.database.text_facts import step_of
from ragdatakit.files.allocation import keep_freed_memory
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.reports.summary.numbers import MOST_VALUES, of_numbers
from ragdatakit.scanner.library import library
from ragdatakit.schemas.summaries import Distribution, Frequencies, Note

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    import duckdb
    import numpy.typing as npt

    from ragdatakit.database.columns import PackedColumn
    from ragdatakit.database.dataset_database import DatasetDatabase
    from ragdatakit.database.text_facts import FactsWanted, TextFacts

    Numbers = npt.NDArray[np.int64]

_BATCH_BYTES = 4 << 20
_BATCH_ROWS = 1 << 16
_MOST_BYTES = 16 << 20
_WORTH_THREADS = 8 << 20
_APART_ROWS = 1 << 10


@dataclass(slots=True)
class Column:
    """The numbers of the texts of a column, in the order of the rows; a missing text has -1.

    Tokens and scripts are those of the rows ``read``: all of them, but of more than 16 MiB of texts every n-th.
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

    def lengths(self, chosen: npt.NDArray[np.bool_] | None = None) -> tuple[Numbers, Numbers]:
        """The characters and the tokens of the texts that are there; ``chosen``: of those of some rows."""
        read = None if chosen is None else chosen[self.read]
        return _there(self.characters, chosen), _there(self.tokens, read)


def _there(numbers: Numbers, chosen: npt.NDArray[np.bool_] | None) -> Numbers:
    found = numbers >= 0
    if chosen is not None:
        found &= chosen
    return numbers if found.all() else numbers[found]


def measure(
    database: DatasetDatabase,
    table: str,
    column: str,
    progress: Callable[[str, int, int], None] | None = None,
    most_bytes: int | None = _MOST_BYTES,
) -> Column:
    """Count the characters of all texts of a column, and the tokens of all or, of more than so many bytes, of every
    n-th, as `step_of` says."""
    keep_freed_memory()
    database.read(table)
    facts = database.text_facts(table, column)
    if facts is not None:
        characters, size = facts.characters, facts.size
    elif (held := database.texts(table, column)) is not None and (known := database.sizes(table, column)) is not None:
        characters, size = known, sum(map(_bytes_of, held))
    else:
        connection = database.load(table)
        numbers = f'coalesce(length("{column}"), -1) as characters, coalesce(strlen("{column}"), 0) as size'
        found = connection.execute(f'select {numbers} from main."{table}"').fetchnumpy()
        characters = np.asarray(found["characters"], np.int64)
        size = int(np.asarray(found["size"]).sum())
    step = 1 if most_bytes is None else step_of(size, len(characters), most_bytes)
    read = np.arange(0, len(characters), step)
    if facts is not None and facts.places is not None:
        return Column(table, column, characters, *_apart(database, table, column, read, facts), read)
    if facts is not None and facts.counted:
        tokens, scripts, others = facts.numbers_of(read)
        if not len(others):
            return Column(table, column, characters, tokens, scripts, read)
    tokens, scripts = np.full(len(read), -1), np.zeros(len(read), np.uint8)
    if library() is None:
        ways = _in_python(database, table, column, step, size)
    elif (held := database.texts(table, column)) is not None:
        ways = _held(held, step)
    else:
        ways = _scanned(database.load(table), table, column, step, characters)
    done = 0
    for some_tokens, some_scripts in ways:
        end = done + len(some_tokens)
        tokens[done:end], scripts[done:end] = some_tokens, some_scripts
        done = end
        if progress is not None:
            progress(f"measuring {table}", done, len(read))
    return Column(table, column, characters, tokens, scripts, read)


def _bytes_of(column: PackedColumn) -> int:
    from ragdatakit.database.columns import bits_of, texts_of

    return int(np.diff(texts_of(column)[1])[bits_of(column) != 0].sum())


def facts_wanted(*, apart: bool, shown: bool = False) -> FactsWanted:
    """What is wanted of texts while tables are filled; ``apart``: they may stay out of these, ``shown``: values may
    that are only shown."""
    from ragdatakit.database.text_facts import FactsWanted
    from ragdatakit.reports.summary.shown_texts import BEGINNING, SHOWN, places_to_read
    from ragdatakit.reports.summary.text_numbers import counted

    return FactsWanted(counted, _MOST_BYTES, places_to_read, BEGINNING, apart, SHOWN if shown else 0)


def _apart(
    database: DatasetDatabase, table: str, column: str, read: Numbers, facts: TextFacts
) -> tuple[Numbers, npt.NDArray[np.uint8]]:
    """Tokens and scripts of texts that are not in the table: most were counted when they were seen."""
    from ragdatakit.reports.summary.shown_texts import beginnings_at
    from ragdatakit.reports.summary.text_numbers import counted
    from ragdatakit.scanner.texts import joined

    tokens, scripts, others = facts.numbers_of(read)
    for some in np.array_split(others, max(1, -(-len(others) // _APART_ROWS))):
        texts = beginnings_at(database, table, column, read[some], int(facts.characters.max()))
        data, offsets = joined([(text or "").encode() for _, text in texts])
        found = counted(np.frombuffer(data, np.uint8), offsets)
        assert found is not None
        tokens[some], scripts[some] = found
    return tokens, scripts


def _held(parts: Iterable[PackedColumn], step: int) -> Iterator[tuple[Numbers, npt.NDArray[np.uint8]]]:
    """Tokens and scripts of every n-th of the texts that are at hand."""
    from ragdatakit.database.columns import bits_of, texts_of
    from ragdatakit.reports.summary.text_numbers import counted

    before = 0
    for part in parts:
        first = -before % step
        found = counted(*texts_of(part), first, step)
        assert found is not None
        found[0][bits_of(part)[first::step] == 0] = -1
        before += part.length
        yield found


def _scanned(
    connection: duckdb.DuckDBPyConnection, table: str, column: str, step: int, characters: Numbers
) -> Iterator[tuple[Numbers, npt.NDArray[np.uint8]]]:
    """Tokens and scripts of every n-th text, by the compiled library."""
    from ragdatakit.database.text_batches import bounded_batches
    from ragdatakit.reports.summary.text_numbers import counted

    for batch in bounded_batches(connection, table, column, characters, step):
        found = counted(batch.data, batch.offsets)
        assert found is not None
        if batch.missing is not None:
            found[0][batch.missing] = -1
        yield found


def _in_python(
    database: DatasetDatabase, table: str, column: str, step: int, size: int
) -> Iterator[tuple[Numbers, npt.NDArray[np.uint8]]]:
    """The same without it, in two threads."""
    from concurrent.futures import ThreadPoolExecutor

    from ragdatakit.reports.summary.text_numbers import text_numbers

    batches = _batches(database, table, column, step, size)
    if size < _WORTH_THREADS:
        for numbers in map(text_numbers, batches):
            yield numbers[1:]
    else:
        with ThreadPoolExecutor(2) as pool:
            for numbers in _in_turn(pool, text_numbers, batches):
                yield numbers[1:]


def _in_turn(pool: ThreadPoolExecutor, work: Callable[[Any], Any], given: Iterator[Any]) -> Iterator[Any]:
    """Results in order, while only a few are on the way."""
    waiting: list[Any] = []
    for item in given:
        waiting.append(pool.submit(work, item))
        if len(waiting) > 3:
            yield waiting.pop(0).result()
    for future in waiting:
        yield future.result()


def _batches(database: DatasetDatabase, table: str, column: str, step: int, size: int) -> Iterator[list[str | None]]:
    rows = max(2048, min(_BATCH_ROWS, int(_BATCH_BYTES * database.count(table) / max(size, 1))))
    where = f" where rowid % {step} = 0" if step > 1 else ""
    with database.load(table).cursor() as cursor:
        result = cursor.execute(f'select "{column}" from main."{table}"{where}')
        while some := result.fetchmany(rows):
            yield [text for (text,) in some]


def distributions(
    column: Column, what: str, by: str | None = None, chosen: npt.NDArray[np.bool_] | None = None
) -> list[Distribution]:
    """Lengths in characters and in tokens, of all texts or of those of some rows (``chosen``, which are called ``by``);
    missing texts do not count."""
    place, title = f"{column.table}.{column.name}", f"Length of {what}"
    characters, tokens = column.lengths(chosen)
    made = (
        of_numbers(characters, f"{place}.characters", title, "characters", by),
        of_numbers(tokens, f"{place}.tokens", title, "tokens", by),
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

    from ragdatakit.reports.summary.text_numbers import SCRIPTS

    counts = np.bincount(column.scripts[column.tokens >= 0], minlength=len(SCRIPTS))
    return scripts_of(counts.tolist(), f"{column.table}.{column.name}", what)


def scripts_of(counts: Sequence[int], place: str, what: str) -> Frequencies | None:
    """The same of the number of texts in each script; ``place`` is the table and the column."""
    from ragdatakit.reports.summary.text_numbers import SCRIPTS

    found = [(SCRIPTS[number], count) for number, count in enumerate(counts) if count]
    return _frequencies(found, f"{place}.script", f"Scripts of {what}")


def _frequencies(found: list[tuple[str, int]], name: str, title: str) -> Frequencies | None:
    if not found:
        return None
    found.sort(key=lambda pair: (-pair[1], pair[0]))
    rest = sum(count for _, count in found[MOST_VALUES:])
    return Frequencies(name, title, tuple(found[:MOST_VALUES]), len(found), rest)
