"""Rules of what RAGChecker's baselines read: queries, corpora and chunks."""

from __future__ import annotations

from functools import partial

from ragdatakit.schemas.declarations import Rule

_rule = partial(Rule, since="0.2.0")

CORPUS_RULES: tuple[Rule, ...] = (
    _rule(
        "RC201 queries-not-json error",
        summary="A file of queries is not one JSON document.",
        message="not JSON: {reason}",
        upstream="retrieval stops with JSONDecodeError",
        hint="write the whole object at once with json.dump",
        bad='{"input_data": [{"query_id": "q1",]}',
        good='{"input_data": [{"query_id": "q1", "query": "Who mapped the reef?", "gt_answer": "Joss Alder."}]}',
        source="rag_baselines/retrieval.py: main",
    ),
    _rule(
        "RC202 no-queries error",
        summary="input_data of a file of queries is empty, or not a list.",
        message="there are no queries",
        upstream="nothing is retrieved (TypeError for null)",
        hint="look at the step that wrote the file",
        bad='{"input_data": []}',
        good='{"input_data": [{"query_id": "q1", "query": "Who mapped the reef?", "gt_answer": "Joss Alder."}]}',
        source="rag_baselines/retrieval.py: main",
    ),
    _rule(
        "RC203 unusable-query error",
        summary="A query is not an object with query_id, query and gt_answer.",
        message="{field} is {fault}",
        upstream="retrieval stops with KeyError or TypeError without query; the tool stops later without the others",
        hint="write query_id, query and gt_answer, as texts",
        bad='{"input_data": [{"query_id": "q1", "query": "Who mapped the reef?", "gt_answer": null}]}',
        good='{"input_data": [{"query_id": "q1", "query": "Who mapped the reef?", "gt_answer": "Joss Alder."}]}',
        source="rag_baselines/retrieval.py: main; ragchecker/container.py: RAGResult",
    ),
    _rule(
        "RC204 repeated-query error",
        summary="Two queries of a file have one query_id.",
        message="duplicate query_id {value}",
        upstream="both are asked; whoever joins the results with the queries takes one for the other",
        hint="give them different ids",
        bad='{"input_data": [{"query_id": "q1", "query": "Who?", "gt_answer": "A."},\n'
        '  {"query_id": "q1", "query": "When?", "gt_answer": "B."}]}',
        good='{"input_data": [{"query_id": "q1", "query": "Who?", "gt_answer": "A."},\n'
        '  {"query_id": "q2", "query": "When?", "gt_answer": "B."}]}',
        source="rag_baselines/retrieval.py: main (ids are not compared)",
    ),
    _rule(
        "RC205 corpus-line-not-json error",
        summary="A line of corpus.jsonl or chunks.jsonl is not a JSON object.",
        message="{value} is not a JSON object",
        upstream="cutting or indexing the corpus stops (JSONDecodeError or TypeError)",
        hint="write one JSON object on each line",
        bad='["d2", "Kettle Reef", "Joss Alder mapped it."]',
        good='{"doc_id": "d2", "title": "Kettle Reef", "text": "Joss Alder mapped it."}',
        source="rag_baselines/chunking.py: process_line",
    ),
    _rule(
        "RC206 unusable-document error",
        summary="A document or chunk lacks doc_id, title or text, or its text is not one; a chunk may lack chunk_id.",
        message="{field} is {fault}",
        upstream="cutting or indexing the corpus stops with KeyError, TypeError or AttributeError",
        hint="write doc_id, title (which may be empty) and text; for a chunk chunk_id, too",
        bad='{"doc_id": "d2", "text": "Joss Alder mapped it."}',
        good='{"doc_id": "d2", "title": "", "text": "Joss Alder mapped it."}',
        source="rag_baselines/chunking.py: process_line; rag_baselines/opensearch_client.py",
    ),
    _rule(
        "RC207 repeated-document error",
        summary="Two documents of a corpus have one doc_id.",
        message="duplicate doc_id {value}",
        upstream="chunks are indexed by doc_id and chunk_id: those of the last document replace those of the first",
        keeps_last=True,
        hint="give them different ids",
        bad='{"doc_id": "d2", "title": "", "text": "Joss Alder mapped it."}\n'
        '{"doc_id": "d2", "title": "", "text": "It is wide."}',
        good='{"doc_id": "d2", "title": "", "text": "Joss Alder mapped it."}\n'
        '{"doc_id": "d3", "title": "", "text": "It is wide."}',
        source="rag_baselines/opensearch_client.py: the id of a chunk",
    ),
    _rule(
        "RC208 repeated-chunk error",
        summary="Two chunks have one doc_id and one chunk_id.",
        message="duplicate chunk {value}",
        upstream="the last one replaces the first in the index",
        hint="number the chunks of a document",
        bad='{"doc_id": "d2", "title": "", "chunk_id": 0, "text": "Joss Alder mapped it."}\n'
        '{"doc_id": "d2", "title": "", "chunk_id": 0, "text": "It is wide."}',
        good='{"doc_id": "d2", "title": "", "chunk_id": 0, "text": "Joss Alder mapped it."}\n'
        '{"doc_id": "d2", "title": "", "chunk_id": 1, "text": "It is wide."}',
        source="rag_baselines/opensearch_client.py: the id of a chunk",
    ),
)
