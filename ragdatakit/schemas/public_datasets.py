"""Public datasets that `ragdata fetch` knows by name: where they are, at which revision, and their files' digests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.arag.published import SUBSETS
from ragdatakit.schemas.beir.published import PUBLISHED as BEIR_SETS
from ragdatakit.schemas.errors import UnknownNameError
from ragdatakit.schemas.hipporag.published import PUBLISHED as HIPPORAG_SETS
from ragdatakit.schemas.hipporag.published import REPO as HIPPORAG_REPO
from ragdatakit.schemas.hipporag.published import REVISION as HIPPORAG_REVISION


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicDataset:
    """A dataset in a repository of the Hugging Face hub.

    ``files`` maps the path in the repository to the SHA-256 of the released file; where it is empty, the dataset is the
    whole repository. ``folder`` is the part of the paths that is left out below the target folder. ``revision`` is a
    commit: what is fetched never changes.
    """

    name: str
    title: str
    format: str
    repo: str
    revision: str
    licence: str
    folder: str = ""
    files: Mapping[str, str] = field(default_factory=dict)


ARAG_REPO = "Ayanami0730/rag_test"
ARAG_REVISION = "b9198a5a8702cc35c6df7542529357a9af95d928"

PUBLIC_DATASETS: tuple[PublicDataset, ...] = (
    *(
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
    ),
    *(
        PublicDataset(
            name=f"beir/{one.name}",
            title=f"{one.documents:,} documents, {one.queries:,} queries ({one.split})",
            format="beir",
            repo=one.repo,
            revision=one.revision,
            licence=one.licence,
        )
        for one in BEIR_SETS
    ),
    *(
        PublicDataset(
            name=f"hipporag/{one.name}",
            title=f"{one.passages:,} passages, {one.questions:,} questions",
            format="hipporag",
            repo=HIPPORAG_REPO,
            revision=HIPPORAG_REVISION,
            files={f"{one.name}.json": one.questions_sha256, f"{one.name}_corpus.json": one.corpus_sha256},
            licence=one.licence,
        )
        for one in HIPPORAG_SETS
    ),
)


def public_dataset(name: str) -> PublicDataset:
    """The dataset of that name; raises `UnknownNameError`."""
    for dataset in PUBLIC_DATASETS:
        if dataset.name == name:
            return dataset
    raise UnknownNameError("dataset", name, [d.name for d in PUBLIC_DATASETS])
