"""The rules of quality (``QU…``): what a loader accepts silently, and what makes a dataset worse anyway.

They belong to no format and are looked for by `ragdata validate --quality` only. What they go by is in
`settings.thresholds`.
"""

from __future__ import annotations

from functools import partial

from ragdatakit.schemas.declarations import Rule

LETTERS = "QU"

_rule = partial(Rule, source="ragdata's own check of quality: no loader looks at it")

RULES: tuple[Rule, ...] = (
    _rule(
        "QU101 quality-not-checked warning",
        summary="The dataset could not be read as tables of texts, questions and edges, or a part of it could not.",
        message="not all of its quality could be checked: {part0}{part1}{part2}",
        upstream="what is wrong with the rest is not known",
        hint=(
            "see that the file can be read (`ragdata validate` without --select says what is wrong with it), or give "
            "the reader the `--option` that it asks for"
        ),
        bad="corpus.jsonl.gz: cut off in the middle",
        good="corpus.jsonl.gz: whole",
    ),
    _rule(
        "QU201 few-words-text warning",
        summary="A document or chunk with no word in its text, or with fewer than `least-words`.",
        message="the text of {table} {id} has {words}",
        upstream="it is retrieved for its title or by accident, and answers nothing",
        hint="take it out of the corpus, or fill in its text",
        bad='{"_id": "d7", "title": "Methods", "text": ""}',
        good='{"_id": "d7", "title": "Methods", "text": "We followed 120 patients for two years."}',
    ),
    _rule(
        "QU202 identical-texts warning",
        summary="Two documents or chunks with other ids and the same text (white space aside).",
        message="{table} {id} has the same text as {other}",
        upstream=(
            "a retriever finds both, and where one of them is gold the other counts as wrong; in training it is a "
            "negative that answers the question"
        ),
        hint="keep one of them and give it the judgements of both",
        bad=(
            '{"_id": "d1", "text": "Prune pear trees in late winter."}\n'
            '{"_id": "d8", "text": "Prune  pear trees in late winter."}'
        ),
        good='{"_id": "d1", "text": "Prune pear trees in late winter."}',
    ),
    _rule(
        "QU203 near-identical-texts warning",
        summary=(
            "Two documents or chunks that share `near-similarity` of their runs of 3 words, where one has but words "
            "more; `near-similarity-replaced` where each has a word that the other lacks. Texts of fewer than "
            "`near-words` words are not compared, nor those that differ by a number only."
        ),
        message="{table} {id} is {similarity} the same as {other}",
        upstream="results repeat themselves, and a copy of the gold counts as wrong",
        hint="keep the better one, or judge both; `--quality-option near-similarity=0.95` reports closer copies only",
        bad=(
            "d1: Prune pear trees in late winter, while they are dormant, with a sharp and clean saw.\n"
            "d8: Prune pear trees in late winter, while they are dormant, with a sharp and clean saw. Read more"
        ),
        good="d1: Prune pear trees in late winter, while they are dormant, with a sharp and clean saw.",
    ),
    _rule(
        "QU204 garbled-text warning",
        summary="Text that was decoded with a wrong encoding at some time, such as `worldâ€™s` for `world’s`.",
        message="{fragment} is garbled{repaired}",
        upstream="these words are found by no query, and a language model reads nonsense",
        hint="read the source again with its true encoding, or repair it with ftfy",
        bad='{"_id": "d1", "text": "the worldâ€™s largest study"}',
        good='{"_id": "d1", "text": "the world’s largest study"}',
    ),
    _rule(
        "QU205 control-character warning",
        summary=(
            "A control character in a text, one that turns the direction of the text after it (U+202D, U+202E), or "
            "U+FFFD, which stands for a character that was lost."
        ),
        message="the {what} is in the {field} of {table} {id}{more}{obeyed}",
        upstream="tokenizers see another word than was meant",
        hint="remove it, or put back the character that it stands for",
        bad='{"_id": "d1", "text": "Prune pear\\u0008 trees in late winter."}',
        good='{"_id": "d1", "text": "Prune pear trees in late winter."}',
    ),
    _rule(
        "QU206 over-token-budget warning",
        summary="A text of more tokens than `most-tokens`; tokens are words, CJK characters and punctuation marks.",
        message="the text of {table} {id} has {tokens:,} tokens, more than {most:,}",
        upstream="encoders cut it there, and nothing after it is ever found",
        hint="cut it into chunks (`ragdata convert --chunk-size`), or set `most-tokens` to what your encoder takes",
        bad="d1: a book of 90,000 tokens",
        good="d1#1, d1#2, …: its chunks of 400 tokens",
    ),
    _rule(
        "QU207 texts-cut-off warning",
        summary="Many documents or chunks have exactly the same length, and stop inside a sentence.",
        message="{what}, {id} first",
        upstream="what was cut off is in no text, and no question about it finds its answer",
        hint=(
            "take the texts from their source again, whole; `ragdata convert --chunk-size` cuts long ones into chunks, "
            "and loses nothing"
        ),
        bad="all 5,183 texts end after 300 characters: … was found in 12 of the 40 pat",
        good="… was found in 12 of the 40 patients.",
        since="0.2.0",
    ),
    _rule(
        "QU301 leaked-question warning",
        summary="A question of an evaluated split is also in the training split, with the same words.",
        message="question {id} of {split} is question {other} of {trained}",
        upstream="a system that was trained has seen it: its score says nothing about new questions",
        hint="take it out of one of the splits",
        bad="train: when to prune a pear tree\ntest: When to prune a pear tree?",
        good="train: when to prune a pear tree\ntest: which barge carries slate?",
    ),
    _rule(
        "QU302 nearly-leaked-question warning",
        summary=(
            "A question of an evaluated split shares most of its words (`question-similarity`) and its gold, or its "
            "answer, with one of the training split."
        ),
        message="question {id} of {split} shares {similarity} of its words, and its {same}, with {other} of {trained}",
        upstream="a system that was trained has seen nearly this question, and what answers it",
        hint="put paraphrases of one question into the same split",
        bad="train: when is it best to prune a pear tree → d1\ntest: when is it best to prune an old pear tree → d1",
        good="train: when is it best to prune a pear tree → d1\ntest: which barge carries slate? → d2",
    ),
    _rule(
        "QU303 shared-positives info",
        summary=(
            "Most questions of an evaluated split (`most-shared-positives`) have a positive that is one of training "
            "questions, too."
        ),
        message="{share} of the {questions:,} questions of {split} have a positive that {trained} has, too",
        upstream="a trained system may find it because it remembers it",
        hint="split by documents, if you want to know how new documents are found",
        bad="train: d1, d2, d3 are positives\ntest: d1, d2, d4 are positives",
        good="train: d1, d2, d3 are positives\ntest: d4, d5, d6 are positives",
    ),
    _rule(
        "QU304 answer-not-in-texts warning",
        summary="A short answer of which a word is in no gold text of its question (yes, no, numbers aside).",
        message="question {id}: its answer {answer} is not in its {texts}",
        upstream="who is given the gold cannot answer from it",
        hint="check the answer and the gold; give other spellings of the answer as aliases",
        bad='q1: which barge carries slate?   answer: Lena   gold: "The tug Osprey left at noon."',
        good='q1: which barge carries slate?   answer: Lena   gold: "The barge Lena carries slate."',
    ),
    _rule(
        "QU305 identical-questions warning",
        summary="Two questions of one split with other ids, the same words and other gold.",
        message="question {id} has the same words as {other}, and other gold",
        upstream="what is right for the one counts as wrong for the other",
        hint="make it one question with the gold of both, or say what makes them different",
        bad="q1: when to prune a pear tree → d1\nq9: When to prune a pear tree? → d4",
        good="q1: when to prune a pear tree → d1, d4",
    ),
    _rule(
        "QU306 uneven-splits warning",
        summary="A split has fewer questions than `least-split-questions`, or another `most-split-ratio` times more.",
        message="{split} has {questions}, and {other} {number:,}",
        upstream="a metric over so few questions is mostly chance",
        hint="split again, or report the metric with its confidence interval",
        bad="train: 8,000 questions   test: 3 questions",
        good="train: 8,000 questions   test: 800 questions",
    ),
    _rule(
        "QU401 negative-like-positive warning",
        summary="The negative of a triplet has the text of a positive of its question, under another id.",
        message="negative {id} of question {question} has the {same} of its positive {other}",
        upstream="training pushes the right text away",
        hint="take out the triplet, or mine negatives without copies of the positives",
        bad="positive d1: Prune pear trees in late winter.\nnegative d8: Prune pear trees in late winter.",
        good="positive d1: Prune pear trees in late winter.\nnegative d8: The barge Lena carries slate.",
    ),
    _rule(
        "QU501 hub-node warning",
        summary=(
            "A node of the graph that takes part in a great share of its edges (`most-hub-share`, and at least "
            "`least-hub-edges`), in many more than the mean of all nodes (`least-hub-ratio` times)."
        ),
        message="node {id} takes part in {edges:,} of {all:,} edges ({share})",
        upstream="walks and neighbourhoods all lead through it, and nothing near it tells questions apart",
        hint="take it out, make its edges more specific, or leave out edges to it when you build neighbourhoods",
        bad="source,relation,target\nosprey,mentions,thing\nlena,mentions,thing\n… 4,000 further edges to `thing`",
        good="source,relation,target\nosprey,tows,lena",
    ),
)
