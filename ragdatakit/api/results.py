"""What `ragdatakit.report` returns, and what results of the interface have in common: the JSON and the page are those
of the command."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

from ragdatakit.schemas.notebooks.tabular import Tabular
from ragdatakit.schemas.options import PathLike
from ragdatakit.schemas.results import RemoteSource, Report
from ragdatakit.schemas.summaries import LeftOut, NotRead, Summary


class Shown:
    """What has the JSON of a command."""

    __slots__ = ()

    def as_dict(self) -> dict[str, Any]:
        """The JSON of the command."""
        import orjson

        found: dict[str, Any] = orjson.loads(self._json())
        return found

    def _json(self) -> bytes:
        raise NotImplementedError


class ShownAsPage(Shown):
    """What has the page of a command, too."""

    __slots__ = ()

    def to_html(self, path: PathLike) -> None:
        """Write the page of the command to ``path``: all of it, or the file stays as it was. Raises `OSError`."""
        from ragdatakit.api.output_files import write_file

        write_file(path, [self._page()])

    def _page(self) -> bytes:
        raise NotImplementedError


class Summaries(ShownAsPage, Tabular, list[Summary]):
    """The result of `ragdatakit.report`: the summaries of all datasets at some paths.

    ``left_out`` are the folders there that hold other data, ``not_read`` all files there that no dataset reads,
    ``findings`` is what validation says (None: it was not asked for). ``sources`` say of each URL which state of it was
    read: the commit, and the version of each file.
    """

    _COLUMNS: ClassVar[Mapping[str, type]] = {
        **dict.fromkeys(("dataset", "format", "table", "split"), str),
        "rows": int,
    }

    def __init__(
        self, summaries: Iterable[Summary] = (), left_out: Iterable[LeftOut] = (), not_read: Iterable[NotRead] = ()
    ) -> None:
        super().__init__(summaries)
        self.left_out: tuple[LeftOut, ...] = tuple(left_out)
        self.not_read: tuple[NotRead, ...] = tuple(not_read)
        self.findings: Report | None = None
        self.sources: list[RemoteSource] = []

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        """The rows of each table, by split."""
        for summary in self:
            for table in summary.tables:
                for split, rows in (table.by_split or {None: table.rows}).items():
                    yield summary.path, summary.format, table.name, split, rows

    def __repr__(self) -> str:
        return f"<Summaries: {', '.join(map(repr, self[:3]))}{f' and {len(self) - 3:,} more' * (len(self) > 3)}>"

    def _json(self) -> bytes:
        from ragdatakit.reports.summary.json import summary_json

        return summary_json(self, self.findings, self.left_out, self.not_read, self.sources)

    def _page(self) -> bytes:
        from ragdatakit.reports.html.page import summary_page

        return summary_page(self, self.findings, left_out=self.left_out, not_read=self.not_read)
