"""TREC collections, declared: judgements and runs, as trec_eval reads them; topics and documents, as TREC writes them.

Facts: `trec_eval` (get_qrels.c, get_trec_results.c, form_res_rels.c; read) and `pytrec-eval-terrier` 0.5 (run).
"""

from __future__ import annotations

from ragdatakit.schemas.declarations import (
    ELSEWHERE,
    Adopted,
    Columns,
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

_LINE_RULES = {"syntax": "wrong-columns", "blank": "blank-line"}


def _word(name: str, description: str, example: str) -> Field:
    return Field(f"{name}: string", description, examples=(example,))


JUDGEMENT = Record(
    name="Judgement",
    title="TREC judgement",
    description="How relevant one document is for one query.",
    fields=(
        _word("qid", "The query.", "q1"),
        _word("iteration", "Passed over; 0.", "0"),
        _word("docno", "The document.", "d1"),
        Field(
            "relevance: integer",
            "0 for not relevant, 1 and above for relevant; below 0: in the pool, but not judged.",
            examples=(1,),
            minimum=-(2**63),
            maximum=999_999,
            rules={"type": "relevance-not-integer", "range": "relevance-out-of-range"},
        ),
    ),
    pattern=r"\S+\s+Q?-?\d+\s+\S+\s+-?\d+",
    rules=_LINE_RULES,
    examples=({"qid": "q1", "iteration": "0", "docno": "d1", "relevance": 1},),
)
RESULT = Record(
    name="Result",
    title="TREC result",
    description="One document that a system found for one query.",
    fields=(
        _word("qid", "The query.", "q1"),
        _word("iteration", "Passed over; Q0.", "Q0"),
        _word("docno", "The document.", "d1"),
        Field("rank: integer", "The rank, from 1; evaluators do not read it.", examples=(1,)),
        Field(
            "score: number", "The score, which gives the order.", examples=(7.5,), rules={"type": "score-not-number"}
        ),
        _word("tag", "The name of the run.", "bm25"),
    ),
    pattern=r"\S+\s+\S+\s+\S+\s+-?\d+\s+[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s+\S+"
    r"|\S+\s+Q0\s+\S+\s+-?\d+\s+(?i:[-+]?(nan|inf|infinity))\s+\S+",  # faults that are reported, not other files
    extra="forbid",
    rules={**_LINE_RULES, "extra": "comment-line"},
    examples=({"qid": "q1", "iteration": "Q0", "docno": "d1", "rank": 1, "score": 7.5, "tag": "bm25"},),
)
TOPIC = Record(
    name="Topic",
    title="TREC topic",
    description="One information need.",
    fields=(
        Field(
            "num: string",
            "The number, by which judgements and runs name it; a label `Number:` is left out.",
            examples=("401",),
            rules={"missing": "missing-number"},
            elsewhere=("number", "topic_id", *ELSEWHERE["query id"]),
        ),
        Field("title?: string", "A few words; what is usually searched for.", examples=("mapping of reefs",)),
        Field("desc?: string", "One sentence.", examples=("How were reefs mapped?",)),
        Field("narr?: string", "What counts as relevant.", examples=("Relevant documents say who mapped a reef.",)),
    ),
    examples=({"num": "401", "title": "mapping of reefs"},),
)
TOPIC_LINE = Record(
    name="TopicLine",
    title="topic of one line",
    description="A query id and its text, with a tab between them.",
    fields=(_word("qid", "The query id.", "q1"), _word("text", "The query.", "mapping of reefs")),
    rules={"syntax": "wrong-columns", "blank": "blank-line"},
    examples=({"qid": "q1", "text": "mapping of reefs"},),
)
DOCUMENT = Record(
    name="Document",
    title="TREC document",
    description="One document.",
    fields=(
        Field(
            "docno: string",
            "The number, by which judgements and runs name it.",
            examples=("d1",),
            rules={"missing": "missing-number"},
            elsewhere=ELSEWHERE["document id"],
        ),
        Field("title?: string", "The title.", examples=("North reef",)),
        Field(
            "text?: string",
            "The text; where there is no such element, all that is neither number nor header.",
            examples=("The north reef was mapped in one summer.",),
        ),
    ),
    examples=({"docno": "d1", "title": "North reef", "text": "The north reef was mapped in one summer."},),
)

FILES = (
    File(
        "documents: tagged",
        title="documents",
        tags=("doc",),
        records=(DOCUMENT,),
        suffixes=(".trec", ".xml", ".sgml", ".txt", ".gz"),
        keys=("docno",),
        description="Documents between `<DOC>` and `</DOC>` (in any case), in SGML or XML.",
    ),
    File(
        "topics: tagged",
        title="topics",
        tags=("top", "topic"),
        records=(TOPIC,),
        suffixes=(".xml", ".trec", ".txt", ".gz"),
        keys=("num",),
        description="Topics between `<top>` and `</top>` (their elements need not be closed), or `<topic number=…>`.",
    ),
    File(
        "topic-lines: columns",
        title="topics, one a line",
        columns=Columns(separator="\t"),
        records=(TOPIC_LINE,),
        suffixes=(".tsv", ".tsv.gz"),
        description="Query id and text with a tab between them, as MS MARCO has them.",
    ),
    File(
        "qrels: columns",
        title="judgements",
        records=(JUDGEMENT,),
        suffixes=(".txt", ".qrels", ".tsv", ".gz"),
        description="Four columns with blanks or tabs between them: query, 0, document, relevance.",
    ),
    File(
        "run: columns",
        title="run",
        columns=Columns(comment="#"),
        records=(RESULT,),
        suffixes=(".txt", ".run", ".res", ".gz"),
        description="Six columns with blanks or tabs between them: query, Q0, document, rank, score, tag.",
    ),
)

_ENDINGS = (".txt", ".tsv", ".trec", ".xml", ".sgml", ".sgm", ".qrels", ".qrel", ".run", ".res", ".results")
_BARE = {"qrels*": "qrels", "run*": "run", "topics*": "topics"}
_USUAL = {".trec": "documents", ".xml": "topics", ".sgml": "documents", ".sgm": "documents", ".run": "run"}
_USUAL |= {".res": "run", ".results": "run"}
_TELLING = (
    ("qrels", (".txt", ".tsv"), "qrels"),
    ("run", (".txt",), "run"),
    ("topics", (".tsv",), "topic-lines"),
    ("queries", (".tsv",), "topic-lines"),
    ("topics", (".txt", ".xml"), "topics"),
    ("documents", (".trec", ".xml", ".sgml"), "documents"),
    ("docs", (".trec", ".xml", ".sgml"), "documents"),
)
"""A word of a name and its endings, which say together what a file is, whatever it holds."""


def _packed(names: dict[str, str]) -> dict[str, str]:
    return {**names, **{f"{name}.gz": kind for name, kind in names.items()}}


def _kinds_by_name() -> dict[str, str]:
    names = {
        pattern: kind
        for word, endings, kind in _TELLING
        for ending in endings
        for pattern in (f"{word}{ending}", f"{word}[._-]*{ending}", f"*[._-]{word}{ending}")
    }
    names |= {f"{word}.[0-9]*": word for word in ("qrels", "topics")}  # as qrels.301-350
    names |= {f"{word}*.tsv": "topic-lines" for word in ("topics", "queries")}
    names |= {"*.qrels": "qrels", "*.qrel": "qrels", "*.run": "run", "*.res": "run"}
    return _packed(names)


def _sniffed() -> dict[str, str]:
    """What to look into, and what it usually is; its content decides."""
    return {**_BARE, **_packed({f"*{ending}": _USUAL.get(ending, "qrels") for ending in _ENDINGS})}


TREC = Format(
    name="trec",
    title="TREC",
    letters="TR",
    description="Relevance judgements and runs as trec_eval reads them, with the topics and documents they are about.",
    homepage="https://github.com/usnistgov/trec_eval",
    files=FILES,
    rules=late_rules("ragdatakit.schemas.trec", "rules:RULES"),
    profiles=("trec_eval", "pytrec_eval"),
    profile_words={
        "trec_eval": "NIST's own program.",
        "pytrec_eval": "its Python binding, whose readers are stricter.",
    },
    layouts=(
        Layout(
            name="collection",
            description="one folder; what each file is, its name says (`qrels.test.txt`, `run.bm25.txt`, "
            "`topics.txt`, `documents.trec`), or else its content",
            files=_kinds_by_name(),
            sniffed=_sniffed(),
            signature=(),
        ),
    ),
    keys=(
        Key(kind="documents", fields=("docno",), rule="duplicate-docno"),
        Key(kind="topics", fields=("num",), rule="duplicate-topic"),
        Key(kind="topic-lines", fields=("qid",), rule="duplicate-topic"),
        Key(kind="qrels", fields=("@judged",), within_file=("qid", "docno"), rule="judged-twice"),
        Key(kind="run", fields=("@judged",), within_file=("qid", "docno"), rule="retrieved-twice"),
    ),
    references=(
        Reference(kind="qrels", field="docno", to_kind="documents", to_field="docno", rule="unknown-docno"),
        Reference(kind="run", field="docno", to_kind="documents", to_field="docno", rule="unknown-docno"),
    ),
    coverages=(Coverage(kind="qrels", field="qid", by=(("run", "qid"),), rule="query-without-results"),),
    adopts={
        "mixed-line-endings": Adopted(None, "lines are stripped of blanks"),
        "byte-order-mark": Adopted("error", "the mark becomes part of the first query id, which then matches nothing"),
        "mislabelled-compression": Adopted("error", "the tools go by the name, and read nothing but garbage"),
    },
    replaces=True,
    example={
        "documents.trec": "<DOC>\n<DOCNO>d1</DOCNO>\n<TITLE>\nPear trees\n</TITLE>\n"
        "<TEXT>\nPrune pear trees in late winter.\n</TEXT>\n</DOC>\n"
        "<DOC>\n<DOCNO>d2</DOCNO>\n"
        "<TEXT>\nThe tide tables give high and low water for each harbour.\n</TEXT>\n</DOC>\n",
        "topics.txt": "".join(
            f"<top>\n\n<num> Number: {number}\n<title> {title}\n\n"
            "<desc> Description:\n\n<narr> Narrative:\n\n</top>\n\n"
            for number, title in (("q1", "when to prune a pear tree"), ("q2", "tide times for small boats"))
        ),
        "qrels.txt": "q1 0 d1 1\nq2 0 d2 1\nq2 0 d1 0\n",
        "run.bm25.txt": "q1 Q0 d1 1 7.5 bm25\nq1 Q0 d2 2 0.5 bm25\nq2 Q0 d2 1 6.25 bm25\n",
    },
)
