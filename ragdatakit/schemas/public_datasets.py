"""Public datasets that `ragdata fetch` knows by name: where they are, at which revision, and their files' digests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ragdatakit.schemas.arag.published import SUBSETS
from ragdatakit.schemas.errors import UnknownNameError


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicDataset:
    """A dataset in a repository of the Hugging Face hub.

    ``files`` maps the path in the repository to the SHA-256 of the released file; ``folder`` is the part of the paths
    that is left out below the target folder. ``revision`` is a commit: what is fetched never changes.
    """

    name: str
    title: str
    format: str
    repo: str
    revision: str
    folder: str
    files: Mapping[str, str]
    licence: str

    def name_of(self, path: str) -> str:
        """What a file of the repository is called below the target folder."""
        return path.removeprefix(f"{self.folder}/")


ARAG_REPO = "Ayanami0730/rag_test"
ARAG_REVISION = "b9198a5a8702cc35c6df7542529357a9af95d928"

PUBLIC_DATASETS: tuple[PublicDataset, ...] = tuple(
    PublicDataset(
        name=f"arag/{subset.name}",
        title=f"{subset.chunks:,} chunks, {subset.questions:,} questions",
        format="arag",
        repo=ARAG_REPO,
        revision=ARAG_REVISION,
        folder=subset.name,
        files={
            f"{subset.name}/chunks.json": subset.chunks_sha256,
            f"{subset.name}/questions.json": subset.questions_sha256,
        },
        licence="Apache-2.0 (its card); the texts keep those of their sources",
    )
    for subset in SUBSETS
)


def public_dataset(name: str) -> PublicDataset:
    """The dataset of that name; raises `UnknownNameError`."""
    for dataset in PUBLIC_DATASETS:
        if dataset.name == name:
            return dataset
    raise UnknownNameError("dataset", name, [d.name for d in PUBLIC_DATASETS])
