"""The rules of GFM-RAG's processed questions (processed/stage1/train.json and test.json).

Facts: RManLuo/gfm-rag, commit 57e3e28, read and run. For the profiles see `gfm_rag_table_rules`.
"""

from __future__ import annotations

from functools import partial

from ragdatakit.schemas.declarations import Rule

_QA = "gfm-rag 57e3e28 graph_index_dataset.py:process_qa_data"
_TRAINER = "gfm-rag 57e3e28 trainers/sft_trainer.py"
_EVALUATION = "gfm-rag 57e3e28 evaluation, workflow/qa.py"
_START = '"start_nodes": {"entity": ["osprey"]}'
_TARGET = '"target_nodes": {"document": ["Harbour log"], "entity": ["lena"]}'
_TEXT = '"question": "Which boat did the Osprey tow?"'
_EXTRA = '"answer": "Lena", "answer_aliases": [], "supporting_documents": ["Harbour log"]'


def _sample(key: str = '"id": "h1"', text: str = _TEXT, start: str = _START, end: str = _TARGET, more: str = "") -> str:
    return "{" + ", ".join(filter(None, [key, text, start, end, more])) + "}"


_GOOD = f"[{_sample()}]"
_ANSWERED = f"[{_sample(more=_EXTRA)}]"

_rule = partial(Rule, good=_GOOD, source=_QA)

ID_RULES: tuple[Rule, ...] = (
    _rule(
        "GF401 missing-question-field error",
        summary="A question without id, question, start_nodes or target_nodes.",
        message="the field {field} is {fault}",
        upstream="both loaders stop with KeyError",
        hint="add the field, under this name (HotpotQA's own files call the id _id)",
        bad=f"[{_sample(end='')}]",
    ),
    _rule(
        "GF406 duplicate-question-id error",
        summary="Two questions have one id, in one file or in train and test.",
        message="the id {value} is used by an earlier question",
        upstream=(
            "it loads; predictions of one question overwrite those of the other, and constructors give both the start "
            "nodes of one"
        ),
        hint="give each question an id of its own, over train.json and test.json together",
        bad=f"[{_sample()}, {_sample()}]",
        good=f"""[{_sample()}, {_sample('"id": "h2"')}]""",
        source=f"{_TRAINER}:predict",
    ),
    _rule(
        "GF407 question-id-null error",
        summary="An id that is null.",
        message="the id is null, expected a text",
        upstream="it loads, and the first batch stops in the collator",
        hint="write a text",
        bad=f"""[{_sample('"id": null')}]""",
    ),
    _rule(
        "GF408 question-id-decimal error",
        summary="An id that is a number with decimals.",
        message="the id is {value}, expected a text",
        upstream="ids become 32-bit floats, which are rounded: the question is not found again by its id",
        hint="write ids as text",
        fix="safe: put the number into quotes",
        bad=f"""[{_sample('"id": 1.5')}]""",
    ),
    _rule(
        "GF409 question-id-too-big error",
        summary="An id that is an integer beyond 64 bits.",
        message="the id is {value}, expected a text or an integer within 64 bits",
        upstream="the ids go into an Arrow column, which cannot hold it: OverflowError",
        hint="write ids as text",
        bad=f"""[{_sample('"id": 99999999999999999999')}]""",
    ),
    _rule(
        "GF410 question-id-surrogate error",
        summary="An id with an unpaired surrogate escape such as \\ud83d.",
        message="the id holds the unpaired surrogate {surrogate}",
        upstream="the ids go into an Arrow column, which cannot hold it: UnicodeEncodeError",
        hint="repair the text where it was cut in the middle of a character",
        bad=f"""[{_sample('"id": "h' + chr(92) + 'ud83d"')}]""",
    ),
    _rule(
        "GF411 mixed-question-ids error",
        summary="Some ids of train and test are texts and some are integers.",
        message="the id {value} is {kind}, the ids before are {other} ({first})",
        upstream="the ids of both files go into one Arrow column: ArrowTypeError or ArrowInvalid",
        hint="write all ids as text",
        fix="safe: put an integer into quotes",
        bad=f"""[{_sample()}, {_sample('"id": 7')}]""",
        good=f"""[{_sample()}, {_sample('"id": "7"')}]""",
    ),
    _rule(
        "GF412 question-id-other error",
        summary="An id that is a boolean, a list or an object.",
        message="the id is {value}, expected a text",
        upstream="questions are found again by a text or an integer",
        hint="write a text",
        bad=f"""[{_sample('"id": ["h1"]')}]""",
    ),
    _rule(
        "GF413 question-not-text error",
        summary="A question whose text is null or no text.",
        message="question is {value}, expected a text",
        upstream="the embedding model stops at it",
        hint="write the question as a text",
        bad=f"""[{_sample(text='"question": null')}]""",
    ),
)

NODE_RULES: tuple[Rule, ...] = (
    _rule(
        "GF402 nodes-not-object error",
        summary="start_nodes or target_nodes is not an object of types and lists of names.",
        message="{field} is {value}, expected an object of types and lists of names",
        upstream="both loaders stop with AttributeError",
        hint='write {"entity": ["name", …]}',
        bad=f"""[{_sample(start='"start_nodes": ["osprey"]')}]""",
    ),
    _rule(
        "GF403 node-list-not-list error",
        summary="A type of start_nodes or target_nodes has null, a number or an object instead of a list.",
        message="{field} is {value}, expected a list of names",
        upstream="both loaders stop with TypeError at null and numbers, and take the keys of an object for names",
        hint="write a list; `[]`, or no such type, where there is nothing",
        fix="safe: write an empty list for null",
        bad=f"""[{_sample(start='"start_nodes": {"entity": ["osprey"], "document": null}')}]""",
    ),
    _rule(
        "GF404 node-name-not-text error",
        summary="A name in start_nodes or target_nodes that is not a text.",
        message="{field} is {value}, expected a name",
        upstream="both loaders stop with TypeError at a list or an object; a number, null or true is never found",
        hint="write names as texts, numbers too",
        fix="safe: put the number into quotes",
        reveals=("GF41", "GF42"),
        bad=f"""[{_sample(start='"start_nodes": {"entity": ["osprey", ["lena"]]}')}]""",
    ),
    _rule(
        "GF405 node-list-is-text error",
        summary="A type of start_nodes or target_nodes has a text instead of a list of texts.",
        message="{field} is the text {value}, expected a list of names",
        upstream="both loaders look up each of its characters, and the name is silently lost",
        hint="wrap it into a list; HippoRAG2Constructor itself writes target_nodes.entity like this",
        fix="safe: put the text into a list",
        reveals=("node-list-not-list", "node-name-not-text", "GF41", "GF42"),
        bad=f"""[{_sample(end='"target_nodes": {"document": ["Harbour log"], "entity": "lena"}')}]""",
        source=f"{_QA}, HippoRAG2Constructor",
    ),
    _rule(
        "GF414 no-known-start-node error",
        summary="None of a question's start nodes is in the graph.",
        message="no start node is in nodes.csv: {names}",
        upstream="both loaders skip the question, with a line in the log",
        hint="write the names as nodes.csv does, to the letter; questions without start nodes are useless",
        bad=f"""[{_sample()}, {_sample('"id": "h2"', start='"start_nodes": {"entity": ["Osprey"]}')}]""",
    ),
    _rule(
        "GF415 no-known-target-node error",
        summary="None of a question's target nodes is in the graph.",
        message="no target node is in nodes.csv: {names}",
        upstream="both loaders skip the question, with a line in the log (unless skip_empty_target is off)",
        hint="write the names as nodes.csv does, to the letter",
        bad=f"""[{_sample()}, {_sample('"id": "h2"', end='"target_nodes": {"entity": ["Lena"]}')}]""",
    ),
    _rule(
        "GF416 no-usable-sample error",
        summary="No question of train.json and test.json can be used.",
        message="no question can be used ({samples:,} in all)",
        upstream="both loaders stop with RuntimeError: stack expects a non-empty TensorList",
        hint=(
            "repair the node names that the findings of these files give; where there are no questions at all, leave "
            "both files out: the graph loads without them"
        ),
        bad="[]",
        follows=True,
    ),
    _rule(
        "GF417 empty-split warning",
        summary="No question of one of the two files can be used.",
        message="no question of this file can be used ({samples:,} in all)",
        upstream="both loaders make a split of length 0 of it",
        hint="leave the file out where there are no questions",
        follows=True,
        bad="train.json: two questions that can be used\ntest.json: []",
        good="train.json: two questions that can be used",
    ),
    _rule(
        "GF418 unknown-start-node warning",
        summary="One of a question's start nodes is not in the graph.",
        message="there is no node {value}",
        upstream="both loaders silently leave it out",
        hint="write the name as nodes.csv does, to the letter",
        bad=f"""[{_sample(start='"start_nodes": {"entity": ["osprey", "Lena"]}')}]""",
    ),
    _rule(
        "GF419 unknown-target-node error",
        summary="One of a question's target nodes is not in the graph.",
        message="there is no node {value}",
        upstream="both loaders drop it silently: a target is lost, and every score is wrong",
        hint="write the name as nodes.csv does, to the letter",
        bad=f"""[{_sample(end='"target_nodes": {"document": ["Harbour log"], "entity": ["Lena"]}')}]""",
    ),
    _rule(
        "GF420 node-under-other-type warning",
        summary="A node is listed in start_nodes or target_nodes under another type than it has.",
        message="{value} is listed under {type}, and is of type {found}",
        upstream="the types are not compared: it counts under the type that nodes.csv gives it",
        hint="put the name under its own type; the types that the framework asks for are `entity` and `document`",
        fix="safe: move the node under its own type",
        bad=f"""[{_sample(end='"target_nodes": {"document": ["Harbour log", "lena"]}')}]""",
    ),
    _rule(
        "GF421 no-document-target warning per-file",
        summary="A question without a target node of type document, by which the trainer evaluates.",
        message="no target node is a document",
        upstream="recall is infinite for it, and a batch of such questions alone stops with RuntimeError in max()",
        hint="name the documents that hold the answer, or evaluate by another type",
        bad=f"""[{_sample(end='"target_nodes": {"entity": ["lena"]}')}]""",
        source=_TRAINER,
    ),
    _rule(
        "GF422 no-entity-target warning per-file",
        summary="A question without a target node of type entity, by which the entity loader's trainer evaluates, too.",
        message="no target node is an entity",
        upstream={
            "gfm-rag": "recall is infinite for it, and a batch of such questions alone stops with RuntimeError in max()"
        },
        hint="name the entities of the answer, or evaluate by documents only",
        bad=f"""[{_sample(end='"target_nodes": {"document": ["Harbour log"]}')}]""",
        source=_TRAINER,
    ),
    _rule(
        "GF423 supporting-document-not-node warning",
        summary="supporting_documents names a title that is not a node of type document.",
        message="the document {value} is not a node of type document",
        upstream="it can never be found: the target is lost",
        hint="write the title as nodes.csv does, or add the node",
        bad=f"""[{_sample(more='"supporting_documents": ["Dock log"]')}]""",
    ),
)

ANSWER_RULES: tuple[Rule, ...] = (
    _rule(
        "GF424 missing-answer warning per-file",
        summary="A processed question without an answer.",
        message="there is no answer",
        upstream="training needs none; answering and its evaluation (workflow/qa.py) stop with KeyError",
        hint="add the answer, where questions are to be answered and not only trained on",
        bad=_GOOD,
        good=_ANSWERED,
        source=_EVALUATION,
    ),
    _rule(
        "GF425 answer-not-text error",
        summary="An answer that is null, a number, a list or a boolean.",
        message="answer is {value}, expected a text",
        upstream="the evaluators stop with AttributeError, and so does GFMReasonerConstructor at raw questions",
        hint='write a text (`"yes"`, `"1901"`)',
        fix="safe: put the number into quotes",
        bad=f"""[{_sample(more='"answer": 1901')}]""",
        good=f"""[{_sample(more='"answer": "1901"')}]""",
        source=_EVALUATION,
    ),
    _rule(
        "GF426 aliases-not-list error",
        summary="answer_aliases that are not a list of texts.",
        message="{field} is {value}, expected a list of texts",
        upstream="the evaluators of MuSiQue and 2Wiki stop with TypeError; the one of HotpotQA does not look",
        hint="write a list, `[]` where there are none",
        fix="safe: put the text into a list, write an empty list for null",
        bad=f"""[{_sample(more='"answer": "Lena", "answer_aliases": null')}]""",
        good=f"""[{_sample(more='"answer": "Lena", "answer_aliases": []')}]""",
        source=_EVALUATION,
    ),
    _rule(
        "GF427 supporting-documents-not-list error",
        summary="supporting_documents that are not a list of texts.",
        message="{field} is {value}, expected a list of titles",
        upstream="null stops GFMRAGConstructor with TypeError; a text is read character by character",
        hint="write a list of titles",
        fix="safe: put the text into a list, write an empty list for null",
        reveals=("GF42", "GF51", "GF61"),
        bad=f"""[{_sample(more='"supporting_documents": "Harbour log"')}]""",
        good=_ANSWERED,
        source=f"{_EVALUATION}, GFMRAGConstructor",
    ),
    _rule(
        "GF428 empty-supporting-documents error",
        summary="supporting_documents is an empty list.",
        message="{field} is empty",
        upstream="RetrievalEvaluator divides by their number and stops with ZeroDivisionError",
        hint="name at least one document, or leave the question out of the evaluation",
        bad=f"""[{_sample(more='"supporting_documents": []')}]""",
        good=_ANSWERED,
        source=f"{_EVALUATION}: RetrievalEvaluator",
    ),
    _rule(
        "GF429 missing-evaluation-field info per-file",
        summary="A processed question without supporting_documents or answer_aliases.",
        message="there is no {field}",
        upstream="training does not need it; agent QA reads supporting_documents, the evaluators of MuSiQue and "
        "2Wiki read answer_aliases",
        hint="add it where questions are to be evaluated",
        bad=_GOOD,
        good=_ANSWERED,
        source=f"{_EVALUATION}, qa_ircot_inference.py",
    ),
    _rule(
        "GF430 question-in-train-and-test warning",
        summary="The same question is in train.json and in test.json.",
        message="the question {value} is in the other file, too",
        upstream="the model is tested on what it was trained on",
        hint="remove it from train.json",
        fix="unsafe: remove it from train.json",
        bad="train.json: Which boat did the Osprey tow?\ntest.json: Which boat did the Osprey tow?",
        good="train.json: Which boat did the Osprey tow?\ntest.json: Which barge carries slate?",
        source="ragdata's own check: no loader compares the two files",
    ),
    _rule(
        "GF431 large-masks warning",
        summary="Nodes times questions make masks of more than a gigabyte.",
        message="{samples:,} questions over {nodes:,} nodes make masks of {bytes}",
        upstream="the loaders keep a dense mask over all nodes for each question, on disk and in memory",
        hint="split the questions over several datasets",
        bad="nodes.csv: 4,000,000 rows\ntrain.json: 60,000 questions",
        good="nodes.csv: 4,000 rows\ntrain.json: 60,000 questions",
    ),
)

QUESTION_RULES: tuple[Rule, ...] = tuple(sorted(ID_RULES + NODE_RULES + ANSWER_RULES, key=lambda rule: rule.code))
