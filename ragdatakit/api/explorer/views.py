"""Which page an address stands for, and what is on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import parse_qs, unquote

from ragdatakit.api.explorer.checked import fix_shown, is_below, named_ids, region
from ragdatakit.api.explorer.jobs import Waiting
from ragdatakit.api.explorer.named_records import named_records
from ragdatakit.api.explorer.opened import PAGE, NoSuchPageError, OpenedDataset
from ragdatakit.api.explorer.references import IDS
from ragdatakit.reports.html.explorer.findings import finding_page, findings_page
from ragdatakit.reports.html.explorer.layout import overview_page
from ragdatakit.reports.html.explorer.ranks import ranks_page
from ragdatakit.reports.html.explorer.records import graph_page, record_page, records_page
from ragdatakit.reports.html.explorer.report import report_page
from ragdatakit.reports.html.explorer.values import DatasetState, Links, Record, Target, Wanted
from ragdatakit.schemas.canonical import TABLES

if TYPE_CHECKING:
    from ragdatakit.api.explorer.checked import Checked
    from ragdatakit.api.explorer.explored import Explored

_Item = TypeVar("_Item")
_MOST_FINDINGS = 10


class Views:
    """The pages of an explorer, whose addresses all begin with ``root``."""

    def __init__(self, explored: Explored, root: str) -> None:
        self._explored = explored
        self.links = Links(root)

    def page(self, parts: list[str], query: str) -> bytes:
        """The page at an address below the root. Raises `NoSuchPageError` where there is none, `Waiting` where it takes
        longer."""
        words = {name: values[-1] for name, values in parse_qs(query, keep_blank_values=True).items()}
        match [unquote(part) for part in parts]:
            case []:
                return self._overview()
            case ["findings"]:
                return self._findings(words)
            case ["findings", number]:
                return self._finding(_number(number))
            case [number, "report"]:
                return self._report(self._dataset(number))
            case [number, "graph"]:
                return self._graph(self._dataset(number), words.get("node", ""))
            case [number, "ranks"]:
                return self._ranks(self._dataset(number), words)
            case [number, table]:
                return self._records(self._dataset(number), table, words)
            case [number, table, row]:
                return self._record(self._dataset(number), table, _number(row), words)
        raise NoSuchPageError

    def dataset_at(self, parts: Sequence[str]) -> DatasetState | None:
        """The dataset that an address is about; the only one where there are not several."""
        datasets = self._explored.datasets
        if len(datasets) == 1:
            return datasets[0].state
        number = next(iter(parts), "")
        named = number.isascii() and number.isdigit() and len(number) < 6 and int(number) < len(datasets)
        return datasets[int(number)].state if named else None

    def _dataset(self, number: str) -> OpenedDataset:
        return _at(self._explored.datasets, _number(number))

    def _checked(self) -> tuple[Checked | None, str]:
        """What validation finds, and what to say while it is running."""
        try:
            return self._explored.checked(), ""
        except Waiting as waiting:
            return None, str(waiting)

    def _overview(self) -> bytes:
        checked, waiting = self._checked()
        states = [opened.state for opened in self._explored.datasets]
        return overview_page(self.links, states, checked.report if checked else None, waiting)

    def _report(self, opened: OpenedDataset) -> bytes:
        return report_page(self.links, opened.state, self._explored.summary(opened.number))

    def _records(self, opened: OpenedDataset, table: str, words: dict[str, str]) -> bytes:
        columns = TABLES[table].columns if table in TABLES else ()
        wanted = Wanted(
            search=words.get("q", "").strip(),
            equal=tuple((name, value) for name, value in words.items() if name in columns),
            rule=words.get("rule", ""),
            sort=words.get("sort", ""),
            down=words.get("down") == "1",
            first=_number(words.get("from") or "0"),
        )
        checked, waiting = self._checked()
        if wanted.rule and checked is None:
            raise Waiting(waiting)
        keys = checked.keys(table, opened.found.source.display) if checked and table in IDS else {}
        found = opened.records(table, wanted, [key for _, key in keys.get(wanted.rule, [])])
        return records_page(self.links, opened.state, found, sorted(keys), PAGE)

    def _record(self, opened: OpenedDataset, table: str, row: int, words: dict[str, str]) -> bytes:
        values = opened.record(table, row)
        checked, _ = self._checked()
        identity = values.get(IDS.get(table, ""))
        keys = checked.keys(table, opened.found.source.display) if checked else {}
        about = [number for found in keys.values() for number, key in found if key == identity][:_MOST_FINDINGS]
        record = Record(
            table,
            row,
            opened.count(table) or 0,
            values,
            opened.targets(table, values),
            [*opened.related(table, values)],
            [(number, checked.report.findings[number]) for number in about] if checked else (),
        )
        mode = words.get("mode", "")
        if table != "questions" or not mode:
            return record_page(self.links, opened.state, record, mode)
        searches = self._explored.searches[opened.number]
        try:
            found = searches.found(values.get("question_id"), str(values.get("text") or ""), mode)
        except Waiting as words_:
            return record_page(self.links, opened.state, record, mode, waiting=str(words_))
        return record_page(self.links, opened.state, record, mode, searches.modes(), found)

    def _ranks(self, opened: OpenedDataset, words: Mapping[str, str]) -> bytes:
        searches = self._explored.searches[opened.number]
        mode = words.get("mode") or searches.first_mode()
        ranked = searches.ranked(mode, words.get("why", ""), words.get("split", ""))
        return ranks_page(self.links, opened.state, mode, ranked, searches.modes())

    def _graph(self, opened: OpenedDataset, node: str) -> bytes:
        from ragdatakit.reports.neighbourhoods import find_node, read_neighbourhoods

        if opened.count("edges") is None:
            raise Waiting("reading the graph") if "edges" in opened.database.tables else NoSuchPageError
        name, similar = find_node(opened.database, node) if node else ("", [])
        graph = read_neighbourhoods(opened.database, name)
        row = opened.labels(("nodes",), [name]).get(name, Target(name)) if name else None
        return graph_page(self.links, opened.state, graph, node if not name else "", similar, row)

    def _findings(self, words: dict[str, str]) -> bytes:
        checked = self._explored.checked()
        wanted = {name: words.get(name, "") for name in ("severity", "rule", "file", "q")}
        found = checked.listed(*wanted.values())
        first = _number(words.get("from") or "0")
        shown, dataset = found[first : first + PAGE], self.dataset_at(())
        return findings_page(self.links, checked.report, shown, wanted, len(found), first, PAGE, dataset)

    def _finding(self, number: int) -> bytes:
        checked = self._explored.checked()
        finding = _at(checked.report.findings, number)
        records, whole, dataset = [], True, self.dataset_at(())
        ids, kind = named_ids(finding.key), checked.kind(finding.path)
        for opened in self._explored.datasets:
            if is_below(finding.path, opened.found.source.display):
                dataset = opened.state  # before records are looked for: they may be read meanwhile
                records += [(opened.number, found) for found in named_records(opened, ids, kind)]
                whole = whole and (dataset.is_loaded or not ids)
        total = len(checked.report.findings)
        shown = region(finding, checked.boundary), fix_shown(finding, checked.boundary)
        return finding_page(self.links, finding, number, total, *shown, records, dataset, whole=whole)


def _at(found: Sequence[_Item], number: int) -> _Item:
    """One of them. Raises `NoSuchPageError`."""
    if number >= len(found):
        raise NoSuchPageError
    return found[number]


def _number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 12:
        raise NoSuchPageError
    return int(text)
