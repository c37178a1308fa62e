"""A first ragdata.toml for the datasets that lie in a folder."""

from __future__ import annotations

import glob
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ragdatakit.files.datasets import Dataset
from ragdatakit.quick_values import NamedTuple
from ragdatakit.schemas.texts import as_text
from ragdatakit.visible_text import visible_text

_HEAD = """\
# Settings of ragdata for what is in this folder; `ragdata config .` shows what applies and why.
# exclude = ["raw/**"]             # files and folders to pass over
# ignore = ["XX101"]               # rules that are not checked
# unfixable = ["XX101"]            # rules whose findings --fix leaves alone
# severity = { XX101 = "info" }    # other severities
# max = { XX101 = 100 }            # findings of a rule that pass
fail-on = "error"                  # or "warning", "never"
"""


class TableSection(NamedTuple):
    """A table, what a row of it is, and the columns by what they mean, where they are called otherwise; ``same_ids`` is
    an earlier table of the same kind that has some of its ids, ``error`` what is wrong first in it; ``is_checked``: it
    has its section anyway."""

    path: Path
    kind: str
    columns: Mapping[str, str]
    same_ids: Path | None = None
    error: str = ""
    is_checked: bool = False

    @property
    def is_left_out(self) -> bool:
        """Whether its check would fail at once, so that it is there as a comment."""
        return self.same_ids is not None or (bool(self.error) and not self.is_checked)


class FirstSettings(NamedTuple):
    """The text of the file, and how many sections hold in it."""

    text: str
    sections: int


def first_settings(folder: Path, datasets: Iterable[Dataset], tables: Sequence[TableSection] = ()) -> FirstSettings:
    """A section for each dataset, with its format and the profiles that it may have, and for each table of no known
    format."""
    parts = [_HEAD]
    seen: set[tuple[str, str]] = set()
    for dataset in datasets:
        is_file = dataset.layout == "file" and bool(dataset.files)
        place = dataset.files[0].path if is_file else dataset.root
        name = _name(place, folder)
        if (name, dataset.format.name) in seen:
            continue
        seen.add((name, dataset.format.name))
        lines = ["[[dataset]]", f"path = {_quoted(name)}", f"format = {_quoted(dataset.format.name)}"]
        if dataset.format.profiles:
            listed = ", ".join(map(_quoted, dataset.format.profiles))
            lines.append(f"# profile = [{listed}]  # those of the loaders that you use")
        parts.append("\n".join(lines) + "\n")
    parts += (_table(table, folder) for table in tables)
    return FirstSettings("\n".join(parts), len(seen) + sum(not table.is_left_out for table in tables))


def _table(table: TableSection, folder: Path) -> str:
    """The section of a table; as a comment that says why, where its check would fail."""
    lines = ["[[table]]", f"path = {_quoted(_name(table.path, folder))}", f"kind = {_quoted(table.kind)}"]
    if table.columns:
        items = ", ".join(f"{meaning} = {_quoted(column)}" for meaning, column in table.columns.items())
        lines.append(f"map = {{ {items} }}")
    if table.is_left_out:
        lines = [f"# {line}" for line in (_why_left_out(table, folder), *lines)]
    elif table.error:
        lines.insert(0, f"# its check fails: {visible_text(table.error)}")
    return "\n".join(lines) + "\n"


def _why_left_out(table: TableSection, folder: Path) -> str:
    if table.same_ids is None:
        return f"left out, as its check fails: {visible_text(table.error)}"
    other = _quoted(_name(table.same_ids, folder))
    return f"left out, as {other} has some of its ids: all {table.kind} here need ids of their own"


def _name(place: Path, folder: Path) -> str:
    """A place as the file, which lies in the folder, names it."""
    name = place.relative_to(folder).as_posix() if place.is_relative_to(folder) else place.as_posix()
    return glob.escape(name)


def _quoted(text: str) -> str:
    """A text of TOML."""
    return json.dumps(as_text(text), ensure_ascii=False).replace("\x7f", "\\u007f")
