"""Which tables and columns an index has, and by which releases of GraphRAG they were written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ragdatakit.files.datasets import Dataset
from ragdatakit.files.graphrag.index import CORE, Index, Sign
from ragdatakit.files.graphrag.settings import Settings
from ragdatakit.files.graphrag.tables import StoredTable
from ragdatakit.schemas.findings import Problem
from ragdatakit.schemas.graphrag.tables import BY_KIND, GENERATION_WORDS, GENERATIONS, PREFIX, Table
from ragdatakit.validators.excerpts import show
from ragdatakit.validators.lacking import lacking, missing_file

if TYPE_CHECKING:
    from ragdatakit.validators.checks import Placed


_WORKFLOWS = {"communities": "create_communities", "reports": "create_community_reports"}
"""What makes a table out of those of a graph, which may be one that GraphRAG did not extract."""
_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}


def layout_problems(index: Index, generation: str, dataset: Dataset) -> Iterator[Placed]:
    """The faults of an index that need no row."""
    mixed = list(_releases(index, generation, dataset))
    yield from mixed
    is_mixed = any(problem.rule == "mixed-releases" for _, problem in mixed)
    home = next((index.tables[kind].file for kind in CORE if kind in index.tables), dataset.files[0])
    old = generation < "2.0"
    ending, form = (".csv", "CSV") if index.is_csv else (".parquet", "Parquet")
    alike = [file for file in dataset.files if file.kind in BY_KIND and file.path.name.lower().endswith(ending)]
    present = {file.kind for file in alike}
    for kind in (*CORE, *(("nodes",) if old else ()), "documents"):
        if kind not in present:
            name = f"{PREFIX if old else ''}{BY_KIND[kind].name}{ending}"
            rule = "missing-documents" if kind == "documents" else "missing-table"
            made = f"run the workflow {_WORKFLOWS[kind]}, or copy the table" if kind in _WORKFLOWS else ""
            hint = f"{made} from where it was written into the folder of the others" if made else ""
            problem = Problem(rule, None, None, {"expected": name}, hint=hint)
            problem = missing_file(problem, home.path.parent, name, (file.path for file in alike))
            if kind in index.tables:  # GraphRAG reads all tables in one form
                problem.hint = f"write {index.tables[kind].file.path.name} as {form}, as the other tables are"
            yield home, problem
    for table in index.tables.values():
        declared = BY_KIND[table.file.kind]
        known = {column.name for column in declared.columns if column.is_of(generation)}
        needed = [column for column in declared.columns if column.is_needed(generation)]
        if header := _other_header(table, declared):
            fault, hint = header
            facts = {"column": needed[0].name, "fault": fault}
            yield table.file, Problem("missing-column", None, needed[0].name, facts, hint=hint)
            continue
        for column in needed:
            if column.name not in table.columns and not is_mixed:
                sources = (table.file.kind, column.name) == ("entities", "text_unit_ids") and generation >= "3.0"
                facts = {"column": column.name, "case": "sources" if sources else ""}
                problem = Problem("missing-column", None, column.name, facts)
                yield table.file, lacking(problem, column.name, table.columns, known, column.elsewhere)
        for name in table.columns:
            if declared.column(name) is None and not name.startswith("__index_level_"):
                hint = "" if name else "write the table without the index of its rows, as with index=False of pandas"
                yield table.file, Problem("unknown-column", None, name, {"column": name or '""'}, hint=hint)
    for table in index.aside:
        other = index.tables[table.file.kind].file.path.name
        yield table.file, Problem("unused-table", None, None, {"other": other})


def _other_header(table: StoredTable, declared: Table) -> tuple[str, str] | None:
    """What is wrong with a header that has none of the columns of its table, and what to do; None where it has one."""
    if not has_other_header(table):
        return None
    if table.is_csv and len(table.columns) == 1:
        names = {separator: table.columns[0].split(separator) for separator in _SEPARATORS}
        known = (sep for sep, parts in names.items() if len(parts) > 1 and any(map(declared.column, parts)))
        if separator := _SEPARATORS.get(next(known, ""), ""):
            fault = f"missing: the header has {separator} between its names, not commas"
            return fault, "write the table with commas between its cells"
    shown = show(table.columns[0]) + (f" and {len(table.columns) - 1} more" if len(table.columns) > 1 else "")
    return f"missing, and so are all others: the header is {shown}", "write the names of the columns in the first row"


def has_other_header(table: StoredTable) -> bool:
    """Whether none of the columns of a table has a name that it knows, or that others have for one of it."""
    declared = BY_KIND[table.file.kind]
    known = {name for column in declared.columns for name in (column.name, *column.elsewhere)}
    return bool(table.columns) and known.isdisjoint(name.casefold() for name in table.columns)


def settings_problem(settings: Settings, generation: str, table: StoredTable) -> Problem | None:
    """Settings of another generation than the tables; before 2.0 one word stands for all releases."""
    of_settings = {"3.0": ("3.0", "3.0"), "2.0": ("2.0", "2.3"), "0.1": ("0.1", "1.0")}.get(settings.release)
    if of_settings is None or of_settings[0] <= generation <= of_settings[1]:
        return None
    name = table.file.path.name
    return _mixed("mixed-releases", "settings.yaml", of_settings, name, (generation, generation))


def _releases(index: Index, generation: str, dataset: Dataset) -> Iterator[Placed]:
    """Traits that contradict each other: decisive ones are an error, others are left over from a migration."""
    names = {table.file: table for table in (*index.tables.values(), *index.aside)}
    old = next((t.file for t in names.values() if t.is_old_name), None)
    new = next((t.file for t in names.values() if not t.is_old_name), None)
    if old is not None and new is not None:
        yield old, _mixed("mixed-releases", old.path.name, ("0.1", "1.0"), new.path.name, ("2.0", "3.0"))
        return
    signs = index.signs()
    decisive = [sign for sign in signs if sign.decides]
    clash = _clash(decisive)
    home = next(iter(index.tables.values())).file if index.tables else dataset.files[0]
    if clash is not None:
        first, second = clash
        yield first.file or home, _mixed_signs("mixed-releases", first, second)
        return
    possible = set(GENERATIONS).intersection(*(sign.generations for sign in decisive)) if decisive else {generation}
    usual = [sign for sign in signs if not sign.decides and possible & set(sign.generations)]
    for sign in signs:
        if not sign.decides and not possible & set(sign.generations):
            yield sign.file or home, _other(sign, possible)
    clash = _clash(usual)
    if clash is not None:
        yield clash[0].file or home, _mixed_signs("columns-of-other-release", *clash)


def _clash(signs: list[Sign]) -> tuple[Sign, Sign] | None:
    """The first two that no release has together."""
    for place, sign in enumerate(signs):
        for other in signs[:place]:
            if not set(sign.generations) & set(other.generations):
                return other, sign
    return None


def _words(generations: tuple[str, ...]) -> str:
    first, last = GENERATION_WORDS[generations[0]], GENERATION_WORDS[generations[-1]]
    if generations[0] == generations[-1]:
        return first
    return f"{first.split(' to ')[0]} to {last.split(' to ')[-1]}"


def _mixed(rule: str, first: str, of_first: tuple[str, ...], second: str, of_second: tuple[str, ...]) -> Problem:
    facts = {"first": first, "first_release": _words(of_first), "second": second, "second_release": _words(of_second)}
    return Problem(rule, facts=facts)


def _mixed_signs(rule: str, first: Sign, second: Sign) -> Problem:
    return _mixed(rule, first.what, first.generations, second.what, second.generations)


def _other(sign: Sign, possible: set[str]) -> Problem:
    others = tuple(generation for generation in GENERATIONS if generation in possible)
    return _mixed("columns-of-other-release", sign.what, sign.generations, "the other tables", others)
