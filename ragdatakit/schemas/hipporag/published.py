"""The question sets of HippoRAG 2 that are published with their corpora: digests of the released files."""

from __future__ import annotations

from ragdatakit.quick_values import NamedTuple

REPO = "osunlp/HippoRAG_2"
REVISION = "5ec05b38deecc3318bb432c69865959c56058990"


class PublishedSet(NamedTuple):
    """One set: ``NAME.json`` with its questions, ``NAME_corpus.json`` with its passages."""

    name: str
    passages: int
    questions: int
    questions_sha256: str
    corpus_sha256: str
    licence: str


PUBLISHED: tuple[PublishedSet, ...] = (
    PublishedSet(
        name="2wikimultihopqa",
        passages=6119,
        questions=1000,
        questions_sha256="895cba294064df0c3302c76847b1fc08d99b5619f7663dfaa3b65cd780f1cac4",
        corpus_sha256="9d6e352952aafb18dab22bf8195039461321a44a949df902ae83bce134ad238a",
        licence="Apache-2.0 (2WikiMultiHopQA)",
    ),
    PublishedSet(
        name="hotpotqa",
        passages=9811,
        questions=1000,
        questions_sha256="3ad9c0bcbf93f41d7004ca6007049c904d2605046b314a2f7ecfb379c64cba6d",
        corpus_sha256="9333647b922382776cd2cb02893b390d77984df85a91bfa8be411284978aca7d",
        licence="CC BY-SA 4.0 (HotpotQA)",
    ),
    PublishedSet(
        name="musique",
        passages=11656,
        questions=1000,
        questions_sha256="98ed4e21d3076532f6388d42320fb809599c63a0d8dffca8ece5e41922be6b46",
        corpus_sha256="73157a03ce3f0b1a5673dd5dc12bb970c24976dbffc688af9eecdd758c97ffcb",
        licence="CC BY 4.0 (MuSiQue)",
    ),
)
