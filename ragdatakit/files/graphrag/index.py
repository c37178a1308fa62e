"""An index of GraphRAG: which file holds each table, and by which release it was written."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.graphrag.tables import StoredTable
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.graphrag.tables import BY_KIND, GENERATIONS

CORE = ("entities", "relationships", "communities", "reports", "text-units")
"""The tables without which GraphRAG does not answer questions."""


@dataclass(frozen=True, slots=True)
class Sign:
    """A trait of the tables that shows the release: ``what`` in words, and the ``generations`` that have it.

    ``decides``: readers of other generations stop or take something else; else it may be left over from before.
    """

    what: str
    generations: tuple[str, ...]
    decides: bool = True
    file: DataFile | None = None


class Index:
    """The tables in use, by kind; ``aside`` are other files there that GraphRAG does not read. ``is_csv``: most are in
    CSV."""

    def __init__(self, dataset: Dataset, stored: dict[DataFile, StoredTable] | None = None) -> None:
        known = stored if stored is not None else {f: StoredTable(f) for f in dataset.files if f.kind in BY_KIND}
        groups: dict[tuple[bool, bool], dict[str, StoredTable]] = {}
        self.aside: list[StoredTable] = []
        for table in known.values():
            group = groups.setdefault((table.is_old_name, table.is_csv), {})
            if group.setdefault(table.file.kind, table) is not table:
                self.aside.append(table)
        self.tables: dict[str, StoredTable] = {}
        ordered = sorted(groups, key=lambda key: (-len(set(CORE) & groups[key].keys()), key))
        self.is_csv = bool(ordered) and ordered[0][1]
        for key in ordered:
            for kind, table in groups[key].items():
                if self.tables.setdefault(kind, table) is not table:
                    self.aside.append(table)

    def signs(self) -> list[Sign]:
        """What shows by which release the tables were written; one that cannot be read shows nothing."""
        found: list[Sign] = []
        for kind, table in self.tables.items():
            with suppress(RagdataError):
                found += _signs_of(kind, table)
        return found

    @property
    def generation(self) -> str:
        """The release that most of the tables speak for, the newest of several."""
        votes = dict.fromkeys(GENERATIONS, 0)
        for sign in self.signs():
            for generation in sign.generations:
                votes[generation] += 3 if sign.decides else 1
        return max(GENERATIONS, key=lambda generation: (votes[generation], GENERATIONS.index(generation)))

    def rows(self, kind: str, *names: str) -> Any:
        """The rows of a table in use; none where there is no such table."""
        return self.tables[kind].rows(*names) if kind in self.tables else iter(())


def _between(first: str, last: str) -> tuple[str, ...]:
    return GENERATIONS[GENERATIONS.index(first) : GENERATIONS.index(last) + 1]


_COLUMN_SIGNS: dict[str, tuple[tuple[str, str, str, str, bool], ...]] = {
    "documents": (
        ("raw_content", "text", "0.1", "0.1", True),
        ("metadata", "", "2.3", "2.3", False),
        ("raw_data", "", "3.0", "3.0", False),
    ),
    "text-units": (("document_ids", "document_id", "0.1", "2.3", True), ("document_id", "", "3.0", "3.0", True)),
    "entities": (("name", "title", "0.1", "0.1", True), ("x", "", "2.0", "2.3", False)),
    "relationships": (("source_degree", "combined_degree", "0.1", "0.1", False),),
    "communities": (("children", "", "2.0", "3.0", True),),
    "reports": (
        ("rank_explanation", "rating_explanation", "0.1", "2.0", False),
        ("rating_explanation", "", "2.3", "3.0", False),
        ("children", "", "2.0", "3.0", True),
    ),
    "nodes": (("degree", "", "0.1", "1.0", True),),
}
"""By kind: a column that shows, one in whose company it does not, from and until when it is written, whether it
decides."""


def _signs_of(kind: str, table: StoredTable) -> list[Sign]:
    name, columns = table.file.path.name, table.columns
    first, last = ("0.1", "1.0") if table.is_old_name else ("2.0", "3.0")
    file, named = table.file, _between(first, last)
    found = [Sign(f"the name {name}", named, True, file)]
    for column, other, first, last, decides in _COLUMN_SIGNS.get(kind, ()):
        if column not in columns or (other and other in columns):
            continue
        written = _between(first, last)
        if other and decides and not set(written) & set(named):
            continue  # what is needed is called otherwise: that is the fault of the column, not a second release
        found.append(Sign(f"{column} in {name}", written, decides, file))
    if kind == "communities" and table.is_old_name and "children" not in columns:
        if "community" not in columns:
            found.append(Sign(f"no community in {name}", ("0.1",), True, file))
        else:
            with_parent = "parent" in columns
            words = "parent" if with_parent else "no parent"
            found.append(Sign(f"{words} in {name}", ("1.0",) if with_parent else ("0.5",), True, file))
    if kind == "entities" and table.is_old_name and "title" in columns:
        found.append(Sign(f"title in {name}", ("0.5", "1.0"), True, file))
    return found
