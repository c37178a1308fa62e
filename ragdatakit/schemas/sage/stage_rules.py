"""Rules of the stages of a SAGE record (SG3…) and of the numbers of refining (SG4…)."""

from __future__ import annotations

from functools import partial

from ragdatakit.schemas.declarations import Rule

_rule = partial(Rule, source="DATA_FORMAT.md of SAGE 3e42ab7")

STAGE_RULES: tuple[Rule, ...] = (
    _rule(
        "SG301 stage-not-list error",
        summary="The results or docs of a stage are null, a string or an object where an array is expected.",
        message="{field} is {value}; an array is expected",
        upstream="null stops the refiner with TypeError, or makes the promptor pass on two messages of an error, "
        "which the generator takes for record and prompt",
        hint="write an array; leave the key out where the stage has not run",
        fix="safe: remove the null",
        reveals=("half-a-stage",),
        bad='{"query": "q", "retrieval_results": null}',
        good='{"query": "q", "retrieval_results": [], "retrieval_docs": []}',
        source="sage_rag/operators/refiner.py: RefinerOperator; sage_rag/operators/promptor.py: QAPromptor",
    ),
    _rule(
        "SG302 uneven-stage error",
        summary="The docs and the results of a stage differ in number.",
        message="{stage}_docs has {docs}, {stage}_results has {results}; as many of each are expected, in one order",
        upstream={
            "unified": "the two are documented as parallel, which is not checked; texts and scores no longer match"
        },
        hint="make docs from results: the text of each, in the same order",
        bad='{"query": "q", "retrieval_results": [{"text": "a"}], "retrieval_docs": ["a", "b"]}',
        good='{"query": "q", "retrieval_results": [{"text": "a"}, {"text": "b"}], "retrieval_docs": ["a", "b"]}',
    ),
    _rule(
        "SG303 doc-unlike-result error",
        summary="A text of a stage's docs is not that of the result in the same place.",
        message="{field} is {value}, and the text of {stage}_results[{index}] is {text}; the same is expected",
        upstream={"unified": "they are not compared: readers of docs and of results see different contexts"},
        hint="make docs from results: the text of each, in the same order",
        bad='{"query": "q", "retrieval_results": [{"text": "a"}], "retrieval_docs": ["b"]}',
        good='{"query": "q", "retrieval_results": [{"text": "a"}], "retrieval_docs": ["a"]}',
    ),
    _rule(
        "SG304 half-a-stage warning per-file",
        summary="A stage has results without docs, or docs without results.",
        message="{present} without {absent}",
        upstream={
            "unified": "the documented operators read docs, today's operators read results: one of them sees no stage"
        },
        hint="write both: docs are the texts of results",
        bad='{"query": "q", "retrieval_docs": ["a"]}',
        good='{"query": "q", "retrieval_results": [{"text": "a"}], "retrieval_docs": ["a"]}',
        source="DATA_FORMAT.md of SAGE 3e42ab7; sage_rag/operators/promptor.py: QAPromptor",
    ),
    _rule(
        "SG305 result-is-text error",
        severities={"operators": "warning"},
        summary="Results of retrieval or reranking are bare strings.",
        message="{field} is the string {value} ({count} such in {stage}_results); an object with text is expected",
        upstream={
            "unified": "results are documented as objects with text, score and metadata; a string has no score",
            "operators": "every reader takes strings; score and metadata are lost",
        },
        hint='write {"text": …} for each',
        bad='{"query": "q", "retrieval_results": ["a"], "retrieval_docs": ["a"]}',
        good='{"query": "q", "retrieval_results": [{"text": "a"}], "retrieval_docs": ["a"]}',
        source="DATA_FORMAT.md of SAGE 3e42ab7; sage_rag/operators/promptor.py: QAPromptor",
    ),
    _rule(
        "SG306 result-without-text error",
        summary="A result without a text: no key text, or one that is null or no string; or no object at all.",
        message="{field} {state}; an object with a string under text is expected",
        upstream="promptor and refiner put the Python text of the whole object into the prompt; "
        "CompressionRate raises AttributeError on null",
        hint="write the passage as a string under text",
        bad='{"query": "q", "retrieval_results": [{"text": null, "score": 0.9}]}',
        good='{"query": "q", "retrieval_results": [{"text": "a", "score": 0.9}], "retrieval_docs": ["a"]}',
        source="sage_rag/operators/promptor.py: QAPromptor; sage_rag/operators/evaluate.py: CompressionRate",
    ),
    _rule(
        "SG307 text-under-other-key warning",
        summary="The text of a result is under content or contents.",
        message="{field} has its text under {key}; text is expected",
        upstream="promptor and TokenCount take the Python text of the whole object; "
        "CompressionRate reads content, and not contents",
        hint="rename it to text",
        fix="unsafe: rename the key to text",
        bad='{"query": "q", "retrieval_results": [{"content": "a"}], "retrieval_docs": ["a"]}',
        good='{"query": "q", "retrieval_results": [{"text": "a"}], "retrieval_docs": ["a"]}',
        source="sage_rag/operators/promptor.py: QAPromptor; sage_rag/operators/evaluate.py: CompressionRate",
    ),
    _rule(
        "SG308 empty-stage-text warning",
        summary="A text of a stage is empty or blank.",
        message="{field} is {value}; a text with words in it is expected",
        upstream="it gives the prompt an empty context",
        hint="leave it out, or see why the step before gave nothing",
        bad='{"query": "q", "retrieval_results": [{"text": " "}], "retrieval_docs": [" "]}',
        good='{"query": "q", "retrieval_results": [{"text": "a"}], "retrieval_docs": ["a"]}',
        source="sage_rag/operators/promptor.py: QAPromptor",
    ),
    _rule(
        "SG309 score-not-number error",
        summary="A score or similarity_score that is a string, null, true, false, a list, NaN or infinite.",
        message="{field} is {value}; a finite number is expected",
        upstream="today's operators never read it; whoever sorts by it raises TypeError or gets a wrong order",
        hint="write a number, or leave the score out",
        fix="safe: write the number without quotes",
        bad='{"query": "q", "retrieval_results": [{"text": "a", "score": "0.9"}], "retrieval_docs": ["a"]}',
        good='{"query": "q", "retrieval_results": [{"text": "a", "score": 0.9}], "retrieval_docs": ["a"]}',
        source="DATA_FORMAT.md of SAGE 3e42ab7; sage_rag/operators/reranker.py",
    ),
    _rule(
        "SG310 scores-not-descending warning",
        summary="Results of retrieval or reranking are not ordered from the highest score to the lowest.",
        message="{field} is {value}, above the {before} before it; descending scores are expected in {stage}_results",
        upstream="every reader takes the order of the list and none looks at the scores",
        hint="sort the results by score, highest first, and docs with them",
        bad='{"query": "q", "retrieval_results": [{"text": "a", "score": 0.2}, {"text": "b", "score": 0.9}]}',
        good='{"query": "q", "retrieval_results": [{"text": "b", "score": 0.9}, {"text": "a", "score": 0.2}]}',
        source="DATA_FORMAT.md of SAGE 3e42ab7; sage_rag/operators/reranker.py",
    ),
    _rule(
        "SG311 score-out-of-range warning per-file",
        summary="A score below 0 or above 1.",
        message="{field} is {value}; a score from 0 to 1 is expected",
        upstream="a base class promises 0 to 1; rerankers write raw logits, and whoever mixes the two ranks wrongly",
        hint="scale the scores, or keep raw ones under a key of your own",
        bad='{"query": "q", "reranking_results": [{"text": "a", "score": 7.3}]}',
        good='{"query": "q", "reranking_results": [{"text": "a", "score": 0.98}]}',
        source="sage_rag/operators/reranker.py; sage_rag/operators/retriever.py: Wiki18FAISSRetriever",
    ),
    _rule(
        "SG312 raw-similarity-score info per-file",
        summary="A similarity_score below 0 or above 1, as inner products are.",
        message="{field} is {value}, not from 0 to 1",
        upstream="the Wiki18 retriever writes inner products there; they can be compared within one index only",
        hint="nothing to do, unless you mix them with other scores",
        bad='{"query": "q", "retrieval_results": [{"text": "a", "similarity_score": 7.25}], "retrieval_docs": ["a"]}',
        good='{"query": "q", "retrieval_results": [{"text": "a", "similarity_score": 0.73}], "retrieval_docs": ["a"]}',
        source="sage_rag/operators/retriever.py: Wiki18FAISSRetriever",
    ),
    _rule(
        "SG313 repeated-stage-text warning",
        summary="The same text twice in one stage.",
        message="{field} is the text of {first} again, {value}",
        upstream="the context is counted and sent twice",
        hint="keep one of them",
        bad='{"query": "q", "retrieval_results": [{"text": "a"}, {"text": "a"}], "retrieval_docs": ["a", "a"]}',
        good='{"query": "q", "retrieval_results": [{"text": "a"}], "retrieval_docs": ["a"]}',
        source="sage_rag/operators/promptor.py: QAPromptor",
    ),
    _rule(
        "SG314 reranked-text-unknown error",
        summary="A reranked text that is not among the texts it was made from.",
        message="{field} is {value}, which is not among the texts of {sources}",
        upstream={
            "unified": "reranking orders texts and cuts their list, it makes none: this one comes from elsewhere"
        },
        hint="look at the reranker: it reads refining_docs, else retrieval_docs",
        bad='{"query": "q", "retrieval_docs": ["a"], "reranking_docs": ["z"]}',
        good='{"query": "q", "retrieval_docs": ["a", "z"], "reranking_docs": ["z"]}',
    ),
    _rule(
        "SG315 more-reranked-than-source error",
        summary="More reranked texts than texts that they were made from.",
        message="reranking has {count} texts, {source} has {others}; no more are expected",
        upstream={"unified": "reranking orders texts and cuts their list, it never adds one"},
        hint="look at the reranker: it reads refining_docs, else retrieval_docs",
        bad='{"query": "q", "retrieval_docs": ["a"], "reranking_docs": ["a", "a"]}',
        good='{"query": "q", "retrieval_docs": ["a"], "reranking_docs": ["a"]}',
    ),
    _rule(
        "SG316 stage-without-source warning per-file",
        summary="Reranking or refining without a stage before it.",
        message="{stage} is there and no stage before it",
        upstream="that is legal, for stages that were skipped; what the texts were made from is not known",
        hint="keep the earlier stage in the record",
        bad='{"query": "q", "reranking_results": [{"text": "a"}], "reranking_docs": ["a"]}',
        good='{"query": "q", "retrieval_results": [{"text": "a"}], "retrieval_docs": ["a"], '
        '"reranking_results": [{"text": "a"}], "reranking_docs": ["a"]}',
    ),
    _rule(
        "SG317 empty-stage warning",
        severities={"operators": "error"},
        summary="A stage is an empty array while an earlier one has texts.",
        message="{field} is empty while {earlier} has texts ({count})",
        upstream={
            "unified": "the documented reading falls back to the earlier stage, its code takes the empty list: the key "
            "is there",
            "operators": "the promptor takes the empty list, because the key is there, and prompts without context",
        },
        hint="leave the key out where the stage gave nothing",
        bad='{"query": "q", "refining_results": [], "retrieval_results": [{"text": "a"}]}',
        good='{"query": "q", "retrieval_results": [{"text": "a"}]}',
        source="DATA_FORMAT.md of SAGE 3e42ab7; sage_rag/operators/promptor.py: QAPromptor",
    ),
    _rule(
        "SG318 doc-not-text error",
        summary="An item of a stage's docs that is not a string.",
        message="{field} is {value}; a string is expected",
        upstream={
            "unified": "docs are documented as strings: operators that join them raise TypeError, others print the "
            "object into the prompt"
        },
        hint="write the text alone; what else is known goes into results",
        bad='{"query": "q", "retrieval_docs": [{"text": "a"}]}',
        good='{"query": "q", "retrieval_results": [{"text": "a"}], "retrieval_docs": ["a"]}',
    ),
    _rule(
        "SG320 metadata-not-object error",
        summary="The metadata of a result is not an object.",
        message="{field} is {value}; an object is expected",
        upstream={"unified": "metadata is documented as an object; whoever looks up a key in it raises TypeError"},
        hint='write {"source": …}, or leave metadata out',
        bad='{"query": "q", "retrieval_results": [{"text": "a", "metadata": "c7"}], "retrieval_docs": ["a"]}',
        good='{"query": "q", "retrieval_results": [{"text": "a", "metadata": {"id": "c7"}}], "retrieval_docs": ["a"]}',
    ),
    _rule(
        "SG319 more-refined-than-source warning",
        summary="More refined texts than texts that they were made from.",
        message="refining has {count} texts, {source} has {others}; no more are expected",
        upstream={
            "unified": "refining shortens texts or joins them: what the further ones were made from is not known"
        },
        hint="look at the refiner: it reads reranking_docs, else retrieval_docs",
        bad='{"query": "q", "retrieval_docs": ["a"], "refining_docs": ["a", "b"]}',
        good='{"query": "q", "retrieval_docs": ["a", "b"], "refining_docs": ["a", "b"]}',
    ),
)

REFINING_RULES: tuple[Rule, ...] = (
    _rule(
        "SG401 length-not-count error",
        summary="original_length or refined_length is not a whole number from 0.",
        message="{field} is {value}; a whole number from 0 is expected",
        upstream={"unified": "both are documented as counts (of characters or tokens); the ratio cannot be computed"},
        hint="write the number of characters or tokens, the same unit for both",
        bad='{"query": "q", "refining_results": [{"text": "a", "original_length": "10", "refined_length": 3}]}',
        good='{"query": "q", "refining_results": [{"text": "a", "original_length": 10, "refined_length": 3, '
        '"compression_ratio": 0.3}]}',
    ),
    _rule(
        "SG402 wrong-compression-ratio error",
        summary="compression_ratio is not refined_length divided by original_length.",
        message="{field} is {value}; {refined} ÷ {original} = {ratio} is expected",
        upstream={
            "unified": "refined ÷ original is the documented meaning; reports add up ratios that mean something else"
        },
        hint="compute it from the two lengths, or leave it out",
        bad='{"query": "q", "refining_results": [{"text": "a", "original_length": 10, "refined_length": 3, '
        '"compression_ratio": 0.7}]}',
        good='{"query": "q", "refining_results": [{"text": "a", "original_length": 10, "refined_length": 3, '
        '"compression_ratio": 0.3}]}',
        source="DATA_FORMAT.md of SAGE 3e42ab7; the tolerance is half of the last digit written, at least 0.005",
    ),
    _rule(
        "SG403 inverted-compression-ratio error",
        summary="compression_ratio is original ÷ refined, the inverse of what is documented.",
        message="{field} is {value}, which is {original} ÷ {refined}; {refined} ÷ {original} = {ratio} is expected",
        upstream={
            "unified": "it is documented as refined ÷ original; the evaluators and LongRefiner count the other way "
            "round: a good compression looks like a text that grew"
        },
        hint="write the inverse: refined_length divided by original_length",
        bad='{"query": "q", "refining_results": [{"text": "a", "original_length": 10, "refined_length": 3, '
        '"compression_ratio": 3.33}]}',
        good='{"query": "q", "refining_results": [{"text": "a", "original_length": 10, "refined_length": 3, '
        '"compression_ratio": 0.3}]}',
        source="DATA_FORMAT.md of SAGE 3e42ab7; sageRefiner: LongRefiner",
    ),
    _rule(
        "SG404 refined-text-grew warning",
        summary="refined_length is greater than original_length.",
        message="{field} is {value}, more than the original_length of {original}",
        upstream={"unified": "the text grew, which no refiner is meant to do; the ratio is above 1"},
        hint="see whether the two lengths were swapped or count different units",
        bad='{"query": "q", "refining_results": [{"text": "a", "original_length": 3, "refined_length": 10}]}',
        good='{"query": "q", "refining_results": [{"text": "a", "original_length": 10, "refined_length": 3}]}',
    ),
    _rule(
        "SG405 ratio-of-nothing error",
        summary="original_length is 0 and there is a compression_ratio.",
        message="{field} is {value} while original_length is 0; no ratio is expected",
        upstream={
            "unified": "refined ÷ original divides by zero; LongRefiner writes 1.0 in its place, which means "
            "nothing was cut"
        },
        hint="leave the ratio out, and see why the refiner got an empty text",
        bad='{"query": "q", "refining_results": [{"text": "a", "original_length": 0, "refined_length": 0, '
        '"compression_ratio": 1.0}]}',
        good='{"query": "q", "refining_results": [{"text": "a", "original_length": 0, "refined_length": 0}]}',
        source="DATA_FORMAT.md of SAGE 3e42ab7; sageRefiner: LongRefiner",
    ),
    _rule(
        "SG406 incomplete-compression-numbers warning per-file",
        summary="Only some of original_length, refined_length and compression_ratio are there.",
        message="{field} has {present} without {absent}",
        upstream={"unified": "a reader of the missing one finds nothing; the third can be computed from two"},
        hint="write all three, or none",
        bad='{"query": "q", "refining_results": [{"text": "a", "compression_ratio": 0.3}]}',
        good='{"query": "q", "refining_results": [{"text": "a", "original_length": 10, "refined_length": 3, '
        '"compression_ratio": 0.3}]}',
    ),
    _rule(
        "SG407 refined-as-text error",
        severities={"operators": "warning"},
        summary="refining_results holds bare strings.",
        message="{field} is the string {value} ({count} such in refining_results); an object with text is expected",
        upstream={
            "unified": "results of refining are documented as objects with text, two lengths and a ratio",
            "operators": "strings are what today's operators write; lengths and ratio are not kept",
        },
        hint='for the documented format write {"text": …} for each, with the lengths where you know them',
        bad='{"query": "q", "refining_results": ["a"]}',
        good='{"query": "q", "refining_results": [{"text": "a"}], "refining_docs": ["a"]}',
        source="DATA_FORMAT.md of SAGE 3e42ab7; sage_rag/operators/refiner.py: RefinerOperator",
    ),
    _rule(
        "SG408 refined-as-object error",
        summary="refining_results holds objects, the documented type, which today's operators do not read.",
        message="{field} is the object {value} ({count} such in refining_results); a string is expected",
        upstream={"operators": "the promptor puts the Python text of each object into the prompt, numbers and all"},
        hint="for today's operators write the texts alone",
        bad='{"query": "q", "refining_results": [{"text": "a", "compression_ratio": 0.3}]}',
        good='{"query": "q", "refining_results": ["a"]}',
        source="sage_rag/operators/promptor.py: QAPromptor",
    ),
    _rule(
        "SG409 many-refined-into-one warning per-file",
        summary="One refined text where there were several.",
        message="refining has one text, {source} has {others}",
        upstream="LongRefiner and the like join everything: no number can be given for a single document",
        hint="nothing to do where the refiner joins; take ratios over the whole set, never per document",
        bad='{"query": "q", "retrieval_docs": ["a", "b"], "refining_docs": ["ab"]}',
        good='{"query": "q", "retrieval_docs": ["a", "b"], "refining_docs": ["a", "b"]}',
        source="sage_rag/operators/refiner.py: RefinerOperator; sageRefiner: LongRefiner",
    ),
    _rule(
        "SG410 ratio-not-number error",
        summary="compression_ratio is not a finite number from 0.",
        message="{field} is {value}; a finite number from 0 is expected, refined ÷ original",
        upstream={
            "unified": "it is documented as a number; whoever takes the mean raises TypeError or gets a wrong one"
        },
        hint="write refined_length divided by original_length, or leave it out",
        bad='{"query": "q", "refining_results": [{"text": "a", "compression_ratio": "30%"}]}',
        good='{"query": "q", "refining_results": [{"text": "a", "original_length": 10, "refined_length": 3, '
        '"compression_ratio": 0.3}]}',
    ),
    _rule(
        "SG411 unit-of-lengths info per-file",
        counted=False,
        numbered=False,
        summary="The lengths are those of the text in characters, or in words.",
        message="{field} is {value}, the number of {unit} of the text",
        upstream={"unified": "the unit is not documented; characters and tokens are both found"},
        hint="compare ratios only with those of the same unit",
        bad='{"query": "q", "refining_results": [{"text": "Spring tides", "original_length": 20, '
        '"refined_length": 12}]}',
        good='{"query": "q", "refining_results": [{"text": "Spring tides", "original_length": 20, '
        '"refined_length": 5}]}',
    ),
)
