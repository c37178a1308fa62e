"""Rules of the rows of RAGChecker's inputs and outputs: questions, answers and passages."""

from __future__ import annotations

from functools import partial

from ragdatakit.schemas.declarations import Rule

_CONTAINER = "ragchecker/container.py"

_rule = partial(
    Rule,
    since="0.2.0",
    good='{"results": [{"query_id": "q1", "query": "Who mapped the reef?", "gt_answer": "Joss Alder.",\n'
    '  "response": "Joss Alder.", "retrieved_context": [{"doc_id": "d2", "text": "Joss Alder mapped it."}]}]}',
)

ROW_RULES: tuple[Rule, ...] = (
    _rule(
        "RC001 results-not-list error",
        summary="The file is not one JSON object with a list of results: a list, JSON Lines, or results that are null.",
        message="an object with a list called results is expected",
        upstream="the tool stops (AttributeError for a list, TypeError for null, JSONDecodeError for JSON Lines)",
        hint='write {"results": [...]} with one object for each answered question',
        bad='[{"query_id": "q1", "query": "Who mapped the reef?", "gt_answer": "Joss Alder.",\n'
        '  "response": "Joss Alder.", "retrieved_context": []}]',
        source=f"{_CONTAINER}: RAGResults.from_json",
    ),
    _rule(
        "RC002 missing-field error",
        summary="A row lacks query_id, query, gt_answer or response.",
        message="{field} is {fault}",
        upstream="the tool stops with KeyError",
        hint="add the field; a system that did not answer has an empty response",
        bad='{"results": [{"query_id": "q1", "query": "Who mapped the reef?", "response": "Joss Alder.",\n'
        '  "retrieved_context": [{"doc_id": "d2", "text": "Joss Alder mapped it."}]}]}',
        source=f"{_CONTAINER}: RAGResult",
    ),
    _rule(
        "RC003 query-id-not-text warning",
        summary="A query_id is null, or not a text.",
        message="query_id is {value}; a text is expected",
        upstream="it is kept as it is; LlamaIndex's helper writes null, and no row can be joined by that",
        hint="give each row an id of its own, as text",
        bad='"query_id": null',
        good='"query_id": "q1"',
        source="ragchecker/integrations/llama_index.py: response_to_rag_results",
    ),
    _rule(
        "RC004 repeated-query-id warning",
        summary="Two rows of a file have one query_id.",
        message="duplicate query_id {value}",
        upstream="the tool does not look at ids; whoever joins its results with the questions takes one for the other",
        hint="give them different ids",
        bad='{"results": [{"query_id": "q1", "query": "Who?", "gt_answer": "A.", "response": "B.", '
        '"retrieved_context": []},\n  {"query_id": "q1", "query": "When?", "gt_answer": "C.", "response": "D.", '
        '"retrieved_context": []}]}',
        good='{"results": [{"query_id": "q1", "query": "Who?", "gt_answer": "A.", "response": "B.", '
        '"retrieved_context": []},\n  {"query_id": "q2", "query": "When?", "gt_answer": "C.", "response": "D.", '
        '"retrieved_context": []}]}',
        source=f"{_CONTAINER}: RAGResult (ids are not compared)",
    ),
    _rule(
        "RC005 unusable-passages error",
        summary="retrieved_context is not a list of objects.",
        message="{value} is where passages with doc_id and text are expected",
        upstream="the tool stops when it reads the file (AttributeError; TypeError for a number), or reads no passages",
        hint='write each passage as {"doc_id": "...", "text": "..."}',
        bad='"retrieved_context": ["Joss Alder mapped it in 1931."]',
        good='"retrieved_context": [{"doc_id": "d2", "text": "Joss Alder mapped it in 1931."}]',
        source=f"{_CONTAINER}: RetrievedDoc",
    ),
    _rule(
        "RC006 no-passages warning",
        summary="The list retrieved_context is empty.",
        message="no passages were retrieved",
        upstream="all metrics of passages are 0 for this row, which lowers the means",
        hint="leave the row out if retrieval was not tried; else it is right",
        bad='"retrieved_context": []',
        good='"retrieved_context": [{"doc_id": "d2", "text": "Joss Alder mapped it in 1931."}]',
        source="ragchecker/computation.py: evaluate_retrieval",
    ),
    _rule(
        "RC009 empty-answer warning",
        summary="A gt_answer or a response is empty.",
        message="{field} is empty",
        upstream="there are no claims in it: the metrics that divide by their number are 0 for this row",
        hint="leave questions without an answer out; keep empty responses, which are failures",
        bad='"response": ""',
        good='"response": "Joss Alder did."',
        source="ragchecker/computation.py: evaluate_precision and evaluate_recall",
    ),
    _rule(
        "RC013 no-results error",
        summary="results is empty or missing; input_data, which the baselines write, is not read.",
        message="there are no results to read",
        upstream="all metrics are NaN, and nothing is said about it",
        hint="put the rows into the list results; what the baselines write has them in input_data",
        bad='{"input_data": [{"query_id": "q1", "query": "Who mapped the reef?", "gt_answer": "Joss Alder.",\n'
        '  "response": "Joss Alder.", "retrieved_context": [{"doc_id": "d2", "text": "Joss Alder mapped it."}]}]}',
        source=f"{_CONTAINER}: RAGResults; rag_baselines/generation.py: main",
    ),
    _rule(
        "RC014 file-not-json error",
        summary="The file is not one JSON document.",
        message="not JSON: {reason}",
        upstream="the tool stops with JSONDecodeError",
        hint="write the whole object at once with json.dump",
        bad='{"results": [{"query_id": "q1",]}',
        source=f"{_CONTAINER}: RAGResults.from_json",
    ),
    _rule(
        "RC015 passages-not-given error",
        summary="A row that is still to be checked has no retrieved_context, or null in it.",
        message="{found}",
        upstream="checking stops: TypeError without passages, AttributeError where one is null",
        hint="add retrieved_context, the passages in the order in which they were retrieved",
        bad='{"results": [{"query_id": "q1", "query": "Who mapped the reef?", "gt_answer": "Joss Alder.",\n'
        '  "response": "Joss Alder."}]}',
        source="ragchecker/evaluator.py: RAGChecker.check_claims",
    ),
    _rule(
        "RC016 passages-left-out warning",
        summary="A row that has all its labels lacks its passages.",
        message="{found}",
        upstream="the metrics are computed from the labels; nothing says which passages they are about",
        hint="keep retrieved_context with the labels",
        bad='"retrieved_context": null',
        good='"retrieved_context": [{"doc_id": "d2", "text": "Joss Alder mapped it in 1931."}]',
        source="ragchecker/computation.py (passages are not read)",
    ),
    _rule(
        "RC017 empty-passage warning",
        summary="The text of a passage is empty.",
        message="the text of the passage is empty",
        upstream="it entails nothing: it counts as an irrelevant passage",
        hint="leave the passage out, or give it its text",
        bad='"retrieved_context": [{"doc_id": "d2", "text": ""}]',
        good='"retrieved_context": [{"doc_id": "d2", "text": "Joss Alder mapped it in 1931."}]',
        source=f"{_CONTAINER}: RetrievedDoc",
    ),
    _rule(
        "RC018 passage-without-id warning",
        summary="A passage has no doc_id, or null.",
        message="the passage has no doc_id",
        upstream="it is read; nobody can tell which document it is",
        hint='add doc_id; the place in the list does, as "000", "001"',
        bad='"retrieved_context": [{"text": "Joss Alder mapped it in 1931."}]',
        good='"retrieved_context": [{"doc_id": "000", "text": "Joss Alder mapped it in 1931."}]',
        source=f"{_CONTAINER}: RetrievedDoc",
    ),
    _rule(
        "RC019 passage-without-text error",
        summary="A passage that is still to be checked has no text, or one that is not a text.",
        message="the passage has {found}",
        upstream="a missing text is silently read as an empty one, anything else is given to the checker as it is",
        hint="call the text of the passage text, not content or page_content",
        bad='{"results": [{"query_id": "q1", "query": "Who mapped the reef?", "gt_answer": "Joss Alder.",\n'
        '  "response": "Joss Alder.", "retrieved_context": [{"doc_id": "d2", "content": "Joss Alder mapped it."}]}]}',
        source=f"{_CONTAINER}: RetrievedDoc",
    ),
    _rule(
        "RC021 row-not-object error",
        summary="A row of results is not an object.",
        message="{value} is not an object",
        upstream="the tool stops with AttributeError",
        hint="write each row as an object with query_id, query, gt_answer, response and retrieved_context",
        bad='{"results": ["Joss Alder did."]}',
        source=f"{_CONTAINER}: RAGResults.from_json",
    ),
    _rule(
        "RC022 text-not-string warning",
        summary="query, gt_answer or response is not a text.",
        message="{field} is {value}; a text is expected",
        upstream="it is kept as it is, and fails or misleads when a model is asked about it",
        hint="write a text; of several right answers the best one",
        bad='"gt_answer": ["Joss Alder mapped it in 1931."]',
        good='"gt_answer": "Joss Alder mapped it in 1931."',
        source=f"{_CONTAINER}: RAGResult (dataclasses_json does not check types)",
    ),
    _rule(
        "RC101 passage-not-in-corpus warning",
        summary="A passage has a doc_id that the corpus next to it does not have.",
        message="no document {value} in the corpus",
        upstream="the tool does not look at the corpus; nobody can look the passage up",
        hint="put the corpus next to the results that they were retrieved from, or correct the doc_id",
        bad='"retrieved_context": [{"doc_id": "d9", "text": "..."}], next to a corpus.jsonl without d9',
        good='"retrieved_context": [{"doc_id": "d2", "text": "..."}], next to a corpus.jsonl with d2',
        source="rag_baselines/opensearch_client.py: query",
    ),
    _rule(
        "RC102 query-not-in-queries warning",
        summary="A row has a query_id that the queries next to it do not have.",
        message="no query {value} among the queries",
        upstream="the tool does not look at them; the row cannot be joined with its question",
        hint="put the queries next to the results that were asked, or correct the query_id",
        bad='"query_id": "q9", next to queries without q9',
        good='"query_id": "q1", next to queries with q1',
        source="rag_baselines/generation.py: main",
    ),
    _rule(
        "RC103 doc-id-of-two-texts warning",
        summary="Two passages of a row have one doc_id and different texts, and no chunk_id that tells which is which.",
        message="passages {first} and {second} have one doc_id, {value}, and different texts",
        upstream="the tool does not look at ids; whoever joins by them takes one passage for the other",
        hint="give each passage an id of its own, or add chunk_id",
        bad='"retrieved_context": [{"doc_id": "d2", "text": "Joss Alder mapped it."},\n'
        ' {"doc_id": "d2", "text": "It is wide."}]',
        good='"retrieved_context": [{"doc_id": "d2", "text": "Joss Alder mapped it."},\n'
        ' {"doc_id": "d3", "text": "It is wide."}]',
        source=f"{_CONTAINER}: RetrievedDoc (ids are not compared)",
    ),
    _rule(
        "RC104 passage-unlike-chunk warning",
        summary="The text of a passage is not that of any chunk of its document.",
        message="document {value} has no chunk with this text",
        upstream="the tool does not look at the chunks; the labels are about a text that the corpus does not have",
        hint="retrieve again, or put the chunks next to the results that they were retrieved from",
        bad='"retrieved_context": [{"doc_id": "d2", "text": "Joss Alder mapped it twice."}], next to a chunks.jsonl '
        "without this text",
        good='"retrieved_context": [{"doc_id": "d2", "text": "Joss Alder mapped it."}], next to a chunks.jsonl with it',
        source="rag_baselines/opensearch_client.py: query",
    ),
    _rule(
        "RC105 query-unlike-queries warning",
        summary="A row has another query than the queries have under this query_id.",
        message="the queries have another text for {value}",
        upstream="the tool does not look at them; the row is about another question",
        hint="correct the query_id or the text",
        bad='"query_id": "q1", "query": "Who mapped the bay?", next to queries where q1 is "Who mapped the reef?"',
        good='"query_id": "q1", "query": "Who mapped the reef?", next to queries with the same text',
        source="rag_baselines/generation.py: main",
    ),
)
