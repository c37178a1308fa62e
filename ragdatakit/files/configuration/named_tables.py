"""The tables that a configuration names, as options of the reader of tables."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from ragdatakit.files.configuration.chosen import Configuration, begins_in, is_at
from ragdatakit.files.configuration.patterns import fixed_part
from ragdatakit.files.configuration.reading import Given, Section
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.detection.plain_sources import table_dataset
from ragdatakit.files.paths.folders import UnreadableError
from ragdatakit.schemas.errors import RagdataError, UnknownNameError
from ragdatakit.schemas.settings.tables import MEANINGS, REQUIRED

_OF_ALL = ("encoding", "delimiter")
"""Options that the reader has once for all files."""
_SEVERAL = ("metadata", "aliases", "doc_id")
"""What may be in several columns."""


def table_options(configuration: Configuration, path: Path) -> dict[str, str]:
    """How the tables at a path are read, as `tables_at`; empty where a ``[[dataset]]`` below it names the format of
    something else: what is read as one dataset cannot be both."""
    others = (s for s in configuration.of_kind("dataset") if begins_in(s, path) and not is_at(s, path))
    if any(("format",) in section.values for section in others):
        return {}
    return tables_at(configuration, path)


def tables_at(
    configuration: Configuration, path: Path, missing: Callable[[RagdataError], None] | None = None
) -> dict[str, str]:
    """How the tables are read that ``[[table]]`` names at a path; empty where it names none.

    That a section names no file goes to ``missing``, and is raised without it. Raises `RagdataError` where one file is
    in two sections, and `UnknownNameError` for a meaning that such rows do not have.
    """
    sections = [s for s in configuration.of_kind("table") if begins_in(s, path) or is_at(s, path)]
    if not sections:
        return {}
    files = _files_at(path)  # listed once for all sections
    owners: dict[str, Section] = {}
    items: list[str] = []
    for section in sections:
        mine = [file for file in files if is_at(section, file.path) and not configuration.excludes(file.path)]
        if not mine:
            if missing is None:
                raise _names_nothing(section)
            missing(_names_nothing(section))
        for file in mine:
            if file.name in owners:
                raise RagdataError(f"{section.place}: {file.display} is in the table of {owners[file.name].place}, too")
            owners[file.name] = section
        items += _items(section, mine)
    return {"map": ",".join(items), **_shared(sections)} if items else {}


def missing_tables(configuration: Configuration) -> Iterator[RagdataError]:
    """That a ``[[table]]`` names no file, wherever it is: an error for each such section."""
    for section in configuration.of_kind("table"):
        named = (file.path for start in _starts(section) for file in files_named(section, start))
        if all(map(configuration.excludes, named)):
            yield _names_nothing(section)


def is_named_table(configuration: Configuration, path: Path) -> bool:
    """Whether a ``[[table]]`` names a file, or the folder that it is in."""
    return any(is_at(section, path) for section in configuration.of_kind("table"))


def place_of_tables(configuration: Configuration) -> Path:
    """The deepest folder or file at which all tables are that the configuration names."""
    return Path(os.path.commonpath([start for section in configuration.of_kind("table") for start in _starts(section)]))


def _starts(section: Section) -> Iterator[Path]:
    """The folder or file at which all that a pattern of a section names is, for each of them."""
    return (fixed_part(section.file.folder, glob) for glob in section.values["path",].value)


def files_named(section: Section, path: Path) -> list[DataFile]:
    """The files at a path that a ``[[table]]`` names."""
    return [file for file in _files_at(path) if is_at(section, file.path)]


def _files_at(path: Path) -> list[DataFile]:
    try:
        return table_dataset(path, texts=True).files
    except UnreadableError:
        raise
    except RagdataError:  # there is none
        return []


def _names_nothing(section: Section) -> RagdataError:
    globs = ", ".join(f'"{glob}"' for glob in section.values["path",].value)
    return RagdataError(f"{section.place}: [[table]] names no file: {globs}; correct its path, or remove the section")


def place_of_column(configuration: Configuration, file: DataFile, column: str) -> str:
    """Where the configuration says that a file has a column, or where its ``[[table]]`` begins."""
    for section in configuration.of_kind("table"):
        if is_at(section, file.path):
            named = (g for name, g in section.values.items() if name[0] == "map" and column in g.value)
            given = next(named, None)
            return section.place if given is None else given.place
    return "the configuration"


def _items(section: Section, files: Iterable[DataFile]) -> list[str]:
    """The items of the map for the files of a section."""
    kind = section.values["kind",].value
    given: dict[str, Given] = {name[1]: one for name, one in section.values.items() if name[0] == "map"}
    for meaning, one in given.items():
        if meaning not in MEANINGS[kind]:
            raise UnknownNameError("column", meaning, MEANINGS[kind], f"of {kind}", place=one.place)
        if len(one.value) != 1 and MEANINGS[kind][meaning] not in _SEVERAL:
            raise RagdataError(f"{one.place}: {meaning} is {len(one.value)} columns, expected one")
    columns = {name: (name,) for name in REQUIRED[kind]} | {name: one.value for name, one in given.items()}
    return [
        f"{_quoted('/' + file.name)}:{MEANINGS[kind][meaning]}={'+'.join(map(_quoted, names))}"
        for file in files
        for meaning, names in columns.items()
    ]


def _shared(sections: Iterable[Section]) -> dict[str, str]:
    found: dict[str, Given] = {}
    for section in sections:
        for name in _OF_ALL:
            one = section.values.get((name,))
            if one is None:
                continue
            if name in found and found[name].value != one.value:
                raise RagdataError(
                    f"{one.place}: {name} is {one.value!r}, but {found[name].value!r} at {found[name].place}: "
                    "tables that are read together have one"
                )
            found[name] = one
    return {name: one.value for name, one in found.items()}


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'
