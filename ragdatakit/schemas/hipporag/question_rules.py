"""Rules of HippoRAG's questions: their answers, and the passages that belong to them."""

from __future__ import annotations

from functools import partial

from ragdatakit.schemas.declarations import Rule
from ragdatakit.schemas.fixes import ARRAY_WORDS

_OFF = "retrieval is not evaluated, for none of the questions"

_rule = partial(Rule, source="main.py: get_gold_docs")

QUESTION_RULES: tuple[Rule, ...] = (
    _rule(
        "HR005 question-without-answer error",
        summary="A question has none of the fields that hold answers, or an empty list of them.",
        message="{found}",
        upstream="the run stops with ValueError: without an answer field at once, with an empty list when the answers "
        "are judged",
        hint="write answer, a text or a list of texts",
        bad='[{"id": "q1", "question": "Who mapped Kettle Reef?"}]',
        good='[{"id": "q1", "question": "Who mapped Kettle Reef?", "answer": "Joss Alder"}]',
        source="main.py: get_gold_answers",
    ),
    _rule(
        "HR006 answer-not-text error",
        summary="An answer is neither a text nor a list of texts.",
        message="{field} is {value}; a text or a list of texts is expected",
        upstream="numbers and null stop the run (TypeError, or AttributeError when answers are judged); of an object "
        "the names are taken for answers",
        hint="put the answer in quotes",
        fix="safe: put the number into quotes",
        bad='[{"id": "q1", "question": "How many maps?", "answer": 3}]',
        good='[{"id": "q1", "question": "How many maps?", "answer": "3"}]',
        source="main.py: get_gold_answers",
    ),
    _rule(
        "HR007 repeated-question-id error",
        summary="Two questions have one id.",
        message="duplicate question {value}",
        upstream="HippoRAG does not read ids; whoever joins its results with the questions takes one for the other",
        hint="give them different ids",
        bad='[{"id": "q1", "question": "Who mapped Kettle Reef?", "answer": "Joss Alder"},\n'
        ' {"id": "q1", "question": "What is fog?", "answer": "low cloud"}]',
        good='[{"id": "q1", "question": "Who mapped Kettle Reef?", "answer": "Joss Alder"},\n'
        ' {"id": "q2", "question": "What is fog?", "answer": "low cloud"}]',
        source="main.py: get_gold_docs and get_gold_answers (neither reads an id)",
    ),
    _rule(
        "HR008 question-without-passages warning",
        summary="A question has no supporting_facts with context, no contexts and no paragraphs.",
        message="{found}",
        upstream=_OFF,
        hint="write paragraphs with is_supporting",
        bad='[{"id": "q1", "question": "Who mapped Kettle Reef?", "answer": "Joss Alder"}]',
        good='[{"id": "q1", "question": "Who mapped Kettle Reef?", "answer": "Joss Alder",\n'
        '  "paragraphs": [{"title": "Kettle Reef", "text": "Joss Alder mapped it.", '
        '"is_supporting": true}]}]',
    ),
    _rule(
        "HR009 incomplete-paragraph error",
        summary="A paragraph lacks its title or its text, or one of contexts lacks is_supporting.",
        message="{field} is {fault}",
        upstream=_OFF,
        hint="write title, text and is_supporting",
        bad='{"title": "Kettle Reef", "is_supporting": true}',
        good='{"title": "Kettle Reef", "text": "Joss Alder mapped it.", "is_supporting": true}',
    ),
    _rule(
        "HR010 unmarked-paragraph warning",
        summary="A paragraph does not say whether it supports the answer.",
        message="is_supporting is {fault}",
        upstream="the paragraph counts as one that is to be found",
        hint="write is_supporting for every paragraph",
        bad='"paragraphs": [{"title": "Kettle Reef", "text": "Joss Alder mapped it."}]',
        good='"paragraphs": [{"title": "Kettle Reef", "text": "Joss Alder mapped it.", "is_supporting": true}]',
    ),
    _rule(
        "HR041 support-mark-misread error",
        summary="A paragraph says in a text that it does not support the answer: any text but an empty one is true.",
        message="is_supporting is {value}, which counts as true",
        upstream="the paragraph becomes one that is to be found",
        hint="write true or false, without quotes",
        bad='{"title": "Joss Alder", "text": "He was a surveyor.", "is_supporting": "false"}',
        good='{"title": "Joss Alder", "text": "He was a surveyor.", "is_supporting": false}',
    ),
    _rule(
        "HR011 no-supporting-paragraph warning",
        summary="No paragraph of a question supports its answer.",
        message="no paragraph is supporting",
        upstream="its recall is 0, whatever is found",
        hint="mark the paragraphs that hold the answer, or leave the question out",
        bad='"paragraphs": [{"title": "Kettle Reef", "text": "Joss Alder mapped it.", "is_supporting": false}]',
        good='"paragraphs": [{"title": "Kettle Reef", "text": "Joss Alder mapped it.", "is_supporting": true}]',
    ),
    _rule(
        "HR016 repeated-answer warning",
        summary="answer_aliases holds the answer itself.",
        message="alias {value} is the answer",
        upstream="the two are one: harmless here, counted twice elsewhere",
        hint="remove it from answer_aliases",
        fix="safe: remove it from the aliases",
        bad='"answer": "Joss Alder", "answer_aliases": ["Joss Alder", "J. Alder"]',
        good='"answer": "Joss Alder", "answer_aliases": ["J. Alder"]',
        source="main.py: get_gold_answers",
    ),
    _rule(
        "HR024 questions-not-json error",
        summary="The file of questions is not one JSON document.",
        message="not JSON: {reason}; one list of questions is expected",
        upstream="json.load stops with JSONDecodeError",
        hint="write the whole list at once with json.dump",
        fix=ARRAY_WORDS,
        reveals=("HR00", "HR01", "HR02", "HR03", "HR1", "RD115", "RD2"),
        bad='[{"id": "q1", "question": "Who mapped Kettle Reef?", "answer": "Joss Alder"},]',
        good='[{"id": "q1", "question": "Who mapped Kettle Reef?", "answer": "Joss Alder"}]',
        source="main.py: main",
    ),
    _rule(
        "HR025 questions-not-list error",
        summary="The file of questions is JSON, but not one list.",
        message="one list of questions is expected",
        upstream="the run stops with TypeError or JSONDecodeError",
        hint="write a list of objects",
        fix=("safe: put the lines into one array", "unsafe: take the list out of the object, if it has nothing else"),
        reveals=("HR00", "HR01", "HR02", "HR03", "HR1", "RD115", "RD2"),
        bad='{"questions": [{"id": "q1", "question": "Who mapped Kettle Reef?", "answer": "Joss Alder"}]}',
        good='[{"id": "q1", "question": "Who mapped Kettle Reef?", "answer": "Joss Alder"}]',
        source="main.py: main",
    ),
    _rule(
        "HR026 no-questions warning",
        summary="The file of questions has no question.",
        message="there is no question",
        upstream="the means over all questions divide by zero",
        hint="look at the step that wrote the file",
        bad="[]",
        good='[{"id": "q1", "question": "Who mapped Kettle Reef?", "answer": "Joss Alder"}]',
        source="main.py: main",
    ),
    _rule(
        "HR027 question-not-object error",
        summary="An element of the questions is not an object.",
        message="{value} is not a question",
        upstream="the run stops with TypeError",
        hint='write {"question": …, "answer": …}',
        bad='["Who mapped Kettle Reef?"]',
        good='[{"id": "q1", "question": "Who mapped Kettle Reef?", "answer": "Joss Alder"}]',
        source="main.py: main",
    ),
    _rule(
        "HR028 question-without-text error",
        summary="A question has no field question, or it is not a string.",
        message="question is {fault}",
        upstream="the run stops with KeyError, or when the query is embedded",
        hint="write the question as a string",
        bad='[{"id": "q1", "answer": "Joss Alder"}]',
        good='[{"id": "q1", "question": "Who mapped Kettle Reef?", "answer": "Joss Alder"}]',
        source="main.py: main",
    ),
    _rule(
        "HR030 unusable-passages error",
        summary="The passages of a question have another shape than that of the field they are in.",
        message="{field} is {value}, which is another shape",
        upstream="the run stops with TypeError or IndexError, or a letter is taken for a title",
        hint='supporting_facts are [title, sentence], context [title, [sentences]], paragraphs {"title": …, "text": …}',
        bad='"supporting_facts": ["Kettle Reef"]',
        good='"supporting_facts": [["Kettle Reef", 0]]',
    ),
    _rule(
        "HR031 unanswerable-question warning",
        summary="A question says that it cannot be answered.",
        message="answerable is false",
        upstream="the field is not read: the question is judged as any other",
        hint="leave the question out",
        bad='{"question": "Who mapped Kettle Reef?", "answer": "Joss Alder", "answerable": false}',
        good='{"question": "Who mapped Kettle Reef?", "answer": "Joss Alder", "answerable": true}',
        source="main.py: get_gold_answers",
    ),
    _rule(
        "HR032 aliases-not-list error",
        summary="answer_aliases is not a list of texts.",
        message="{value} is not a list of texts",
        upstream="null stops the run with TypeError; each letter of a text becomes an answer of its own",
        hint='write a list, [] where there are none: "answer_aliases": ["J. Alder"]',
        fix="safe: put the text into a list, write an empty list for null",
        bad='"answer_aliases": "J. Alder"',
        good='"answer_aliases": ["J. Alder"]',
        source="main.py: get_gold_answers",
    ),
    _rule(
        "HR033 sentence-out-of-range warning",
        summary="A supporting fact names a sentence that its paragraph does not have.",
        message="sentence {value} of {title}, which has {sentences}",
        upstream="the number is not read: the whole paragraph counts",
        hint="count the sentences from 0",
        bad='"supporting_facts": [["Kettle Reef", 1]], "context": [["Kettle Reef", ["Joss Alder mapped it."]]]',
        good='"supporting_facts": [["Kettle Reef", 0]], "context": [["Kettle Reef", ["Joss Alder mapped it."]]]',
    ),
    _rule(
        "HR034 hops-unlike-steps warning",
        summary="A MuSiQue question has more or fewer steps than the hops in its id.",
        message="{steps} steps in question_decomposition; its id says {hops} hops",
        upstream="the steps are not read",
        hint="write one step a hop",
        bad='"id": "2hop__1_2",\n'
        '"question_decomposition": [{"id": 1, "question": "Kettle Reef >> mapped by", "answer": '
        '"Joss Alder", "paragraph_support_idx": 0}]',
        good='"id": "2hop__1_2",\n'
        '"question_decomposition": [{"id": 1, "question": "Kettle Reef >> mapped by", "answer": '
        '"Joss Alder", "paragraph_support_idx": 0},\n'
        ' {"id": 2, "question": "#1 >> worked in", "answer": "Port Hale", '
        '"paragraph_support_idx": 1}]',
        source="main.py: get_gold_docs and get_gold_answers (neither reads question_decomposition)",
    ),
    _rule(
        "HR035 blank-answer warning",
        summary="The only answer of a question is an empty text.",
        message="the answer is empty",
        upstream="every answer counts as wrong, except an empty one",
        hint="write the answer; retrieval alone is evaluated without it",
        bad='{"question": "Who mapped Kettle Reef?", "answer": ""}',
        good='{"question": "Who mapped Kettle Reef?", "answer": "Joss Alder"}',
        source="main.py: get_gold_answers",
    ),
    _rule(
        "HR101 gold-passage-not-in-corpus error",
        summary="A passage that is to be found is not in the corpus, letter by letter.",
        message="no passage of the corpus has this title and this text{nearly}",
        upstream="it cannot be found: the recall of the question stays below 1",
        hint="copy title and text from the corpus; the sentences of hotpotqa sets are joined without a blank",
        bad='data/reefs.json: "title": "Kettle Reef", "text": "Joss Alder charted it.", '
        '"is_supporting": true\n'
        'data/reefs_corpus.json: "title": "Kettle Reef", "text": "Joss Alder mapped it."',
        good='data/reefs.json: "title": "Kettle Reef", "text": "Joss Alder mapped it.", '
        '"is_supporting": true\n'
        'data/reefs_corpus.json: "title": "Kettle Reef", "text": "Joss Alder mapped it."',
    ),
    _rule(
        "HR102 unknown-supporting-title error",
        summary="A supporting fact names a title that none of the question's contexts has.",
        message="no context is called {value}",
        upstream="the passage is silently not looked for",
        hint="write the title as it is in context",
        bad='"supporting_facts": [["Reef", 0]], "context": [["Kettle Reef", ["Joss Alder mapped it."]]]',
        good='"supporting_facts": [["Kettle Reef", 0]], "context": [["Kettle Reef", ["Joss Alder mapped it."]]]',
    ),
    _rule(
        "HR103 ambiguous-supporting-title warning",
        summary="Two contexts of one question have the title that a supporting fact names.",
        message="another context is called {value}, too",
        upstream="both are to be found",
        hint="give the contexts different titles, or leave out the one that does not support",
        bad='"supporting_facts": [["Kettle Reef", 0]],\n'
        '"context": [["Kettle Reef", ["Joss Alder mapped it."]], ["Kettle Reef", ["It lies '
        'north."]]]',
        good='"supporting_facts": [["Kettle Reef", 0]],\n'
        '"context": [["Kettle Reef", ["Joss Alder mapped it."]], ["Kettle Reef (north)", ["It '
        'lies north."]]]',
    ),
    _rule(
        "HR104 paragraph-not-in-corpus warning",
        summary="A paragraph of a question, not one that is to be found, is not in the corpus.",
        message="no passage of the corpus has this title and this text",
        upstream="nothing reads it: the corpus is easier to search than it was meant to be",
        hint="add the paragraph to the corpus",
        bad='reefs.json: "title": "Port Hale", "text": "Port Hale is a harbour.", "is_supporting": '
        "false\n"
        'reefs_corpus.json: [{"title": "Kettle Reef", "text": "Joss Alder mapped it."}]',
        good='reefs.json: "title": "Port Hale", "text": "Port Hale is a harbour.", "is_supporting": '
        "false\n"
        'reefs_corpus.json: [{"title": "Kettle Reef", "text": "Joss Alder mapped it."},\n'
        ' {"title": "Port Hale", "text": "Port Hale is a harbour."}]',
    ),
    _rule(
        "HR107 step-without-support error",
        summary="A step of question_decomposition points to no paragraph, or to one that is not supporting.",
        message="step {step}: {value} is not a supporting paragraph",
        upstream="the steps are not read; evaluation by step goes wrong",
        hint="paragraph_support_idx is the idx of the paragraph that answers the step",
        bad='"paragraphs": [{"idx": 0, "title": "Kettle Reef", "paragraph_text": "Joss Alder mapped '
        'it.", "is_supporting": true}],\n'
        '"question_decomposition": [{"id": 1, "question": "Kettle Reef >> mapped by", "answer": '
        '"Joss Alder", "paragraph_support_idx": 7}]',
        good='"paragraphs": [{"idx": 0, "title": "Kettle Reef", "paragraph_text": "Joss Alder mapped '
        'it.", "is_supporting": true}],\n'
        '"question_decomposition": [{"id": 1, "question": "Kettle Reef >> mapped by", "answer": '
        '"Joss Alder", "paragraph_support_idx": 0}]',
        source="main.py: get_gold_docs and get_gold_answers (neither reads question_decomposition)",
    ),
)
