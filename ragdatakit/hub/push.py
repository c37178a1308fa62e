"""A folder into a dataset repository of the hub: which files go, which stay, the card, one commit."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ragdatakit.files.paths.boundary import ANYWHERE, Boundary, boundary_of
from ragdatakit.hub.client import DATASET, checked_repo, endpoint, hub_api, refusals
from ragdatakit.hub.dataset_card import Card, CardFacts, DataFile, card
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.results import Report
from ragdatakit.version import __version__

if TYPE_CHECKING:
    from huggingface_hub import HfApi

CARD = "README.md"
_PICKLES = (".pkl", ".pickle", ".pt", ".pth", ".joblib", ".ckpt")
_LITTER = ("~", ".pyc", ".tmp", ".swp", ".lock", ".incomplete")
_LITTER_NAMES = ("__pycache__", "node_modules", "Thumbs.db", "desktop.ini")
_BUILT = "stage2"


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that goes up."""

    path: Path
    name: str
    bytes: int


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file or folder that does not, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class PushPlan:
    """What a push would do. ``own_card`` is the folder's README.md, None where it has none."""

    repo: str
    uploads: tuple[Upload, ...]
    left_out: tuple[LeftOut, ...]
    facts: CardFacts
    own_card: str | None

    @property
    def bytes(self) -> int:
        """The size of all files."""
        return sum(u.bytes for u in self.uploads)

    def card(self) -> Card:
        """The card, as long as the repository has none."""
        return card(self.facts, self.own_card)


@dataclass(frozen=True, slots=True)
class Pushed:
    """What a push did. ``changed`` is false where the repository had everything already."""

    url: str
    commit_url: str
    created: bool
    changed: bool
    notes: tuple[str, ...]


def plan_push(
    folder: Path,
    repo: str,
    report: Report,
    title: str = "",
    license_id: str = "",
    languages: tuple[str, ...] = (),
    follow_links: bool = False,
) -> PushPlan:
    """Decide which files of ``folder`` go up, and what the card says; ``report`` is that of its validation.

    Raises `RagdataError` where there is nothing to push.
    """
    checked_repo(repo, needs_owner=True)
    root = folder.resolve()
    data = tuple(_data_files(root, report))
    uploads: list[Upload] = []
    left_out: list[LeftOut] = []
    boundary = boundary_of(folder, follow_links)
    _walk(root, root, {f.name for f in data}, boundary, uploads, left_out)
    kept = {u.name for u in uploads}
    if not kept & {f.name for f in data}:
        raise RagdataError(f"{folder} has no file of a dataset that could be pushed")
    facts = CardFacts(
        repo=repo,
        files=tuple(f for f in data if f.name in kept),
        report=report,
        ragdata=__version__,
        title=title,
        license=license_id,
        languages=languages,
    )
    own = next((u for u in uploads if u.name == CARD), None)
    return PushPlan(
        repo,
        tuple(u for u in uploads if u is not own),
        tuple(left_out),
        facts,
        None if own is None else _text(own, boundary),
    )


def _text(file: Upload, boundary: Boundary = ANYWHERE) -> str:
    try:
        return boundary.read_bytes(file.path).decode()
    except UnicodeDecodeError:
        raise RagdataError(f"{file.path} is not UTF-8") from None


def _data_files(root: Path, report: Report) -> Iterator[DataFile]:
    seen: set[Path] = set()
    for dataset in report.datasets:
        at = Path(dataset.path).resolve()
        at = at if at.is_dir() else at.parent
        for file in dataset.files:
            path = at / file.path
            if path.is_file() and path.is_relative_to(root) and path not in seen:
                seen.add(path)
                yield DataFile(
                    name=path.relative_to(root).as_posix(),
                    dataset=at.relative_to(root).as_posix().removeprefix(".") if at.is_relative_to(root) else "",
                    format=dataset.format,
                    kind=file.kind,
                    split=dataset.split,
                    records=file.records,
                    bytes=file.bytes,
                )


def _walk(
    folder: Path, root: Path, data: set[str], boundary: Boundary, uploads: list[Upload], left_out: list[LeftOut]
) -> None:
    for entry in sorted(os.scandir(folder), key=lambda e: e.name):
        path = Path(entry.path)
        name = path.relative_to(root).as_posix()
        reason = _reason(entry, path, boundary, name, data)
        if reason:
            left_out.append(LeftOut(name + ("/" if entry.is_dir(follow_symlinks=False) else ""), reason))
        elif entry.is_dir(follow_symlinks=False):
            _walk(path, root, data, boundary, uploads, left_out)
        else:
            uploads.append(Upload(path, name, path.stat().st_size))


def _reason(entry: os.DirEntry[str], path: Path, boundary: Boundary, name: str, data: set[str]) -> str:
    """Why a file or folder is not pushed; empty where it is."""
    low = entry.name.lower()
    if entry.is_symlink() and (not boundary.holds(path) or path.is_dir()):
        return "a link that leads elsewhere"
    if not path.is_dir() and not path.is_file():
        return "no regular file"
    if low.endswith(_PICKLES):
        return "a pickle: loading it would run what is in it"
    if entry.name.startswith(".") and name not in data and not any(d.startswith(f"{name}/") for d in data):
        return "hidden"
    if low.endswith(_LITTER) or entry.name in _LITTER_NAMES:
        return "left by a program"
    if path.is_dir() and low == _BUILT:
        return "built from the data"
    return ""


def push(
    plan: PushPlan,
    *,
    private: bool = False,
    message: str = "",
    revision: str | None = None,
    show_progress: bool = False,
) -> Pushed:
    """Make the repository where there is none, and put card and files into it with one commit.

    Raises `RagdataError`: the hub refuses or cannot be reached, or ``private`` is asked for a public repository.
    """
    api = hub_api()
    from huggingface_hub import CommitOperationAdd, constants
    from huggingface_hub.utils import disable_progress_bars  # type: ignore[attr-defined] # exported without saying so

    made = plan.card()  # where the folder's own card cannot be read, nobody is asked
    if not show_progress and constants.HF_HUB_DISABLE_PROGRESS_BARS is None:
        disable_progress_bars()
    with refusals(plan.repo, revision), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        created = _made(api, plan.repo, private)
        if revision:
            api.create_branch(plan.repo, branch=revision, repo_type=DATASET, exist_ok=True)
        before = api.repo_info(plan.repo, repo_type=DATASET, revision=revision).sha
        if plan.own_card is None and not created:
            made = card(plan.facts, _card_there(api, plan.repo, revision))
        additions = [CommitOperationAdd(path_in_repo=u.name, path_or_fileobj=str(u.path)) for u in plan.uploads]
        additions.append(CommitOperationAdd(path_in_repo=CARD, path_or_fileobj=made.text.encode()))
        try:
            done = api.create_commit(
                plan.repo,
                additions,
                commit_message=message or f"Add {', '.join(dict.fromkeys(f.format for f in plan.facts.files))} data",
                repo_type=DATASET,
                revision=revision,
            )
        except OSError:  # what the hub answers, among others
            raise
        except (RuntimeError, ValueError) as error:
            raise RagdataError(" ".join(f"{error} {error.__cause__ or ''}".split())) from None
    said = [" ".join(str(w.message).split()) for w in warned if w.category is UserWarning]
    return Pushed(
        url=f"{endpoint()}/datasets/{plan.repo}",
        commit_url=f"{endpoint()}/datasets/{plan.repo}/commit/{done.oid}",
        created=created,
        changed=done.oid != before,
        notes=(*made.notes, *said),
    )


def _made(api: HfApi, repo: str, private: bool) -> bool:
    """Whether the repository had to be made."""
    from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError

    try:
        info = api.repo_info(repo, repo_type=DATASET)
    except GatedRepoError:
        raise
    except RepositoryNotFoundError:
        api.create_repo(repo, repo_type=DATASET, private=private or None)  # else as the owner's default is
        return True
    if private and not info.private:
        raise RagdataError(f"{repo} is there already and public; --private holds for new repositories only")
    return False


def _card_there(api: HfApi, repo: str, revision: str | None) -> str | None:
    """The card that the repository has, so that words written there stay."""

    from huggingface_hub.errors import EntryNotFoundError

    with tempfile.TemporaryDirectory() as scratch:
        try:
            path = api.hf_hub_download(repo, CARD, repo_type=DATASET, revision=revision, local_dir=scratch)
        except EntryNotFoundError:
            return None
        return _text(Upload(Path(path), CARD, 0))
