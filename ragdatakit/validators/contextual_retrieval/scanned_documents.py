"""What the scanner is asked of documents: in which of them no rule about one document may find anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ragdatakit.scanner.predicates import Blank, Stripped
from ragdatakit.scanner.relations import Empty, Misnamed, NotWithin, Parts, Unnumbered
from ragdatakit.schemas.declarations import Field

if TYPE_CHECKING:
    from ragdatakit.validators.coded_columns import ScannedCodes

_CONTENTS, _NAMES, _INDICES = "chunks/content", "chunks/chunk_id", "chunks/original_index"
ASKED = (
    Parts(
        "chunks",
        (Field("chunk_id: string"), Field(name="original_index", type="integer", minimum=0), Field("content: string")),
    ),
    Empty(("chunks",)),
    Unnumbered((_INDICES,)),
    Misnamed((_NAMES, "doc_id", _INDICES), text="_chunk_"),
    Blank(_CONTENTS),
    NotWithin(("content", _CONTENTS)),
    Stripped(_CONTENTS),
)
MADE_OF = ("doc_id", "original_uuid", "content", _CONTENTS)
"""The fields of whose texts there are to be codes."""


def derive(given: Mapping[str, ScannedCodes], batch: Any) -> None:
    """Give `batch` what it compares besides the keys."""
    for name in ("original_uuid", "content", _CONTENTS):
        batch.columns[name], _ = given[name]
