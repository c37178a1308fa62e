"""BEIR folders, declared: a corpus, queries, and judgements by split.

Facts: package `beir` 2.2.0, `datasets/data_loader.py:GenericDataLoader`, read and run.
"""

from __future__ import annotations

from ragdatakit.schemas.declarations import (
    ELSEWHERE,
    Adopted,
    Columns,
    Consistency,
    Coverage,
    Field,
    File,
    Format,
    Key,
    Layout,
    Record,
    Reference,
    late_rules,
)

_LINE_RULES = {
    "syntax": "invalid-json",
    "blank": "blank-line",
    "not-object": "line-not-object",
    "no-records": "no-records",
    "unread-surrogate": "surrogate-not-read",
}


def _id(description: str, example: str) -> Field:
    rules = {"missing": "missing-id", "null": "missing-id", "type": "id-not-string"}
    others = (*ELSEWHERE["document id"], *ELSEWHERE["query id"])
    return Field("_id: string", description, examples=(example,), rules=rules, elsewhere=others)


def _text(description: str, example: str) -> Field:
    rules = {"missing": "text-not-string", "null": "text-not-string", "type": "text-not-string"}
    others = (*ELSEWHERE["text"], *ELSEWHERE["question"])
    return Field("text: string", description, examples=(example,), rules=rules, elsewhere=others)


_METADATA = Field("metadata?: object | null", "Whatever else is known; the loader passes over it.", examples=({},))

QUERY = Record(
    name="Query",
    title="BEIR query",
    description="One query of queries.jsonl.",
    fields=(_id("Query id, unique.", "q1"), _text("The query.", "who mapped the north reef"), _METADATA),
    rules=_LINE_RULES,
    examples=({"_id": "q1", "text": "who mapped the north reef", "metadata": {}},),
)
DOCUMENT = Record(
    name="Document",
    title="BEIR document",
    description="One document of corpus.jsonl.",
    fields=(
        _id("Document id, unique.", "d1"),
        Field(
            "title: string",
            "The title; empty where there is none.",
            examples=("North reef",),
            rules={"missing": "missing-title", "null": "missing-title", "type": "missing-title"},
        ),
        _text("The document.", "The north reef was mapped in one summer."),
        _METADATA,
    ),
    rules=_LINE_RULES,
    examples=(
        {"_id": "d1", "title": "North reef", "text": "The north reef was mapped in one summer.", "metadata": {}},
    ),
)
JUDGEMENT = Record(
    name="Judgement",
    title="BEIR judgement",
    description="How relevant one document is for one query: a line of qrels/<split>.tsv, below the header.",
    fields=(
        Field("query-id: string", "The query.", examples=("q1",)),
        Field("corpus-id: string", "The document.", examples=("d1",)),
        Field(
            "score: integer",
            "0 for judged and not relevant; the higher, the more relevant.",
            minimum=0,
            maximum=3,
            examples=(1,),
            rules={"type": "score-not-integer", "range": "unusual-score"},
        ),
    ),
    extra="forbid",
    rules={
        "syntax": "wrong-columns",
        "blank": "blank-line",
        "extra": "further-columns",
        "no-header": "no-header",
        "odd-header": "unusual-header",
        "no-records": "no-records",
    },
    examples=({"query-id": "q1", "corpus-id": "d1", "score": 1},),
)

FILES = (
    File(
        "queries: ndjson",
        title="queries",
        records=(QUERY,),
        suffixes=(".jsonl", ".parquet"),
        keys=("_id", "text"),
        without=("title",),
        description="Every query of all splits, one per line.",
    ),
    File(
        "corpus: ndjson",
        title="corpus",
        records=(DOCUMENT,),
        suffixes=(".jsonl", ".parquet"),
        keys=("_id", "title"),
        signs=(("_id", "text"),),
        description="Every document, one per line.",
    ),
    File(
        "qrels: columns",
        title="judgements",
        columns=Columns(separator="\t", quoted=True, header=True, further=True),
        records=(JUDGEMENT,),
        suffixes=(".tsv", ".parquet"),
        keys=("query-id", "corpus-id"),
        description="The judgements of one split, with tabs between the columns, below a header.",
    ),
)

# The loader opens no .gz file: they must be seen, not passed over.
_PLAIN = {
    "corpus.jsonl": "corpus",
    "corpus.jsonl.gz": "corpus",
    "queries.jsonl": "queries",
    "queries.jsonl.gz": "queries",
    "qrels/*.tsv": "qrels",
    "qrels/*.tsv.gz": "qrels",
}
_PARQUET = {
    "corpus.parquet": "corpus",
    "corpus/*.parquet": "corpus",
    "corpus/corpus/*.parquet": "corpus",
    "queries.parquet": "queries",
    "queries/*.parquet": "queries",
    "queries/queries/*.parquet": "queries",
    "qrels.parquet": "qrels",
    "qrels/*.parquet": "qrels",
    "qrels/*/*.parquet": "qrels",
    "*-qrels/*.parquet": "qrels",
    "*-qrels/*/*.parquet": "qrels",
    "default/*.parquet": "qrels",
    "default/*/*.parquet": "qrels",
    "data/*.parquet": "qrels",
}
"""The configurations of MTEB's and BEIR's repositories as they were uploaded, and as the hub's Parquet branch has them.
That of the judgements is called ``default``, and lies in ``data/``, where nothing else is said."""


def _of_kind(kind: str) -> tuple[str, ...]:
    return tuple(pattern for pattern, each in _PARQUET.items() if each == kind)


_PREFIXED = {f"*-{name}": kind for name, kind in _PLAIN.items() if kind != "corpus"}

BEIR = Format(
    name="beir",
    title="BEIR",
    letters="BE",
    description="Retrieval benchmarks as the BEIR project lays them out: a corpus, queries, and relevance judgements "
    "for each split.",
    homepage="https://github.com/beir-cellar/beir",
    files=FILES,
    rules=late_rules("ragdatakit.schemas.beir", "rules:RULES"),
    layouts=(
        Layout(
            name="prefixed",
            description="the same with `PREFIX-queries.jsonl` and `PREFIX-qrels/`, which are a set by themselves over "
            "the one corpus (the loader's `prefix`), next to those of other prefixes and of none",
            files={**_PLAIN, **_PREFIXED},
            splits={"queries.jsonl": "", "qrels/": "", "*-queries.jsonl": "*", "*-qrels/": "*"},
            signature=(tuple(_PREFIXED),),
            sniff=True,
        ),
        Layout(
            name="folder",
            description="`corpus.jsonl`, `queries.jsonl` and `qrels/` with a file for each split",
            files=_PLAIN,
            signature=(tuple(_PLAIN),),
            sniff=True,
        ),
        *(
            Layout(
                name="parquet",
                description="the same in Parquet, in shards or not: `corpus/`, `queries/` and `qrels/` (or `default/`, "
                "`data/`, `NAME-qrels/`), as MTEB's repositories on the hub have it",
                files=_PARQUET,
                signature=(_of_kind(one), _of_kind(other)),
                sniff="qrels" in (one, other),
            )
            for one, other in (("corpus", "queries"), ("corpus", "qrels"), ("queries", "qrels"))
        ),
        *(
            Layout(
                name="shards",
                description=f"the shards of the folder `{place}/` alone",
                files={"*.parquet": kind},
                signature=(("*.parquet",),),
                place=place,
                sniff=True,
            )
            for place, kind in (("corpus", "corpus"), ("queries", "queries"), ("qrels", "qrels"))
        ),
    ),
    keys=(
        Key(kind="queries", fields=("_id",), rule="duplicate-id"),
        Key(kind="corpus", fields=("_id",), rule="duplicate-id"),
        Key(kind="corpus", fields=("text",), rule="duplicate-text"),
        Key(
            kind="qrels", fields=("@judged", "score"), within_file=("query-id", "corpus-id"), rule="duplicate-judgement"
        ),
    ),
    references=(
        Reference(kind="qrels", field="query-id", to_kind="queries", to_field="_id", rule="dangling-query-id"),
        Reference(kind="qrels", field="corpus-id", to_kind="corpus", to_field="_id", rule="dangling-corpus-id"),
    ),
    coverages=(Coverage(kind="queries", field="_id", by=(("qrels", "@relevant"),), rule="query-without-judgement"),),
    consistencies=(
        Consistency(kind="qrels", names=(("@judged", "score"),), rule="conflicting-judgement"),
        Consistency(kind="qrels", names=(("query-id", "@split"),), rule="query-in-two-splits"),
    ),
    adopts={
        "repeated-file": Adopted("warning", "the loader opens the one that is not compressed"),
        "unreadable-file": Adopted("error", "the loader stops when it opens the file"),
        "byte-order-mark": Adopted("error", "the loader stops with JSONDecodeError: Unexpected UTF-8 BOM"),
        "duplicate-key": Adopted("error", "the last value silently wins"),
        "lone-surrogate": Adopted("error", "the loader accepts it; the tokenizer stops with UnicodeEncodeError"),
        "lone-carriage-return": Adopted("warning", "BEIR ends a line there; DuckDB, orjson and line tools do not"),
    },
    replaces=True,
    example={
        "corpus.jsonl": '{"_id": "d1", "title": "Pear trees", "text": "Prune pear trees in late winter."}\n'
        '{"_id": "d2", "title": "", "text": "The tide tables give high and low water for each harbour."}\n',
        "queries.jsonl": '{"_id": "q1", "text": "when to prune a pear tree"}\n'
        '{"_id": "q2", "text": "tide times for small boats"}\n',
        "qrels/train.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t1\n",
        "qrels/test.tsv": "query-id\tcorpus-id\tscore\nq2\td2\t1\nq2\td1\t0\n",
    },
)
