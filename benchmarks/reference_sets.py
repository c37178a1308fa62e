"""The public sets of the reference results: how each is read, what others published for it, what is to be reached."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

_ANSERINI = "Anserini, regressions for BEIR at 81e34145: {}"
_HIPPORAG = "HippoRAG paper; GFM-RAG, Table 1"
_GFM_RAG = "GFM-RAG, Table 1"
_COOKBOOK = "contextual-embeddings cookbook at 4b36a1e1, outputs of its notebook"
_CITY = "mahiya/japanese-text-embedding-benchmark at 0fc3562b"
_SETTINGS = "Lucene's tokenizer and Porter, k1 0.9, b 0.4 there; see the steps below"
_NO_MODEL = "our graph has the names in the texts, found without a language model; theirs is made by one"
_TITLES = "titles are searched, too; without them see below"
_DERIVED = "another tokenizer; gold titles are derived from the evidence here"
_OWN_VALUE = "nobody published one for this sample; the bar is that of the project"


@dataclass(frozen=True, slots=True)
class Row:
    """One number: the metric of a mode, what is to be reached (``bar``), and what others published with which system.

    ``at_least`` says that the published value is a lower bound.
    """

    metric: str
    bar: float | None = None
    system: str = ""
    published: float | None = None
    source: str = ""
    cause: str = ""
    mode: str = "bm25"
    at_least: bool = False


@dataclass(frozen=True, slots=True)
class Experiment:
    """One way to read and search one set. ``words`` are those of the command line, ``before`` is what is
    typed before it. ``misread``: its judgements belong to other questions, which the evaluation has to notice."""

    title: str
    folder: str
    rows: tuple[Row, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    search: Mapping[str, str] = field(default_factory=dict)
    words: str = ""
    before: str = ""
    steps: bool = False
    misread: bool = False
    prepare: Callable[[Path, Path], Path] | None = None

    @property
    def modes(self) -> tuple[str, ...]:
        """The modes of the rows."""
        return tuple(dict.fromkeys(row.mode for row in self.rows)) or ("bm25",)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics of the rows, in order."""
        return tuple(dict.fromkeys(row.metric for row in self.rows)) or ("ndcg@10",)

    @property
    def command(self) -> str:
        """What a user types, in the folder of the sets."""
        modes = f" --mode {','.join(self.modes)}"
        return f"{self.before}ragdata eval {self.folder}{self.words}{modes} --metrics {','.join(self.metrics)}"


def unzipped(folder: Path, scratch: Path) -> Path:
    """The set in the one archive of a folder, or the folder itself where it is unpacked already."""
    archives = sorted(folder.glob("*.zip"))
    if not archives:
        return folder
    target = scratch / folder.name
    if not target.exists():
        with zipfile.ZipFile(archives[0]) as archive:
            archive.extractall(target)
    return target


def _wiki(title: bool) -> dict[str, str]:
    """2WikiMultihopQA: passages, questions and gold titles in three files."""
    corpus = ["*corpus*:text=text", "*corpus*:id=title", *["*corpus*:title=title"] * title]
    asked = ["questions*:question=question", "questions*:question_id=id", "questions*:answer=answer"]
    gold = ["*gold*:question_id=id", "*gold*:doc_id=supporting_documents"]
    return {"map": ",".join((*corpus, *asked, *gold))}


def _mapped(options: Mapping[str, str]) -> str:
    return f" --map '{options['map']}'"


_DENSE = "dense vectors of voyage-2 there, terms here"
_KUROMOJI = "their tokens are those of Kuromoji and its dictionary; ours are lemmas of content words by UniDic"
EXPERIMENTS: tuple[Experiment, ...] = (
    Experiment(
        "SciFact",
        "scifact-beir",
        (
            Row("ndcg@10", 0.679, "BM25, flat", 0.6789, _ANSERINI.format("scifact, flat"), _SETTINGS),
            Row("recall@100", None, "BM25, flat", 0.9253, _ANSERINI.format("scifact, flat"), _SETTINGS),
            Row("ndcg@10", None, "BM25, multifield", 0.6647, _ANSERINI.format("scifact, multifield"), "title apart"),
            Row("ndcg@10", None, "SPLADE-v3", 0.7140, _ANSERINI.format("scifact, SPLADE-v3"), "a trained model"),
        ),
        steps=True,
    ),
    Experiment(
        "NFCorpus",
        "nfcorpus-beir",
        (
            Row("ndcg@10", 0.318, "BM25, flat", 0.3218, _ANSERINI.format("nfcorpus, flat"), _SETTINGS),
            Row("recall@100", None, "BM25, flat", 0.2457, _ANSERINI.format("nfcorpus, flat"), _SETTINGS),
            Row("recall@1000", None, "BM25, flat", 0.3704, _ANSERINI.format("nfcorpus, flat"), _SETTINGS),
        ),
        before="unzip nfcorpus-beir/nfcorpus.zip -d nfcorpus-beir && ",
        steps=True,
        prepare=unzipped,
    ),
    Experiment(
        "Cranfield",
        "cranfield",
        (
            Row("ndcg@10", 0.375, "a JavaScript engine", 0.32, "thresholds of its tests", "a threshold", at_least=True),
            Row("map", None, "a JavaScript engine", 0.27, "thresholds of its tests", "a threshold", at_least=True),
            Row("mrr", None, "a JavaScript engine", 0.48, "thresholds of its tests", "a threshold", at_least=True),
        ),
        options={"topics": "position"},
        words=" -o topics=position",
    ),
    Experiment(
        "Cranfield, judgements joined by number",
        "cranfield",
        options={"topics": "number"},
        words=" -o topics=number",
        misread=True,
    ),
    Experiment(
        "2WikiMultihopQA, 1,000 questions",
        "2wiki-hipporag",
        (
            Row("recall@2", 0.518, "BM25", 0.518, _HIPPORAG, _TITLES),
            Row("recall@5", 0.619, "BM25", 0.619, _HIPPORAG, _TITLES),
            Row("recall@2", None, "BM25, title and text", 0.571, "reproduction notes of HopTrace", _DERIVED),
            Row("recall@5", None, "BM25, title and text", 0.675, "reproduction notes of HopTrace", _DERIVED),
            Row("recall@2", None, "LightRAG", 0.451, _GFM_RAG, _NO_MODEL, "graph"),
            Row("recall@5", 0.72, "LightRAG", 0.591, _GFM_RAG, _NO_MODEL, "graph"),
            Row("recall@5", None, "GraphRAG", 0.773, _GFM_RAG, _NO_MODEL, "graph"),
            Row("recall@5", None, "HippoRAG (Contriever)", 0.895, _GFM_RAG, _NO_MODEL, "graph"),
        ),
        options=_wiki(True),
        search={"graph": "names"},
        words=f"{_mapped(_wiki(True))} --graph names",
    ),
    Experiment(
        "2WikiMultihopQA without titles",
        "2wiki-hipporag",
        (
            Row("recall@2", None, "BM25", 0.518, _HIPPORAG, _DERIVED),
            Row("recall@5", None, "BM25", 0.619, _HIPPORAG, _DERIVED),
        ),
        options=_wiki(False),
        words=_mapped(_wiki(False)),
    ),
    Experiment(
        "MuSiQue, 100 questions of train",
        "hipporag/musique-cc-by-4.0",
        (
            Row("recall@5", cause=_OWN_VALUE),
            Row("recall@5", mode="graph", cause=_OWN_VALUE),
            Row("recall@5", 0.58, mode="hybrid", cause=_OWN_VALUE),
        ),
    ),
    Experiment(
        "localgovFAQ",
        "localgovfaq-ja",
        (
            Row("recall@10", 0.56, "BM25 (Kuromoji)", 0.600, _CITY, "no dictionary here: characters and pairs of them"),
            Row("recall@10", None, "light-splade-japanese 28M", 0.528, _CITY, "a trained model there"),
            Row("recall@10", None, "bge-m3", 0.735, _CITY, "a trained model there"),
        ),
    ),
    Experiment(
        "localgovFAQ, analyzer ja",
        "localgovfaq-ja",
        (Row("recall@10", 0.600, "BM25 (Kuromoji)", 0.600, _CITY, _KUROMOJI),),
        search={"analyzer": "ja"},
        words=" --analyzer ja",
    ),
    Experiment(
        "Cookbook code base",
        "contextual-retrieval",
        (
            Row("recall@5", None, "voyage-2", 0.8092, _COOKBOOK, _DENSE),
            Row("recall@10", 0.84, "voyage-2", 0.8715, _COOKBOOK, _DENSE),
            Row("recall@20", None, "voyage-2", 0.9006, _COOKBOOK, _DENSE),
            Row("recall@10", None, "contextual embeddings and BM25", 0.9321, _COOKBOOK, "contexts by a language model"),
        ),
    ),
)
