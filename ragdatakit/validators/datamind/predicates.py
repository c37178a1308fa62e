"""Which chunks and triples the rules may want to see, in words that the scanner understands; what is only counted."""

from __future__ import annotations

from ragdatakit.scanner.predicates import (
    Counted,
    CountedMember,
    CountedUnlike,
    Edged,
    Equal,
    Given,
    Longer,
    MemberBeginning,
    MemberCalled,
    Nested,
    OpenIfEdged,
    OpenUnlessText,
    Predicate,
    Shorter,
    Unequal,
)
from ragdatakit.validators.datamind.chunks import FORBIDDEN_KEYS, SHORT_CHARACTERS, V1_KEYS, WINDOW_BYTES
from ragdatakit.validators.datamind.triples import ENTITY_PROPERTIES, NAMES, UNUSED_FIELDS

CHUNKS: tuple[Predicate, ...] = (
    OpenIfEdged("text"),
    Shorter("text", SHORT_CHARACTERS),
    Longer("text", WINDOW_BYTES),
    Given("image_path"),
    Unequal("modality", "text"),
    OpenUnlessText("source"),
    Nested("metadata"),
    MemberBeginning("metadata", "_"),
    *(MemberCalled("metadata", key) for key in sorted(FORBIDDEN_KEYS)),
    *(CountedMember("metadata", ("overwritten-metadata-key", key), key) for key in sorted(V1_KEYS)),
    Counted("id", ("unused-id-or-source", "")),
    Counted("source", ("unused-id-or-source", "")),
)
TRIPLES: tuple[Predicate, ...] = (
    *map(Edged, NAMES),
    Equal("subject", "object"),
    *(MemberCalled(field, "image") for field in ENTITY_PROPERTIES),
    *(Counted(field, ("unused-entity-properties", "")) for field in ENTITY_PROPERTIES),
    *(Counted(field, (rule, "")) for field, rule in UNUSED_FIELDS.items()),
)


def own_source(file_name: str) -> Predicate:
    """Chunks whose metadata has another source than the one that v2 writes there."""
    return CountedUnlike("metadata", ("reserved-metadata-key", "source"), "source", file_name)
