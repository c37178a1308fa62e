"""Rules of contextual-retrieval questions: golden chunks, the documents they are looked up in, and the corpus."""

from __future__ import annotations

from functools import partial

from ragdatakit.schemas.declarations import Rule

_GOLDEN = (
    '{"query": "Who mapped it?", "answer": "Joss", "golden_doc_uuids": ["u1"], "golden_chunk_uuids": [["u1", 1]], '
    '"golden_documents": [{"uuid": "u1", "content": "Mara built it. Joss mapped it.", '
    '"chunks": [{"doc_uuid": "u1", "index": 1, "content": "Joss mapped it."}]}]}'
)
_CORPUS = '"original_uuid": "u1", "chunks": [{"original_index": 1, "content": "Joss mapped it."}]'
_EVALUATES = "guide.ipynb: evaluate_retrieval"


def _with(old: str, new: str) -> str:
    assert old in _GOLDEN
    return _GOLDEN.replace(old, new)


_rule = partial(Rule, since="0.2.0", good=_GOLDEN, source=_EVALUATES)

QUESTION_RULES: tuple[Rule, ...] = (
    _rule(
        "CR016 question-not-json error",
        summary="A line of the questions is not JSON.",
        message="not JSON: {reason}",
        upstream="load_jsonl stops with JSONDecodeError",
        hint="write one JSON object per line",
        bad=_GOLDEN[:-1],
        source="guide.ipynb: load_jsonl",
    ),
    _rule(
        "CR035 blank-line error",
        summary="A line is blank.",
        message="a blank line",
        upstream="load_jsonl stops with JSONDecodeError",
        hint="remove the line",
        bad=_GOLDEN + "\n\n" + _GOLDEN.replace("Who", "Which of them"),
        good=_GOLDEN + "\n" + _GOLDEN.replace("Who", "Which of them"),
        source="guide.ipynb: load_jsonl",
    ),
    _rule(
        "CR017 question-not-object error",
        summary="A line of the questions is JSON, but no object.",
        message="{value} is not a question",
        upstream="the evaluation stops with TypeError",
        hint="write the question as an object, one on each line",
        bad='["Who mapped it?", "Joss"]',
    ),
    _rule(
        "CR018 no-questions error",
        summary="There is no question.",
        message="there are no questions",
        upstream="the evaluation stops with ZeroDivisionError",
        hint="look at the step that wrote the file",
        bad="(evaluation_set.jsonl is empty)",
    ),
    _rule(
        "CR020 unusable-question error",
        summary="A question lacks its query, its golden chunks or its golden documents, or one is of another type.",
        message="{field} is {fault}",
        upstream="the evaluation stops with KeyError or TypeError",
        hint="write query as a string, golden_chunk_uuids as a list of pairs, golden_documents as a list of objects",
        bad=_with('"query": "Who mapped it?", ', ""),
    ),
    _rule(
        "CR021 unusable-golden-document error",
        summary="A golden document or one of its chunks lacks a field that the evaluation reads, or it is of another "
        "type.",
        message="{field} is {fault}",
        upstream="the evaluation stops with KeyError, TypeError or AttributeError as soon as it looks there",
        hint="write uuid and chunks of each golden document, and index and content of each chunk",
        bad=_with('"index": 1, ', ""),
    ),
    _rule(
        "CR008 unusable-golden-chunk error",
        summary="A golden chunk is not named by a pair of a document's uuid and a chunk's index.",
        message="{value} is not a pair of a uuid and an index",
        upstream="the evaluation stops with TypeError or ValueError, or looks for a chunk that cannot be there and "
        "counts it as missed or not at all",
        hint='write ["uuid", 0], the index as an integer',
        bad=_with('[["u1", 1]]', '["u1", 1]'),
    ),
    _rule(
        "CR027 golden-index-not-integer warning",
        summary="The index of a golden chunk is true, false or a number such as 1.0.",
        message="{value} is taken for {expected}",
        upstream="Python takes true for 1 and 1.0 for 1: the chunk is found; other readers do not find it",
        hint="write the index as an integer",
        bad=_with('[["u1", 1]]', '[["u1", true]]'),
    ),
    _rule(
        "CR009 no-golden-chunk warning",
        summary="A question has no golden chunk.",
        message="there is no golden chunk",
        upstream="it is passed over and counts as missed: the mean falls",
        hint="name a golden chunk, or leave the question out",
        bad=_with('[["u1", 1]]', "[]"),
    ),
    _rule(
        "CR028 repeated-golden-chunk warning",
        summary="A question names a golden chunk twice.",
        message="{value} is named twice",
        upstream="it counts twice in this question's score",
        hint="keep one of them",
        bad=_with('[["u1", 1]]', '[["u1", 1], ["u1", 1]]'),
    ),
    _rule(
        "CR012 repeated-query warning",
        summary="Two questions have the same query.",
        message="an earlier question has the same query: {value}",
        upstream="both count in the mean, each with its own golden chunks",
        hint="keep one of them, with the golden chunks of both",
        bad=_GOLDEN + "\n" + _GOLDEN,
    ),
    _rule(
        "CR029 question-without-answer warning per-file",
        summary="A question has no answer, or one that is not a string.",
        message="there is no answer",
        upstream="the evaluation of retrieval does not read it; answers cannot be compared with it",
        hint="write the answer as a string",
        bad=_with('"answer": "Joss", ', ""),
        source="not read by the notebook",
    ),
    _rule(
        "CR101 golden-chunk-not-embedded error",
        summary="A golden chunk is not among the chunks of the question's own golden documents.",
        message="{value} is not among golden_documents",
        upstream="it is left out with a printed warning: where others are found the score is 1.0 without it, and "
        "Pass@k is too high; alone it counts as missed",
        hint="put the document with this chunk among golden_documents, or correct the pair",
        bad=_with('[["u1", 1]]', '[["u1", 1], ["u1", 7]]'),
    ),
    _rule(
        "CR107 duplicate-golden-document error",
        summary="Two golden documents of a question have the same uuid.",
        message="duplicate golden document {value}",
        upstream="the first is looked into, and the chunks of the other are not found",
        hint="put the chunks of both into one",
        bad=_with(
            '"golden_documents": [{"uuid": "u1"', '"golden_documents": [{"uuid": "u1", "chunks": []}, {"uuid": "u1"'
        ),
    ),
    _rule(
        "CR108 duplicate-golden-index warning",
        summary="Two chunks of a golden document have the same index.",
        message="duplicate index {value}",
        upstream="the first is taken for the golden chunk",
        hint="number the chunks of each document from 0",
        bad=_with(
            '"content": "Joss mapped it."}]',
            '"content": "Joss mapped it."}, {"index": 1, "content": "Mara built it."}]',
        ),
    ),
    _rule(
        "CR104 golden-documents-unlike warning",
        summary="golden_doc_uuids, the documents of golden_chunk_uuids and those of golden_documents are not the same.",
        message="{found}",
        upstream="golden_doc_uuids is not read; documents that are not needed are read over",
        hint="name each document of a golden chunk once in golden_doc_uuids and golden_documents",
        bad=_with('"golden_doc_uuids": ["u1"]', '"golden_doc_uuids": ["u2"]'),
        source="not read by the notebook",
    ),
    _rule(
        "CR106 golden-chunks-unlike warning",
        summary="golden_chunks are not the chunks of golden_chunk_uuids, in their order.",
        message="golden_chunks are not those of golden_chunk_uuids",
        upstream="the evaluation does not read golden_chunks; whoever does takes others for golden",
        hint="write golden_chunks anew, or leave them out",
        bad=_GOLDEN[:-1] + ', "golden_chunks": [{"doc_uuid": "u1", "index": 0, "content": "Mara built it. "}]}',
        source="not read by the evaluation",
    ),
    _rule(
        "CR102 golden-chunk-not-in-corpus error",
        summary="A golden chunk is not in the corpus.",
        message="there is no chunk {value} in the corpus",
        upstream="nothing that is retrieved can be it: the question counts as missed, in part or whole",
        hint="use the corpus that the questions were made for, or correct the pair",
        bad=_with("u1", "u9") + "\n(the corpus has u1 only)",
    ),
    _rule(
        "CR103 golden-chunk-unlike-corpus error",
        summary="The content of a golden chunk is not that of the corpus, except for blanks around it.",
        message="the content of {value} is not that of the corpus",
        upstream="contents are compared: the chunk is never found, and nothing says so",
        hint="copy the content from the corpus",
        bad=_with('"content": "Joss mapped it."', '"content": "Joss mapped it"') + f"\n(the corpus: {_CORPUS})",
    ),
    _rule(
        "CR105 golden-document-unlike-corpus warning",
        summary="The content of a golden document, or its number of chunks, is not that of the corpus.",
        message="{field} is not that of the corpus",
        upstream="the evaluation does not read it; the document was changed after the questions were written",
        hint="use the corpus that the questions were made for",
        bad=_with('"content": "Mara built it. Joss mapped it."', '"content": "Mara built it."'),
        source="not read by the evaluation",
    ),
)
