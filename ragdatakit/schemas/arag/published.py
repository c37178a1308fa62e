"""The five published A-RAG subsets as they were released: counts, question types, fingerprints, evidence shapes."""

from __future__ import annotations

from typing import Literal

from ragdatakit.late_dataclasses import dataclass

Evidence = Literal["blank", "triples", "contexts", "strings", "text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subset:
    """One published subset.

    ``source`` is how the field of that name begins in its questions (lower case). ``evidence`` holds the shapes its
    evidence may have; empty where the published copies differ. ``*_sha256`` are those of the released files.
    """

    name: str
    source: str
    chunks: int
    questions: int
    question_types: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    chunks_sha256: str
    questions_sha256: str


SUBSETS: tuple[Subset, ...] = (
    Subset(
        name="2wikimultihop",
        source="2wiki",
        chunks=658,
        questions=1000,
        question_types=("compositional", "comparison", "bridge_comparison", "inference"),
        evidence=("triples",),
        chunks_sha256="e92b8bcfcd2748100d60ad86819abe2e4cb318dc8d5f33b1aebdb0b4735c8aa8",
        questions_sha256="246e43fb624413e38e11e3a582d5945185a3290efe4c2adbe32af2f112b70ab8",
    ),
    Subset(
        name="hotpotqa",
        source="hotpot",
        chunks=1311,
        questions=1000,
        question_types=("bridge", "comparison"),
        evidence=("contexts",),
        chunks_sha256="cb76f6fdb54e7b2853d51d400bacdba01c814baf43b74207bc79c2a06474d231",
        questions_sha256="ecc641d532a4d2518f1ceb57627f2e41044e0c4fd07012bf0aaa02327dc770a9",
    ),
    Subset(
        name="musique",
        source="musique",
        chunks=1354,
        questions=1000,
        question_types=("",),
        evidence=("blank",),
        chunks_sha256="41d439ad258a09b602cce4b4b4151747c0682f30ba64486fec819fc965e84630",
        questions_sha256="42dfd487e7e08d0892ed94bd9e0d0e56744cd92239f41b190e156f563ab49fb4",
    ),
    Subset(
        name="medical",
        source="medical",
        chunks=225,
        questions=2062,
        question_types=("Fact Retrieval", "Complex Reasoning", "Contextual Summarize", "Creative Generation"),
        evidence=("blank", "text", "strings"),
        chunks_sha256="ffbc583386e145f807755d338c55201f4c2a924ba4beec7d363537a08b0c652e",
        questions_sha256="022f41d22cd618c7d5f10c5056cf5385f75d8bd4f763b70cc093abb2e0d87753",
    ),
    Subset(
        name="novel",
        source="novel",
        chunks=1117,
        questions=2010,
        question_types=("Fact Retrieval", "Complex Reasoning", "Contextual Summarize", "Creative Generation"),
        evidence=("strings",),
        chunks_sha256="34f05833f0cab3956f2066f709b697ec4ee7b4b46c5474cd92d7d95e30e9d738",
        questions_sha256="9d7a58fa0d613e46a96b85f461f0920d4f3ad47a322c85e392e2071362d5d963",
    ),
)

# One question of the published novel set appears in it twice under one id.
REPEATS_A_QUESTION = "novel"


def subset_named(name: str) -> Subset | None:
    """The subset whose published folder has that name."""
    return next((s for s in SUBSETS if s.name == name), None)


def subset_of_source(source: str) -> Subset | None:
    """The subset that a question's ``source`` names (2Wiki says ``2wikimultihopqa``, novel ``Novel-44557``)."""
    lowered = source.lower()
    return next((s for s in SUBSETS if lowered.startswith(s.source)), None)


def subset_of_file(kind: str, sha256: str) -> Subset | None:
    """The subset whose released file of this kind has that fingerprint."""
    fingerprint = "chunks_sha256" if kind == "chunks" else "questions_sha256"
    return next((s for s in SUBSETS if getattr(s, fingerprint) == sha256), None)
