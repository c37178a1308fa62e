"""Rules of SAGE records with older keys, and of what today's operators make of a record (SG6…)."""

from __future__ import annotations

from ragdatakit.schemas.declarations import Rule

OPERATOR_RULES: tuple[Rule, ...] = (
    Rule(
        "SG601 older-key error",
        severities={"operators": "warning"},
        summary="A key of the time before the documented names.",
        message="{field} is an older name: {migration}",
        upstream={
            "unified": "no documented operator reads it (where it is pred or golds, every metric is 0)",
            "operators": "rerankers read results, nothing reads the others (where it is pred or golds, every metric "
            "is 0)",
        },
        hint="rename the key as the message says, or convert the file: `ragdata convert --to sage SRC DST`",
        fix="unsafe: rename the key, where nothing else of it changes",
        reveals=(
            "references-not-list",
            "null-references",
            "reference-not-text",
            "generated-not-text",
            "stage-not-list",
        ),
        bad='{"query": "q", "golds": ["Paris"], "pred": "Paris"}',
        good='{"query": "q", "references": ["Paris"], "generated": "Paris"}',
        source="DATA_FORMAT.md of SAGE 3e42ab7, migration table; sage_rag/operators/evaluate.py",
    ),
    Rule(
        "SG602 conflicting-older-key error",
        summary="An older key and the key that replaces it are both there, with different values.",
        message="{field} is {value} and {meant} is {other}; they must be equal",
        upstream="which of them counts depends on the reader; none says so",
        hint="decide which one is right and leave the older key out",
        bad='{"query": "q", "retrieved_docs": ["a"], "retrieval_docs": ["b"]}',
        good='{"query": "q", "retrieval_docs": ["b"]}',
        source="DATA_FORMAT.md of SAGE 3e42ab7, migration table",
    ),
    Rule(
        "SG603 redundant-older-key warning",
        summary="An older key and the key that replaces it are both there and equal.",
        message="{field} says again what {meant} says",
        upstream="it is read by older operators only; whoever changes one of the two makes them disagree",
        hint="leave the older key out",
        fix="unsafe: remove the older key",
        bad='{"query": "q", "golds": ["Paris"], "references": ["Paris"]}',
        good='{"query": "q", "references": ["Paris"]}',
        source="DATA_FORMAT.md of SAGE 3e42ab7, migration table",
    ),
    Rule(
        "SG604 conflicting-times error",
        summary="The documented name of a time and the one of today's operators are both there, with different values.",
        message="{field} is {value} and {meant} is {other}; they mean the same and must be equal",
        upstream="the documentation reads one and today's operators the other: the latencies differ",
        hint="decide which one is right and write it under one name",
        bad='{"query": "q", "refine_time": 0.4, "refining_time": 0.3}',
        good='{"query": "q", "refining_time": 0.3}',
        source="DATA_FORMAT.md of SAGE 3e42ab7; sage_rag/operators/evaluate.py: Latency",
    ),
    Rule(
        "SG605 empty-results-hide-retrieval error",
        summary="An empty results next to retrieval_results with texts, as the FlashRAG batch leaves behind.",
        message="results is empty while retrieval_results has {count}",
        upstream={"operators": "rerankers take the first list that they find, the empty one, and rank no document"},
        hint="leave the empty results out",
        bad='{"query": "q", "results": [], "retrieval_results": [{"text": "a"}]}',
        good='{"query": "q", "retrieval_results": [{"text": "a"}]}',
        source="sage_rag/types.py: extract_results",
    ),
    Rule(
        "SG606 docs-without-results error",
        summary="Texts are under the docs keys alone, which today's operators do not read.",
        message="{present} is there, and nothing that the operators read their texts from",
        upstream={
            "operators": "the promptor gets no context, the refiner gives [], TokenCount and CompressionRate are 0"
        },
        hint="write retrieval_results, with the texts as objects with text",
        bad='{"query": "q", "retrieval_docs": ["a"]}',
        good='{"query": "q", "retrieval_results": [{"text": "a"}]}',
        source="sage_rag/operators/promptor.py: QAPromptor; sage_rag/operators/refiner.py: RefinerOperator; "
        "sage_rag/operators/evaluate.py",
    ),
    Rule(
        "SG607 refined-equals-retrieved warning",
        summary="The refined texts are the retrieved ones, unchanged.",
        message="refining_results has the texts of retrieval_results ({count}) unchanged",
        upstream={
            "operators": "that is what the refiner writes when it only passes on, and what is left when its "
            "compressor raises: a failed refining counts as a compression of 1"
        },
        hint="look into the refiner's log for an exception",
        bad='{"query": "q", "retrieval_results": [{"text": "a"}], "refining_results": ["a"]}',
        good='{"query": "q", "retrieval_results": [{"text": "a long text"}], "refining_results": ["a text"]}',
        source="sage_rag/operators/refiner.py: RefinerOperator",
    ),
    Rule(
        "SG608 objects-before-reranker error",
        summary="A record with reranking, whose retrieval_results are objects.",
        message="retrieval_results holds objects such as {value}, and a reranker follows; strings are expected",
        upstream={"operators": "the reranker refuses objects: RuntimeError: BGEReranker error"},
        hint="give the reranker the texts alone",
        bad='{"query": "q", "retrieval_results": [{"text": "a"}], "reranking_results": [{"text": "a"}]}',
        good='{"query": "q", "retrieval_results": ["a"]}',
        source="sage_rag/operators/reranker.py: BGEReranker",
    ),
    Rule(
        "SG609 reranked-results-only error",
        summary="Texts are under results alone, as the rerankers leave them.",
        message="results has {count}, and there is nothing else that the next operators read",
        upstream={"operators": "the promptor finds no context and the refiner gives []: what was reranked is lost"},
        hint="move results to retrieval_results before the next operator",
        bad='{"query": "q", "results": ["a"]}',
        good='{"query": "q", "retrieval_results": ["a"]}',
        source="sage_rag/operators/reranker.py; sage_rag/operators/promptor.py: QAPromptor; "
        "sage_rag/operators/refiner.py: RefinerOperator",
    ),
    Rule(
        "SG610 prompt-for-generator error",
        summary="A record with prompt and no answer yet, which today's generator cannot take.",
        message="prompt is {value}, and the answer is still to be generated",
        upstream={
            "operators": "the generator takes a list of the record and its messages; a record raises KeyError: 0"
        },
        hint="let the promptor make the messages; keep the text under a key of your own",
        bad='{"query": "q", "retrieval_results": ["a"], "prompt": "Context: a. q"}',
        good='{"query": "q", "retrieval_results": ["a"]}',
        source="sage_rag/operators/generator.py: OpenAIGenerator",
    ),
    Rule(
        "SG611 unread-context warning",
        summary="An empty retrieval_results next to a context, as the LongBench batch gives.",
        message="retrieval_results is empty while context is {context}",
        upstream={"operators": "the promptor takes the empty list, because the key is there; the context is not used"},
        hint="leave the empty retrieval_results out",
        bad='{"query": "q", "retrieval_results": [], "context": "Spring tides follow the new moon."}',
        good='{"query": "q", "context": "Spring tides follow the new moon."}',
        source="sage_rag/operators/promptor.py: QAPromptor",
    ),
    Rule(
        "SG612 references-as-context warning",
        summary="The refined texts are the references, and nothing was retrieved.",
        message="the refined texts are {value}, the same as references, and no other stage has a text",
        upstream={
            "unified": "the refiner took the references for documents: the gold answers are in the context, and "
            "every score is inflated"
        },
        hint="run the retriever before the refiner, or leave the refiner out",
        bad='{"query": "q", "references": ["Paris"], "refining_docs": ["Paris"]}',
        good='{"query": "q", "references": ["Paris"], "retrieval_docs": ["Paris lies on the Seine."], '
        '"refining_docs": ["Paris"]}',
        source="DATA_FORMAT.md of SAGE 3e42ab7; the refiner of that commit",
    ),
    Rule(
        "SG613 objects-for-reranker warning per-file",
        summary="A record that ends with retrieval_results of objects, as the retrievers write them.",
        message="retrieval_results holds objects, such as {value}",
        upstream={
            "operators": "refiner and promptor take them; a reranker put next raises RuntimeError: BGEReranker error"
        },
        hint="give a reranker the texts alone; nothing to do where none follows",
        bad='{"query": "q", "retrieval_results": [{"text": "a"}]}',
        good='{"query": "q", "retrieval_results": ["a"]}',
        source="sage_rag/operators/reranker.py: BGEReranker",
    ),
    Rule(
        "SG614 records-of-another-generation info",
        summary="Records have the keys of another generation of operators than the one they are checked for.",
        message="records {generation}: {count} of {records}",
        upstream="the findings of this file say what has to change; each generation reads other keys",
        hint="validate with --profile operators for today's operators, or convert the records",
        bad='{"query": "q", "retrieval_results": [{"text": "a"}], "retrieve_time": 0.02}',
        good='{"query": "q", "retrieval_results": [{"text": "a"}], "retrieval_docs": ["a"], "retrieval_time": 0.02}',
        source="DATA_FORMAT.md of SAGE 3e42ab7; sage_rag/operators/",
    ),
)
