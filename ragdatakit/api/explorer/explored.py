"""What is explored: the datasets at some paths, opened, loaded in the background, searched and validated when asked."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import fields
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragdatakit.api.arguments import reading, several_words
from ragdatakit.api.explorer.checked import Checked
from ragdatakit.api.explorer.jobs import Jobs
from ragdatakit.api.explorer.opened import OpenedDataset
from ragdatakit.api.explorer.searches import Searches
from ragdatakit.api.sources import chosen_datasets, database_of
from ragdatakit.files.paths.boundary import Boundary, boundary_of
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.options import ExploreOptions, ReportOptions, RetrieverOptions, SourceOptions

if TYPE_CHECKING:
    from ragdatakit.schemas.summaries import Summary


class Explored:
    """The datasets at some paths, with what searches each. Raises as `ragdatakit.report` does."""

    def __init__(self, options: ExploreOptions, paths: list[Path]) -> None:
        self._options, self._paths = options, paths
        self._jobs = Jobs()
        self._stack = ExitStack()
        self.datasets: list[OpenedDataset] = []
        self.searches: list[Searches] = []
        names = {field.name for field in fields(SourceOptions)} - {"progress", "tell"}
        words: dict[str, Any] = {name: getattr(options, name) for name in names}
        words |= {"search": options.search, "index_dir": options.index_dir, "rebuild": options.rebuild}
        if options.search and options.search.embedder:
            from ragdatakit.retrieval.vectors.embedders import make_embedder

            make_embedder(options.search)  # a wrong name is an error now, not on the first page that searches
        found = chosen_datasets(paths, reading(options), several_words(options.dataset))
        if options.index_dir is not None and len(found) > 1:
            several = f"--index-dir is the place of one index, and there are {len(found)} datasets"
            raise RagdataError(f"{several}; choose one with --dataset")
        if options.index_dir is not None:
            from ragdatakit.retrieval.index.files import refuse_unmade

            refuse_unmade(Path(options.index_dir).absolute())
        for number, each in enumerate(found):
            opened = OpenedDataset(number, each, database_of(each, options.memory_limit))
            self._stack.callback(opened.close)
            self.datasets.append(opened)
            owner = next((path for path in paths if each.source.root.is_relative_to(path)), paths[0])
            self.searches.append(Searches(opened, str(owner), RetrieverOptions(**words)))

    def load(self) -> None:
        """Read all tables of all datasets."""
        for opened in self.datasets:
            opened.load()

    def checked(self) -> Checked:
        """What validation finds. Raises `Waiting` while it is running."""
        from ragdatakit.api.validate import validate

        def work() -> Checked:
            report = validate(
                self._paths,
                format=self._options.source_format or None,
                max_per_rule=self._options.max_per_rule,
                each_record=True,
                follow_links=self._options.follow_links,
                config=self._options.config,
                progress=self._jobs.tell,
            )
            boundary = boundary_of(self._paths[0], self._options.follow_links)
            return Checked(report, reduce(Boundary.with_root, self._paths[1:], boundary))

        found: Checked = self._jobs.result("checked", "validating", work)
        return found

    def summary(self, number: int) -> Summary:
        """What is in a dataset, in numbers. Raises `Waiting` while they are counted."""
        options = ReportOptions(progress=self._jobs.tell)
        found: Summary = self._jobs.result(
            f"summary {number}", "counting", lambda: self.datasets[number].summarized(options)
        )
        return found

    def close(self) -> None:
        """Stop what is being read, and let go of the databases."""
        self._stack.close()
