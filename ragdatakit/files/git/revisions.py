"""A folder or file of a git revision as files in a scratch folder; the user's working tree is never touched."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

from ragdatakit.files.git.links import FILE, LINK, GitEntry, GitLinks
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.texts import many
from ragdatakit.visible_text import visible_text

_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:ext-.*\n)*oid sha256:([0-9a-f]{64})\nsize (\d+)\n"
)
_LONGEST_POINTER = 1024
_SECONDS = 600
_PIECE = 1 << 20
_MODULE = "160000"
_STAGE = re.compile("([0-3]):")


class NotInRevisionError(RagdataError):
    """The revision is there, the path is not in it."""


@dataclass(frozen=True, slots=True)
class Revision:
    """What ``HEAD~1:data`` names: a revision and a path in its tree, with ``/``, empty for the whole tree. An empty
    ``name`` is the index: what was added and is not committed yet."""

    text: str
    name: str
    path: str


def parse_revision(text: str) -> Revision | None:
    """The revision that ``text`` names; None where it is no such name, or a path of that name is there. Raises
    `RagdataError` for a stage of a merge (``:2:data``)."""
    name, colon, path = text.partition(":")
    if not colon or os.path.lexists(text) or (len(name) == 1 and path[:1] in ("\\", "/")):
        return None
    if not name and (stage := _STAGE.match(path)):  # git's own name of what is in the index
        if stage[1] != "0":
            raise RagdataError(f"{_visible(text)}: stages of a merge cannot be compared; :PATH is what was added")
        path = path[stage.end() :]
    return Revision(text, name, path)


def extract_revision(revision: Revision, folder: Path, start: Path | None = None) -> tuple[Path, list[str]]:
    """Write what the revision names below ``folder``; where it is, and sentences about what was left out.

    ``start`` is a folder of the repository (default: the current one). Files are written with the bytes that the
    repository has; the contents of Git LFS files are taken from where LFS keeps them on this machine. Raises
    `RagdataError` for a revision or path that is not there or is no such name, and where contents are missing.
    """
    git = _Git(start or Path(), revision.text)
    _refuse_odd(revision)
    tree = ""
    if revision.name:
        tree = git.one("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision.name}^{{tree}}")
        if not re.fullmatch("[0-9a-f]{40,64}", tree):
            raise RagdataError(f"{revision.text}: there is no revision {revision.name}{git.why_not()}")
    path, entries = _at_path(_path_in_tree(revision, git), tree, git, revision)
    notes: list[str] = []
    left_out = git.write(_wanted(entries, notes, revision.text), folder, lambda: git.listed(tree))
    if left_out:
        words = "1 link is left out: it leads" if left_out == 1 else f"{left_out:,} links are left out: they lead"
        notes.append(f"{revision.text}: {words} to a folder, nowhere or out of the repository")
    return folder.joinpath(*PurePosixPath(path).parts), notes


def _at_path(path: str, tree: str, git: _Git, revision: Revision) -> tuple[str, list[GitEntry]]:
    """What is at a path of the tree (empty: of the index), and where that is: a link to a folder is followed."""
    entries = git.listed(tree, path)
    if len(entries) == 1 and entries[0].mode == _MODULE and entries[0].path == path:
        raise _in_module(entries[0], path, revision)
    if entries and not (entries[0].path == path and entries[0].mode == LINK):
        return path, entries
    where = revision.name or "the index"
    links = GitLinks(entries, lambda: git.listed(tree), git.link)
    if entries and links.file(entries[0]) is not None:
        return path, entries
    place = links.place(path)
    found = git.listed(tree, place) if place else []
    if not found and entries:
        target = _visible(git.link(entries[0].blob))
        raise RagdataError(f"{revision.text}: {path} is a link to {target}, which is not in {where}")
    if not found or place is None:
        for parent in PurePosixPath(place or "").parents:
            entry = links.whole.get(parent.as_posix())
            if place is not None and entry is not None and entry.mode == _MODULE:
                raise _in_module(entry, place, revision)
        raise NotInRevisionError(f"{revision.text}: there is no {path or 'file'} in {where}")
    return place, found


def _in_module(module: GitEntry, path: str, revision: Revision) -> RagdataError:
    """The error about a path that is a submodule or lies in it."""
    rest = path.removeprefix(module.path).removeprefix("/")
    return RagdataError(
        f"{revision.text}: {_visible(module.path)} is a submodule, which has a repository of its own; compare there: "
        f"{module.blob[:12]}:{_visible(rest)}"
    )


def _refuse_odd(revision: Revision) -> None:
    name = revision.name
    if not name and not revision.path:
        raise RagdataError(f"{revision.text}: give a revision or a path, as HEAD~1:data or :data")
    if name.startswith("-") or any(not c.isprintable() for c in revision.text) or "\\" in name:
        raise RagdataError(f"{_visible(revision.text)}: not the name of a revision")
    if any("\ud800" <= c <= "\udfff" for c in revision.text):
        raise RagdataError(f"{_visible(revision.text)}: not the name of a revision")


def _visible(text: str) -> str:
    return visible_text(text[:200])


def _path_in_tree(revision: Revision, git: _Git) -> str:
    """The path from the top of the tree, as git takes it: ``./data`` is below the current folder."""
    given = revision.path
    parts: list[str] = []
    if given.startswith(("./", "../")) or given in (".", ".."):
        given = git.one("rev-parse", "--show-prefix") + given
    for part in given.split("/"):
        if part == "..":
            if not parts:
                raise RagdataError(f"{revision.text}: the path leaves the repository")
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    if given.startswith("/"):
        raise RagdataError(f"{revision.text}: the path is one in the repository, as HEAD:data")
    return "/".join(parts)


def _wanted(entries: list[GitEntry], notes: list[str], shown: str) -> Iterator[tuple[str, GitEntry]]:
    """The files to write, by their path; a link is replaced by the file of the same tree that it leads to."""
    modules = 0
    for entry in entries:
        parts = PurePosixPath(entry.path).parts
        if not parts or entry.path.startswith("/") or any(p in ("..", ".", "") or p.lower() == ".git" for p in parts):
            raise RagdataError(f"{shown}: the tree has a file {_visible(entry.path)!r}, which no working tree can have")
        if entry.mode.startswith(FILE) or entry.mode == LINK:
            yield entry.path, entry
        else:
            modules += entry.mode == _MODULE
    if modules:
        notes.append(f"{shown}: {many(modules, 'submodule')} left out")


class _Git:
    """The git command, asked about one repository without a shell, hooks, the network or a pager."""

    def __init__(self, start: Path, shown: str) -> None:
        self._start, self._shown = start, shown
        kept = {k: v for k, v in os.environ.items() if not k.startswith("GIT_TRACE")}
        self._environment = kept | {
            "LC_ALL": "C",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_PAGER": "cat",
        }

    def one(self, *words: str) -> str:
        """What git answers, without the last line end; empty where it says no."""
        return self._run(*words).decode("utf-8", "surrogateescape").removesuffix("\n")

    def listed(self, tree: str, path: str | None = None) -> list[GitEntry]:
        """The files of a tree (empty: of the index) at or below a path; None: all, also those with conflicts."""
        return self._entries(tree, path or "") if tree else self._added(path)

    def link(self, blob: str) -> str:
        """What a link has."""
        return os.fsdecode(self._run("cat-file", "blob", blob, needed=True))

    def _entries(self, tree: str, path: str) -> list[GitEntry]:
        words = ["ls-tree", "-r", "-z", "-l", "--full-tree", tree]
        listed = self._run("--literal-pathspecs", *words, *(["--", path] if path else []), needed=True)
        found = []
        for line in filter(None, listed.split(b"\0")):
            facts, _, name = line.partition(b"\t")
            mode, _, blob, size = facts.decode("ascii").split()
            found.append(GitEntry(mode, blob, int(size) if size.isdigit() else 0, os.fsdecode(name)))
        return found

    def _added(self, path: str | None) -> list[GitEntry]:
        """Raises `RagdataError` where a merge at the path has not been finished."""
        top = self.one("rev-parse", "--show-toplevel")
        if not top:
            raise RagdataError(f"{self._shown}: this repository has no working tree, and so no index")
        words = ["-C", top, "--literal-pathspecs", "ls-files", "--stage", "-z"]
        listed = self._run(*words, *(["--", path] if path else []), needed=True)
        found = []
        for line in filter(None, listed.split(b"\0")):
            facts, _, name = line.partition(b"\t")
            mode, blob, stage = facts.decode("ascii").split()
            if stage != "0":
                if path is None:
                    continue
                raise RagdataError(f"{self._shown}: {_visible(os.fsdecode(name))} has conflicts of a merge")
            found.append(GitEntry(mode, blob, 0, os.fsdecode(name)))
        blobs = dict.fromkeys(entry.blob for entry in found if entry.mode != _MODULE)
        listing = self._run("cat-file", "--batch-check=%(objectname) %(objectsize)", given="\n".join(blobs))
        sizes = {
            words[0]: int(words[1]) for line in listing.decode().splitlines() if (words := line.split())[1].isdigit()
        }
        return [replace(entry, size=sizes.get(entry.blob, 0)) for entry in found]

    def why_not(self) -> str:
        """Why a revision may be missing, to be added to a message."""
        if self.one("rev-parse", "--is-shallow-repository") != "true":
            return ""
        return " in this shallow clone; `git fetch --unshallow` gets the older ones"

    def write(
        self, files: Iterable[tuple[str, GitEntry]], folder: Path, all_entries: Callable[[], Iterable[GitEntry]]
    ) -> int:
        """Write the contents of these files below the folder, and say how many links lead to no file of the tree, of
        which ``all_entries`` gives the entries."""
        wanted = list(files)
        with subprocess.Popen(
            [*self._command(), "cat-file", "--batch"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=self._environment,
        ) as process:
            try:
                links = GitLinks(
                    (entry for _, entry in wanted),
                    all_entries,
                    lambda blob: os.fsdecode(b"".join(self._content(process, blob))),
                )
                found = [(name, file) for name, entry in wanted if (file := links.file(entry)) is not None]
                self._refuse_large(sum(file.size for _, file in found), folder)
                for name, file in found:
                    self._write_one(process, file, folder / name)
            finally:
                assert process.stdin is not None
                process.stdin.close()
                process.kill()
        return len(wanted) - len(found)

    def _refuse_large(self, size: int, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(folder).free
        if size > free:
            raise RagdataError(f"{self._shown} has {size:,} bytes, and {folder} has room for {free:,}")

    def _write_one(self, process: subprocess.Popen[bytes], entry: GitEntry, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            first = b""
            for piece in self._content(process, entry.blob):
                first = first or piece
                file.write(piece)
        if entry.size <= _LONGEST_POINTER and (pointer := _POINTER.fullmatch(first)):
            self._take_large(pointer[1].decode(), int(pointer[2]), entry.path, path)

    def _content(self, process: subprocess.Popen[bytes], blob: str) -> Iterator[bytes]:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{blob}\n".encode())
        process.stdin.flush()
        head = process.stdout.readline().split()
        if len(head) != 3 or head[1] != b"blob":
            raise RagdataError(f"{self._shown}: the repository lacks contents; `git fetch` them first")
        left = int(head[2])
        while left:
            piece = process.stdout.read(min(left, _PIECE))
            if not piece:
                raise RagdataError(f"{self._shown}: git stopped while its files were read")
            left -= len(piece)
            yield piece
        process.stdout.read(1)

    def _take_large(self, digest: str, size: int, name: str, path: Path) -> None:
        """Put the contents of a Git LFS file in place of its pointer."""
        common = Path(self._start, self.one("rev-parse", "--git-common-dir"))
        stored = common / "lfs" / "objects" / digest[:2] / digest[2:4] / digest
        if not stored.is_file():
            raise RagdataError(
                f"{self._shown}: {_visible(name)} is kept by Git LFS, and its contents are not here; `git lfs fetch "
                f"origin {_visible(self._shown.partition(':')[0])}` gets them"
            )
        found, written = hashlib.sha256(), 0
        with stored.open("rb") as source, path.open("wb") as target:
            while piece := source.read(_PIECE):
                found.update(piece)
                written += len(piece)
                target.write(piece)
        if found.hexdigest() != digest or written != size:
            raise RagdataError(f"{self._shown}: what Git LFS keeps of {_visible(name)} is damaged")

    def _command(self) -> list[str]:
        return ["git", "--no-pager", "-C", str(self._start), "-c", "core.fsmonitor=false"]

    def _run(self, *words: str, needed: bool = False, given: str = "") -> bytes:
        try:
            done = subprocess.run(
                [*self._command(), *words],
                input=given.encode(),
                capture_output=True,
                timeout=_SECONDS,
                env=self._environment,
                check=False,
            )
        except FileNotFoundError:
            raise RagdataError(f"{self._shown}: this needs the command git, which is not there") from None
        except (subprocess.TimeoutExpired, ValueError):
            raise RagdataError(f"{_visible(self._shown)}: git could not be asked") from None
        errors = done.stderr.decode("utf-8", "replace")
        if "not a git repository" in errors or "dubious ownership" in errors:
            why = "belongs to another user (git: safe.directory)" if "dubious" in errors else "is in no git repository"
            raise RagdataError(f"{self._shown}: there is no such path, and this folder {why}")
        if done.returncode and needed:
            raise RagdataError(
                f"{self._shown}: git says {_visible(errors.strip().splitlines()[-1] if errors.strip() else '?')}"
            )
        return done.stdout if not done.returncode else b""
