"""The Python interface of the Hugging Face hub: fetch a dataset, push one."""

from __future__ import annotations

from pathlib import Path

from ragdatakit.api.arguments import several_words
from ragdatakit.api.keywords import takes
from ragdatakit.hub.client import checked_repo
from ragdatakit.hub.fetch import Fetched
from ragdatakit.hub.fetch import fetch as load
from ragdatakit.hub.listing import FetchRequest, Listing, list_files
from ragdatakit.hub.push import Pushed, PushPlan, plan_push
from ragdatakit.hub.push import push as put
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.options import SHOWN_SEVERITY, FetchOptions, PathLike, PushOptions
from ragdatakit.schemas.results import Report
from ragdatakit.schemas.texts import many

__all__ = ["Fetched", "Listing", "PushPlan", "Pushed", "checked", "fetch", "listing", "planned", "push", "upload"]


@takes(FetchOptions)
def fetch(options: FetchOptions, source: str, folder: PathLike) -> Fetched:
    """Load the public dataset ``source`` into ``folder``, which must be empty or not there, and check every file.

    ``source`` is a name of ``ragdata fetch --list``, or ``hf:OWNER/NAME[@REVISION]`` for any dataset of the Hugging
    Face hub. The same call again resumes where a run was interrupted. The result has the folder, the commit, and name,
    bytes and SHA-256 of each file. HF_ENDPOINT, HF_TOKEN and HF_HUB_OFFLINE apply.

    Raises `RagdataError` where the hub refuses or cannot be reached, a file is not what it should be, or the folder
    holds something else; `UnknownNameError` for an unknown name; `MissingExtraError` without the extra ``hub``.
    """
    return load(_request(source, options), Path(folder), options.overwrite, options.progress)


def listing(source: str, options: FetchOptions) -> tuple[str, Listing]:
    """The repository of a source, and the files that `fetch` would load. Raises as `fetch` does."""
    request = _request(source, options)
    return request.repo, list_files(request)


def _request(source: str, options: FetchOptions) -> FetchRequest:
    from ragdatakit.schemas.public_datasets import public_dataset

    include, exclude = several_words(options.include), several_words(options.exclude)
    if source.startswith("hf:"):
        repo, _, revision = source.removeprefix("hf:").partition("@")
        return FetchRequest(
            repo=checked_repo(repo),
            revision=revision or "main",
            include=include,
            exclude=exclude,
            max_bytes=options.max_bytes,
        )
    dataset = public_dataset(source)
    if dataset.files and (include or exclude):
        raise RagdataError(f"include and exclude choose among the files of a repository; {source} is whole")
    return FetchRequest(
        repo=dataset.repo,
        revision=dataset.revision,
        include=tuple(dataset.files) or include,
        exclude=exclude,
        folder=dataset.folder,
        sha256=dataset.files,
        name=dataset.name,
        max_bytes=options.max_bytes,
    )


@takes(PushOptions)
def push(options: PushOptions, folder: PathLike, repo: str) -> Pushed:
    """Check the data in ``folder`` and upload it to the dataset repository ``repo`` (``OWNER/NAME``) of the Hugging
    Face hub, with a card, in one commit.

    Hidden files, pickles and what is built from the data are not uploaded; of a card that is there, your own words
    stay. The result has the URLs of the repository and of the commit, and says whether anything ``changed``.

    Raises `RagdataError` where the check finds errors (unless ``keep_going``), there is nothing to push, or the hub
    refuses or cannot be reached; `MissingExtraError` without the extra ``hub``.
    """
    report = checked(folder, options)
    if not report.ok and not options.keep_going:
        errors = report.counts["error"]
        raise RagdataError(f"{folder} has {many(errors, 'error')}, so nothing was pushed; see validate")
    return upload(planned(folder, repo, report, options), options)


def checked(folder: PathLike, options: PushOptions) -> Report:
    """The report on what is to be pushed."""
    from ragdatakit.api.validate import validate

    return validate(
        folder,
        format=options.source_format or None,
        severity=SHOWN_SEVERITY,
        follow_links=options.follow_links,
        progress=options.progress,
    )


def planned(folder: PathLike, repo: str, report: Report, options: PushOptions) -> PushPlan:
    """Which files would go up, and the card. Raises `RagdataError` where there is nothing to push."""
    languages = several_words(options.languages)
    return plan_push(Path(folder), repo, report, options.title, options.license, languages, options.follow_links)


def upload(plan: PushPlan, options: PushOptions, show_progress: bool = False) -> Pushed:
    """Do what was planned."""
    return put(
        plan, private=options.private, message=options.message, revision=options.revision, show_progress=show_progress
    )
