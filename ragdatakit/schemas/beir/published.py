"""The datasets of BEIR as MTEB publishes them on the Hugging Face hub: at which commit, how large, under which licence.

Commits, sizes and licences are those that the tasks of mteb 2 pin and describe (``mteb/tasks/retrieval`` and
``mteb/descriptive_stats`` there). The names are those of the BEIR paper's archives.
"""

from __future__ import annotations

from ragdatakit.quick_values import NamedTuple

_OPEN = "see the repository's card"


class PublishedSet(NamedTuple):
    """One dataset: its repository and commit, documents in its corpus, queries of ``split`` that have judgements."""

    name: str
    repo: str
    revision: str
    documents: int
    queries: int
    split: str
    licence: str


# fmt: off
PUBLISHED: tuple[PublishedSet, ...] = (
    PublishedSet("arguana", "mteb/arguana", "c22ab2a51041ffd869aaddef7af8d8215647e41a",
                 8_674, 1_406, "test", "CC BY-SA 4.0"),
    PublishedSet("climate-fever", "mteb/climate-fever", "47f2ac6acb640fc46020b02a5b59fdda04d39380",
                 5_416_593, 1_535, "test", "CC BY-SA 4.0"),
    PublishedSet("cqadupstack/android", "mteb/CQADupstackAndroidRetrieval", "9be4c0e46342e8e3aff577a89b9a1ec9bc6b4af3",
                 22_998, 699, "test", "Apache-2.0"),
    PublishedSet("cqadupstack/english", "mteb/cqadupstack-english", "ad9991cb51e31e31e430383c75ffb2885547b5f0",
                 40_221, 1_570, "test", "Apache-2.0"),
    PublishedSet("cqadupstack/gaming", "mteb/cqadupstack-gaming", "4885aa143210c98657558c04aaf3dc47cfb54340",
                 45_301, 1_595, "test", "Apache-2.0"),
    PublishedSet("cqadupstack/gis", "mteb/cqadupstack-gis", "5003b3064772da1887988e05400cf3806fe491f2",
                 37_637, 885, "test", "Apache-2.0"),
    PublishedSet("cqadupstack/mathematica", "mteb/cqadupstack-mathematica", "90fceea13679c63fe563ded68f3b6f06e50061de",
                 16_705, 804, "test", "Apache-2.0"),
    PublishedSet("cqadupstack/physics", "mteb/cqadupstack-physics", "79531abbd1fb92d06c6d6315a0cbbbf5bb247ea4",
                 38_316, 1_039, "test", "Apache-2.0"),
    PublishedSet("cqadupstack/programmers", "mteb/cqadupstack-programmers", "6184bc1440d2dbc7612be22b50686b8826d22b32",
                 32_176, 876, "test", "Apache-2.0"),
    PublishedSet("cqadupstack/stats", "mteb/cqadupstack-stats", "65ac3a16b8e91f9cee4c9828cc7c335575432a2a",
                 42_269, 652, "test", "Apache-2.0"),
    PublishedSet("cqadupstack/tex", "mteb/cqadupstack-tex", "46989137a86843e03a6195de44b09deda022eec7",
                 68_184, 2_906, "test", "Apache-2.0"),
    PublishedSet("cqadupstack/unix", "mteb/cqadupstack-unix", "6c6430d3a6d36f8d2a829195bc5dc94d7e063e53",
                 47_382, 1_072, "test", "Apache-2.0"),
    PublishedSet("cqadupstack/webmasters", "mteb/cqadupstack-webmasters", "160c094312a0e1facb97e55eeddb698c0abe3571",
                 17_405, 506, "test", "Apache-2.0"),
    PublishedSet("cqadupstack/wordpress", "mteb/cqadupstack-wordpress", "4ffe81d471b1924886b33c7567bfb200e9eec5c4",
                 48_605, 541, "test", "Apache-2.0"),
    PublishedSet("dbpedia-entity", "mteb/dbpedia", "c0f706b76e590d620bd6618b3ca8efdd34e2d659",
                 4_635_922, 400, "test", "MIT"),
    PublishedSet("fever", "mteb/fever", "bea83ef9e8fb933d90a2f1d5515737465d613e12",
                 5_416_568, 6_666, "test", "CC BY-NC-SA 3.0"),
    PublishedSet("fiqa", "mteb/fiqa", "27a168819829fe9bcd655c2df245fb19452e8e06",
                 57_638, 648, "test", _OPEN),
    PublishedSet("hotpotqa", "mteb/hotpotqa", "ab518f4d6fcca38d87c25209f94beba119d02014",
                 5_233_329, 7_405, "test", "CC BY-SA 4.0"),
    PublishedSet("msmarco", "mteb/msmarco", "c5a29a104738b98a9e76336939199e264163d4a0",
                 8_841_823, 6_980, "dev", "MSR-LA-NC"),
    PublishedSet("nfcorpus", "mteb/nfcorpus", "ec0fa4fe99da2ff19ca1214b7966684033a58814",
                 3_633, 323, "test", _OPEN),
    PublishedSet("nq", "mteb/nq", "b774495ed302d8c44a3a7ea25c90dbce03968f31",
                 2_681_468, 3_452, "test", "CC BY-NC-SA 3.0"),
    PublishedSet("quora", "mteb/quora", "e4e08e0b7dbe3c8700f0daef558ff32256715259",
                 522_931, 10_000, "test", _OPEN),
    PublishedSet("scidocs", "mteb/scidocs", "f8c2fcf00f625baaa80f62ec5bd9e1fff3b8ae88",
                 25_657, 1_000, "test", "CC BY-SA 4.0"),
    PublishedSet("scifact", "mteb/scifact", "d56462d0e63a25450459c4f213e49ffdb866f7f9",
                 5_183, 300, "test", "CC BY-NC 4.0"),
    PublishedSet("trec-covid", "mteb/trec-covid", "bb9466bac8153a0349341eb1b22e06409e78ef4e",
                 171_332, 50, "test", _OPEN),
    PublishedSet("webis-touche2020", "mteb/touche2020", "a34f9a33db75fa0cbb21bb5cfc3dae8dc8bec93f",
                 382_545, 49, "test", "CC BY-SA 4.0"),
)
# fmt: on
