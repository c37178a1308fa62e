"""The HippoRAG format: corpora of passages, questions over them, OpenIE results, and what an index leaves behind.

Facts: OSU-NLP-Group/HippoRAG at commit c617143f (branch main) and b144c46d (branch legacy), read and run.
"""

from __future__ import annotations

from ragdatakit.schemas.declarations import Adopted, File, Format, Key, Layout, late_rules
from ragdatakit.schemas.hipporag.records import LEGACY_PASSAGE, PASSAGE, QUESTION, RESULTS

_INDEX = {
    **{f"{kind}_embeddings/vdb_{kind}.parquet": "embeddings" for kind in ("chunk", "entity", "fact")},
    "graph.pickle": "graph",
    "chunk_metadata.json": "chunk-metadata",
}
_SAVED = {"openie_results_ner_*.json": "openie", **{f"*/{name}": kind for name, kind in _INDEX.items()}}


def _below(folder: str, files: dict[str, str]) -> dict[str, str]:
    return {folder + name: kind for name, kind in files.items()}


_CORPUS = {"*_corpus.json": "corpus"}
_BESIDE = {"openie_*results_ner_*.json": "openie"}

LAYOUTS = (
    Layout(
        name="repository",
        description="A folder with `reproduce/dataset/NAME_corpus.json` and `NAME.json`, and the results in `outputs/`",
        files={**_below("reproduce/dataset/", {**_CORPUS, **_BESIDE}), **_below("outputs/*/", _SAVED)},
        sniffed={"reproduce/dataset/*.json": "questions"},
        companions={"reproduce/dataset/*.json": "*_corpus.json"},
        signature=(("reproduce/dataset/*_corpus.json",),),
    ),
    Layout(
        name="legacy repository",
        description="A folder with `data/NAME_corpus.json` and `NAME.json`, and the results in `output/`",
        files={**_below("data/", _CORPUS), "output/openie_*_results_ner_*.json": "openie"},
        sniffed={"data/*.json": "questions"},
        companions={"data/*.json": "*_corpus.json"},
        signature=(("data/*_corpus.json",),),
    ),
    Layout(
        name="datasets",
        description="A folder with `NAME_corpus.json` and `NAME.json`, for one data set or several",
        files={**_CORPUS, **_BESIDE},
        sniffed={"*.json": "questions"},
        companions={"*.json": "*_corpus.json"},
        signature=(("*_corpus.json",),),
    ),
    Layout(
        name="corpora",
        description="A folder with `NAME_corpus.json` and no questions",
        files={**_CORPUS, **_BESIDE},
        signature=(("*_corpus.json",),),
        sniff=True,
    ),
    Layout(
        name="legacy corpora",
        description="The same, with corpora as the branch legacy has them",
        files={"*_corpus.json": "legacy-corpus", **_BESIDE},
        signature=(("*_corpus.json",),),
        sniff=True,
    ),
    Layout(
        name="questions",
        description="A folder with questions alone",
        files={},
        sniffed={"*.json": "questions"},
        signature=(("*.json",),),
    ),
    Layout(
        name="results",
        description="A folder into which HippoRAG saved: `openie_results_ner_MODEL.json`, with the indexes below it",
        files=_SAVED,
        signature=(("openie_results_ner_*.json",),),
    ),
    Layout(
        name="index",
        description="The folder of one index",
        files=_INDEX,
        signature=(("chunk_embeddings/vdb_chunk.parquet",),),
    ),
)

HIPPORAG = Format(
    name="hipporag",
    title="HippoRAG",
    letters="HR",
    description=(
        "A corpus of titled passages, questions with the passages that are to be found, and the entities and triples "
        "extracted from them: the benchmark files of HippoRAG, in which MuSiQue, HotpotQA and 2WikiMultihopQA come."
    ),
    homepage="https://github.com/OSU-NLP-Group/HippoRAG",
    files=(
        File(
            "corpus: json-array",
            description="One JSON list of passages.",
            records=(PASSAGE,),
            suffixes=(".json",),
            keys=("title", "text"),
            without=("question", "passage", "query", "contents"),
        ),
        File(
            "legacy-corpus: json-object",
            title="Corpus (legacy)",
            description="The branch legacy: one JSON object of titles and lists of sentences, under the same name.",
            records=(LEGACY_PASSAGE,),
            suffixes=(".json",),
            instead_of="corpus",
        ),
        File(
            "questions: json-array",
            description="One JSON list of questions, called as the corpus without `_corpus`.",
            records=(QUESTION,),
            suffixes=(".json",),
            keys=("question", "paragraphs"),
            signs=(("question", "contexts"), ("question", "supporting_facts", "context")),
            without=("start_nodes", "target_nodes", "supporting_documents", "question_entities", "pred_answer"),
        ),
        File(
            "openie: json",
            title="OpenIE results",
            description="One JSON object with the entities and triples of each passage.",
            records=(RESULTS,),
            suffixes=(".json",),
            keys=("docs",),
        ),
        File(
            "embeddings: opaque",
            description="A Parquet table of texts and their embeddings: ids, facts and lengths are looked at.",
            suffixes=(".parquet",),
        ),
        File(
            "graph: opaque",
            description="A pickle, which can run code when it is opened: only its presence is reported.",
            suffixes=(".pickle",),
        ),
        File(
            "chunk-metadata: opaque",
            title="Metadata of passages",
            description="What the index keeps of its passages; only its presence is noted.",
            suffixes=(".json",),
        ),
    ),
    rules=late_rules(
        "ragdatakit.schemas.hipporag",
        "corpus_rules:CORPUS_RULES",
        "question_rules:QUESTION_RULES",
        "openie_rules:OPENIE_RULES",
        "corpus_rules:EMBEDDING_RULES",
        by_code=True,
    ),
    layouts=LAYOUTS,
    keys=(
        Key(kind="corpus", fields=("@set", "@passage"), within_file=("@passage",), rule="repeated-passage"),
        Key(kind="legacy-corpus", fields=("@set", "title"), within_file=("title",), rule="repeated-passage"),
        Key(kind="questions", fields=("@set", "@id"), within_file=("@id",), rule="repeated-question-id"),
    ),
    adopts={
        "byte-order-mark": Adopted("error", "json.load stops with JSONDecodeError"),
        "invalid-utf8": Adopted("error", "json.load stops with UnicodeDecodeError"),
        "mislabelled-compression": Adopted("error", "the loaders open plain text only"),
        "duplicate-key": Adopted("error", "the last value wins, the others are lost"),
        "non-finite-number": Adopted(
            "warning", "Python's json reads it, most other readers refuse the file; write null"
        ),
        "lone-surrogate": Adopted("error", "it loads; the MD5 of the passage stops with UnicodeEncodeError"),
    },
    example={
        "reefs_corpus.json": (
            '[\n  {"title": "Kettle Reef", "text": "Joss Alder mapped it. It lies north.", "idx": 0},\n'
            '  {"title": "Joss Alder", "text": "Joss Alder was a surveyor of Port Hale.", "idx": 1}\n]\n'
        ),
        "reefs.json": (
            '[\n  {"id": "q1", "question": "Who mapped Kettle Reef?", "answer": ["Joss Alder"],\n'
            '   "paragraphs": [{"title": "Kettle Reef", "text": "Joss Alder mapped it. It lies north.", '
            '"is_supporting": true, "idx": 0}]}\n]\n'
        ),
    },
)
