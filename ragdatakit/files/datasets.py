"""A dataset as found on disk: a format, a folder, and its files with their kinds and splits."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragdatakit.files.paths.boundary import ANYWHERE, Boundary, not_followed
from ragdatakit.files.paths.folders import not_looked_into
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.declarations import Format

if TYPE_CHECKING:
    from ragdatakit.files.containers.element_scans import Element


@dataclass(frozen=True, slots=True)
class FilePart:
    """The lines of a file that begin in a range of its bytes: from ``start`` on, where one begins if it is ``exact``
    (the first record of the file), and before ``end``. ``state`` is that of the file when the part was cut; ``lines``
    and ``rows`` are how many the parts before have, where that was counted."""

    start: int
    end: int
    exact: bool
    state: str
    lines: int = 0
    rows: int = 0


@dataclass(slots=True, eq=False)
class DataFile:
    """One file of a dataset.

    ``path`` is where it is read, ``place`` where it is in the dataset (another path where a version of it is checked
    that is not there yet), ``display`` how messages call it (as the user named it), ``name`` the path relative to
    the dataset's folder with ``/``. ``records`` and ``bytes`` (uncompressed) are filled in by reading it; so are
    ``readable``, whether all of it could be read, and ``to_end``, whether no more than single rows could not.
    ``boundary`` is where it has to lie to be opened, links resolved. Of an object that holds the records in an array,
    ``wrapper`` is the name of that member, and ``around`` are the others, each ``"name": value``: filled in by reading.
    ``row_groups`` of a Parquet file are the numbers of their first records, filled in by reading, too. Where it has a
    ``part``, that is all that is read of it.
    """

    path: Path
    display: str
    name: str
    kind: str
    split: str | None = None
    records: int | None = None
    bytes: int = 0
    readable: bool = True
    boundary: Boundary = ANYWHERE
    to_end: bool = True
    wrapper: str = ""
    around: tuple[Element, ...] = ()
    row_groups: list[int] = field(default_factory=list)
    part: FilePart | None = None
    place: Path = field(init=False)

    def __post_init__(self) -> None:
        self.place = self.path


@dataclass(slots=True, eq=False)
class Dataset:
    """Files of one format below one folder (or one lone file, whose ``root`` is its parent folder).

    ``display`` is what the user called it; ``layout`` the name of the layout that matched (``"file"`` for a lone
    file); ``ignored`` are files that are where the framework would not look; ``unreadable`` the folders below it that
    may not be looked into and where files of it may lie; ``outside`` the files that are left out, as links lead to them
    out of the ``boundary``; ``options`` what a configuration file that led here adds (such
    as ``eval_loss_size``).
    """

    root: Path
    display: str
    format: Format
    layout: str
    files: list[DataFile] = field(default_factory=list)
    ignored: list[DataFile] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    outside: list[DataFile] = field(default_factory=list)
    boundary: Boundary = ANYWHERE
    profile: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    config: DataFile | None = None
    _numbers: dict[DataFile, int] = field(default_factory=dict)

    def number_of(self, file: DataFile) -> int:
        """The place of a file among ``files``."""
        if len(self._numbers) != len(self.files):
            self._numbers = {each: number for number, each in enumerate(self.files)}
        return self._numbers[file]

    def confine(self, boundary: Boundary) -> None:
        """Nothing of it is opened from now on that does not lie within ``boundary``."""
        self.boundary = boundary
        for file in (*self.files, *self.ignored, *self.outside, *((self.config,) if self.config is not None else ())):
            file.boundary = boundary

    def leave_out_links(self) -> None:
        """Move the files that may not be opened from ``files`` to ``outside``."""
        kept = [f for f in self.files if f.boundary.holds(f.path)]
        if len(kept) < len(self.files):
            self.outside += [f for f in self.files if f not in kept]
            self.files = kept

    @property
    def unread(self) -> list[str]:
        """In words, what is not read of it: folders that may not be looked into, links that lead out."""
        return [*map(not_looked_into, self.unreadable), *(not_followed(file.display) for file in self.outside)]

    def present_profiles(self) -> tuple[str, ...]:
        """The profiles that the files speak for: all, except for those declared to go with a kind that is not there."""
        kinds = {f.kind for f in self.files}
        needs = self.format.profile_needs
        return tuple(p for p in self.format.profiles if needs.get(p) is None or needs[p] in kinds)

    def of_kind(self, kind: str, split: str | None = None) -> list[DataFile]:
        """The files of one kind, of one split where given."""
        return [f for f in self.files if f.kind == kind and (split is None or f.split == split)]
