"""Links that git keeps: which file of the same tree each of them leads to."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ragdatakit.late_dataclasses import dataclass

FILE, LINK = "100", "120000"
"""How the modes of files begin, and the mode of links."""
_MOST_LINKS = 40
"""As many as systems follow on the way to one file."""


@dataclass(frozen=True, slots=True)
class GitEntry:
    """A file, link or submodule of a tree; ``size`` is in bytes, ``path`` from the top of the tree, with ``/``."""

    mode: str
    blob: str
    size: int
    path: str


class GitLinks:
    """Where the links of a tree lead, over links to folders, too.

    ``near`` are the entries at hand, ``all_entries`` gives those of the whole tree where these do not do, ``target``
    what a link has, by its blob.
    """

    def __init__(
        self, near: Iterable[GitEntry], all_entries: Callable[[], Iterable[GitEntry]], target: Callable[[str], str]
    ) -> None:
        self._near = {entry.path: entry for entry in near}
        self._all_entries = all_entries
        self._all: dict[str, GitEntry] | None = None
        self._target = target

    def file(self, entry: GitEntry) -> GitEntry | None:
        """The file that an entry is or leads to; None where that is no file of the tree."""
        if entry.mode != LINK:
            return entry
        found = self._near.get(self._followed(entry.path, self._near) or "")
        found = found or self.whole.get(self._followed(entry.path, self.whole) or "")
        return found if found is not None and found.mode.startswith(FILE) else None

    def place(self, path: str) -> str | None:
        """The path with what its links lead to in their place; None where they leave the tree or never end."""
        return self._followed(path, self.whole)

    @property
    def whole(self) -> dict[str, GitEntry]:
        """All entries of the tree by path."""
        if self._all is None:
            self._all = {entry.path: entry for entry in self._all_entries()}
        return self._all

    def _followed(self, path: str, known: dict[str, GitEntry]) -> str | None:
        left, done, links = path.split("/")[::-1], list[str](), 0
        while left:
            part = left.pop()
            if part == "..":
                if not done:
                    return None
                done.pop()
            elif part not in ("", "."):
                done.append(part)
                entry = known.get("/".join(done))
                if entry is not None and entry.mode == LINK:
                    target = self._target(entry.blob)
                    links += 1
                    if links > _MOST_LINKS or target.startswith("/"):
                        return None
                    done.pop()
                    left += target.split("/")[::-1]
        return "/".join(done)
