"""Rules of the files next to SAGE records: documents and their mapping, benchmark files, profiling dumps (SG7…)."""

from __future__ import annotations

from functools import partial

from ragdatakit.schemas.declarations import Rule

_SHIFT = (
    "the retriever skips the line with a warning and all later documents move one place against their vectors, so that "
    "hits return the wrong text; the index builder raises"
)

_rule = partial(Rule, source="sage_rag/operators/retriever.py: Wiki18FAISSRetriever")

FILE_RULES: tuple[Rule, ...] = (
    _rule(
        "SG701 document-not-json error",
        summary="A line of the documents that is not JSON.",
        message="not JSON: {reason}; one document, a JSON object, is expected",
        upstream=_SHIFT,
        hint="repair the line, and build the index from the repaired file",
        bad='{"contents": "Neap tides follow the quarters."',
        good='{"contents": "Neap tides follow the quarters."}',
        source="sage_rag/operators/retriever.py: Wiki18FAISSRetriever and build_index_from_wiki18",
    ),
    _rule(
        "SG702 documents-as-array error",
        summary="The documents are one JSON array, as the index builder saves them, and not lines.",
        message="the file is one JSON array; one document per line is expected",
        upstream="read line by line, an array with line breaks gives no document at all, and one on a single line "
        "makes every query return []",
        hint="name the JSONL file that the index was built from as documents_path",
        fix="safe: put each document on a line",
        reveals=("SG70", "SG71", "RD115", "RD2"),
        bad='[\n  {"contents": "Neap tides follow the quarters."}\n]',
        good='{"contents": "Neap tides follow the quarters."}',
        source="sage_rag/operators/retriever.py: Wiki18FAISSRetriever and build_index_from_wiki18",
    ),
    _rule(
        "SG703 document-not-object error",
        summary="A line of the documents that is a string, a number or an array.",
        message="the document is {value}; an object with contents is expected",
        upstream="a query that hits it returns [] in place of all its hits",
        hint='write {"contents": …}',
        bad='"Neap tides follow the quarters."',
        good='{"contents": "Neap tides follow the quarters."}',
    ),
    _rule(
        "SG704 document-without-contents error",
        summary="A document without contents, whether or not it has text.",
        message="contents is {fault}; a string is expected",
        upstream="the Python text of the whole object is returned as the passage",
        hint="write the passage under contents; text is read by the index builder only",
        bad='{"id": "c8", "text": "Neap tides follow the quarters."}',
        good='{"id": "c8", "contents": "Neap tides follow the quarters."}',
    ),
    _rule(
        "SG705 contents-not-text error",
        summary="contents is null or no string.",
        message="contents is {value}; a string is expected",
        upstream="it is passed on as it is, and becomes the text of a result",
        hint="write the passage as a string",
        bad='{"id": "c8", "contents": null}',
        good='{"id": "c8", "contents": "Neap tides follow the quarters."}',
    ),
    _rule(
        "SG706 mapping-out-of-range error",
        summary="An entry of the mapping that is negative or leads beyond the last document.",
        message="{value} is not a document number, expected 0 to {last}",
        upstream="the hit is dropped with a warning",
        hint="make the mapping from these documents: for each passage the position of its document, from 0",
        bad="[0, 7]",
        good="[0, 1]",
    ),
    _rule(
        "SG707 mapping-not-integers error",
        summary="An entry of the mapping that is not an integer, or a mapping that is not an array.",
        message="{value} is not a document number; the mapping is an array of integers",
        upstream="every query that comes upon it returns [], and of an object every query at all",
        hint="write an array: for each passage the position of its document, from 0",
        bad='{"0": 0}',
        good="[0, 1]",
    ),
    _rule(
        "SG708 mapping-not-json error",
        summary="The mapping is not JSON.",
        message="not JSON: {reason}; an array of integers is expected",
        upstream="it is ignored with a warning, and passage numbers are taken for document numbers: hits return the "
        "wrong text",
        hint="write the mapping with json.dump",
        bad="0 1 1 2",
        good="[0, 1, 1, 2]",
    ),
    _rule(
        "SG709 differing-contents-and-text warning",
        summary="A document has contents and text, and they differ.",
        message="text is {value} and contents is {other}; the same is expected",
        upstream="the vector is made from text, the passage returned is contents",
        hint="keep contents alone",
        bad='{"contents": "Neap tides follow the quarters.", "text": "Spring tides"}',
        good='{"contents": "Neap tides follow the quarters."}',
        source="sage_rag/operators/retriever.py: Wiki18FAISSRetriever and build_index_from_wiki18",
    ),
    _rule(
        "SG710 duplicate-document-id warning",
        summary="Two documents have the same id.",
        message="duplicate document id {value}",
        upstream="not checked; results of the two cannot be distinguished",
        hint="give every document an id of its own",
        bad='{"id": "c8", "contents": "Neap tides"}\n{"id": "c8", "contents": "Spring tides"}',
        good='{"id": "c8", "contents": "Neap tides"}\n{"id": "c9", "contents": "Spring tides"}',
    ),
    _rule(
        "SG711 empty-contents warning",
        summary="A document whose contents is empty or blank.",
        message="contents is {value}; a text with words in it is expected",
        upstream="not checked; a query that hits it gets an empty passage",
        hint="leave the document out, and build the index again",
        bad='{"id": "c8", "contents": ""}',
        good='{"id": "c8", "contents": "Neap tides follow the quarters."}',
    ),
    _rule(
        "SG712 unknown-document warning",
        summary="A result names a document that is not among the documents next to the records.",
        message="{field} is {value}; {expected}",
        upstream="not checked; the result comes from other documents, or an older state of these",
        hint="put the documents next to the records that were retrieved from them",
        fix="unsafe: remove the result",
        bad='documents.jsonl: {"id": "c7", "contents": "a"}\n'
        'records.jsonl: {"query": "q", "retrieval_results": [{"text": "a", "metadata": {"id": '
        '"c9"}}], "retrieval_docs": ["a"]}',
        good='documents.jsonl: {"id": "c7", "contents": "a"}\n'
        'records.jsonl: {"query": "q", "retrieval_results": [{"text": "a", "metadata": {"id": '
        '"c7"}}], "retrieval_docs": ["a"]}',
    ),
    _rule(
        "SG713 result-unlike-document warning",
        summary="A result's text or title is not that of the document it names.",
        message="{field} is {value}, and document {document} has {other}; the same is expected",
        upstream="not checked; the documents changed after the retrieval, or the vectors are out of step with them",
        hint="see whether a line of the documents was lost when the index was built",
        bad='documents.jsonl: {"id": "c7", "contents": "a"}\n'
        'records.jsonl: {"query": "q", "retrieval_results": [{"text": "b", "metadata": {"id": '
        '"c7"}}], "retrieval_docs": ["b"]}',
        good='documents.jsonl: {"id": "c7", "contents": "a"}\n'
        'records.jsonl: {"query": "q", "retrieval_results": [{"text": "a", "metadata": {"id": '
        '"c7"}}], "retrieval_docs": ["a"]}',
    ),
    _rule(
        "SG721 result-without-prediction error",
        summary="A benchmark result with neither prediction nor model_output.",
        message="{field} has neither prediction nor model_output",
        upstream="the evaluation raises KeyError",
        hint="write the answer under prediction (model_output where the pipeline's evaluation reads that)",
        bad='{"metadata": {"pipeline_name": "naive", "total_samples": 1}, "results": [{"id": "t1"}]}',
        good='{"metadata": {"pipeline_name": "naive", "total_samples": 1}, '
        '"results": [{"id": "t1", "prediction": "Paris"}]}',
        source="sage-rag-benchmark: evaluation/evaluate_results.py",
    ),
    _rule(
        "SG722 wrong-total-samples warning",
        summary="metadata.total_samples is not the number of results.",
        message="total_samples is {value}, and the number of results is {results}",
        upstream="the evaluation counts what is there; the run was cut off, or samples were lost",
        hint="finish the run, or correct the number",
        bad='{"metadata": {"pipeline_name": "naive", "total_samples": 2}, "results": [{"id": "t1", '
        '"prediction": "Paris"}]}',
        good='{"metadata": {"pipeline_name": "naive", "total_samples": 1}, "results": [{"id": "t1", '
        '"prediction": "Paris"}]}',
        source="sage-rag-benchmark: evaluation/evaluate_results.py",
    ),
    _rule(
        "SG723 duplicate-result-id warning",
        summary="Two benchmark results have the same id.",
        message="{field} is {value}, which {first} has, too",
        upstream="both are counted",
        hint="keep one of them",
        bad='{"metadata": {"pipeline_name": "naive"}, "results": [{"id": "t1", "prediction": "A"}, '
        '{"id": "t1", "prediction": "B"}]}',
        good='{"metadata": {"pipeline_name": "naive"}, "results": [{"id": "t1", "prediction": "A"}, '
        '{"id": "t2", "prediction": "B"}]}',
        source="sage-rag-benchmark: evaluation/evaluate_results.py",
    ),
    _rule(
        "SG724 failed-result warning",
        summary="A benchmark result with an error.",
        message="{field} is {value}",
        upstream="the sample is counted as it is, as a wrong answer",
        hint="run the sample again",
        bad='{"metadata": {"pipeline_name": "naive"}, "results": [{"id": "t1", "prediction": "", "error": "timeout"}]}',
        good='{"metadata": {"pipeline_name": "naive"}, "results": [{"id": "t1", "prediction": "Paris"}]}',
        source="sage-rag-benchmark: evaluation/evaluate_results.py",
    ),
    _rule(
        "SG725 benchmark-file-not-json error",
        summary="A benchmark file, or a part of it, is not JSON, or not of the form that its readers expect.",
        message="not JSON: {reason}",
        upstream="results are read as one document, which fails; of questions, batch readers skip the line",
        hint="write the file again with the JSON module",
        bad='{"metadata": {"pipeline_name": "naive"}, "results": [',
        good='{"metadata": {"pipeline_name": "naive"}, "results": []}',
        source="sage-rag-benchmark: evaluation/evaluate_results.py",
    ),
    _rule(
        "SG726 benchmark-part-misshapen error",
        summary="A benchmark file holds something else where an object, or an array of results, is expected.",
        message="{value} has no place here in a benchmark file",
        upstream="the evaluation, and whoever reads the questions, raises TypeError or AttributeError",
        hint='a question is {"id", "question", "answers", "ctxs"}; a file of results is {"metadata", "results": […]}',
        bad='{"metadata": {"pipeline_name": "naive"}, "results": {}}',
        good='{"metadata": {"pipeline_name": "naive"}, "results": []}',
        source="sage-rag-benchmark: evaluation/evaluate_results.py",
    ),
    _rule(
        "SG731 profiling-dump info per-file",
        summary="A dump of an operator's own log (enable_profile), not records.",
        message="{what}: log entries of the {operator}; {migration}",
        upstream="no operator reads it back",
        hint="make records of it: entries of the dumps of one run are joined by query",
        bad='[{"timestamp": 1761523200.5, "query": "q", "prompt": "p", "response": "Paris", "model_name": "small"}]',
        good='[{"query": "q", "prompt": "p", "generated": "Paris"}]',
        source="sage_rag/operators/ (enable_profile)",
    ),
    _rule(
        "SG732 dump-not-json error",
        summary="A profiling dump that is not JSON.",
        message="not JSON: {reason}; an array of log entries is expected",
        upstream="the dump cannot be made into records",
        hint="the run may have ended while it was written; cut the file after its last whole entry",
        bad='[{"timestamp": 1761523200.5, "query": "q", "prompt": "p", "response": "Paris", '
        '"model_name": "small"},\n'
        " {'timestamp': 1}]",
        good='[{"timestamp": 1761523200.5, "query": "q", "prompt": "p", "response": "Paris", "model_name": "small"}]',
        source="sage_rag/operators/ (enable_profile)",
    ),
    _rule(
        "SG733 dump-entry-not-object error",
        summary="An entry of a profiling dump that is not an object.",
        message="the entry is {value}, expected an object",
        upstream="the entry cannot be made into a record",
        hint="remove the entry, or restore the file",
        bad='[{"timestamp": 1761523200.5, "query": "q", "prompt": "p", "response": "Paris", "model_name": "s"},\n 42]',
        good='[{"timestamp": 1761523200.5, "query": "q", "prompt": "p", "response": "Paris", "model_name": "small"}]',
        source="sage_rag/operators/ (enable_profile)",
    ),
)
