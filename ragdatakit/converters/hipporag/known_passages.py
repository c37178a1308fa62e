"""Which passages of HippoRAG there are, and what they are called: by what is indexed of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from ragdatakit.files.hipporag.passages import passage_code, passage_text
from ragdatakit.schemas.canonical import Document


class KnownPassages(Protocol):
    """The passages of a corpus."""

    def __len__(self) -> int: ...

    def ids(self, passages: Sequence[str]) -> list[str | None]:
        """The id of each of these, as it is indexed; None where it is not there. Of several alike the first counts."""


class PassageIds:
    """The same, by a code of 128 bits for each passage."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._ids: dict[int, str] = {}
        for document in documents:
            self._ids.setdefault(passage_code(passage_text(document.title or "", document.text)), document.doc_id)

    def __len__(self) -> int:
        return len(self._ids)

    def ids(self, passages: Sequence[str]) -> list[str | None]:
        """As `KnownPassages` says."""
        return [self._ids.get(passage_code(passage)) for passage in passages]
