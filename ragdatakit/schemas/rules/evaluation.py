"""The rules of an evaluation (``EV…``): what `ragdata eval` finds wrong in a dataset when it is searched.

They belong to no format: they hold for every dataset with questions and gold.
"""

from __future__ import annotations

from functools import partial

from ragdatakit.schemas.declarations import Rule

LETTERS = "EV"

_rule = partial(Rule, source="ragdata eval's own check; the metrics are those of pytrec_eval (trec_eval)")

RULES: tuple[Rule, ...] = (
    _rule(
        "EV101 gold-not-aligned error",
        summary=(
            "A run scores no better than it would with gold that was dealt to other questions: below 3 times that, "
            "or most questions find the gold of others first."
        ),
        message="your gold is not aligned with your questions: {reason}",
        upstream="every metric is noise, whatever the retriever",
        hint=(
            "look how questions and judgements are joined: by the same ids? And are questions and passages in the same "
            "language?"
        ),
        bad="question 4 of the file has the number 8, and the judgements of question 4",
        good="the judgements name the number that the question has",
    ),
    _rule(
        "EV102 below-minimum error",
        summary="A metric is below the value that `--min` asks for in every run.",
        message="{metric} is {reached}, below the minimum of {minimum}",
        upstream="the check that was asked for fails",
        hint="look at the worst questions and at the ceiling, or lower the minimum",
        bad="ragdata eval set/ --min ndcg@10=0.30   # the best run reaches 0.21",
        good="ragdata eval set/ --min ndcg@10=0.30   # the best run reaches 0.34",
    ),
    _rule(
        "EV103 self-retrieval-low warning",
        summary="Less than 80 % of the passages are found first by their own first words.",
        message="in run {run}, only {share} of {count} passages are found first by their own first words",
        upstream="passages begin alike, or the analyzer does not cut their language into words",
        hint=(
            "look for near copies (`ragdata validate --quality`, QU203), and for a common header or navigation text in "
            "the passages; take `--analyzer ja` for Japanese"
        ),
        bad=(
            "d1: Skip to content. Home. Search. The tug Osprey …\nd2: Skip to content. Home. Search. The barge Lena …"
        ),
        good="d1: The tug Osprey …\nd2: The barge Lena …",
    ),
    _rule(
        "EV104 gold-perhaps-misjoined warning",
        summary=(
            "A run is better than chance, but most questions miss their gold, or many find none of it and share no "
            "term with it: part of the gold may belong to other questions."
        ),
        message="{what}",
        upstream="gold that is partly wrong passes for better than chance, with metrics that are too low",
        hint=(
            "read some of the questions with their gold (the worst ones, EV203): does it answer them? Where not, "
            "look how the two are joined; where it does, the dataset is hard for these runs"
        ),
        bad='q7: when is high water?   gold: "Prune pear trees in late winter."',
        good='q7: when is high water?   gold: "The tide tables give high water for each harbour."',
    ),
    _rule(
        "EV105 questions-without-term error",
        summary="Most questions have no term in the index, and no run is better than chance.",
        message="{number} of {judged} questions have no term in the index",
        upstream="a search by terms finds nothing, so the metrics say nothing of the gold",
        hint=(
            "are the questions in the language and the script of the passages? Take `--analyzer ja` for Japanese, "
            "`--stemmer` for other languages; questions in another language need dense vectors"
        ),
        bad="q1: Wann schneidet man einen Birnbaum?   (all passages are in English)",
        good="q1: when to prune a pear tree   (all passages are in English)",
    ),
    _rule(
        "EV106 no-gold-in-corpus error",
        summary="None of the gold is in the corpus.",
        message="none of the {number} gold {unit}s is in the corpus: gold names {gold}, the corpus has {there}",
        upstream="no retriever can find any of it",
        hint="compare the ids: are they written otherwise, or is this the corpus of another dataset?",
        bad="corpus: doc_1, doc_2   gold: 1, 2",
        good="corpus: doc_1, doc_2   gold: doc_1, doc_2",
    ),
    _rule(
        "EV201 gold-not-in-corpus error",
        summary="The gold names a document, chunk or node that is not in the corpus.",
        message="{unit} {target} is gold for {questions}, and not in the corpus{alike}",
        upstream="no retriever can find it",
        hint="add it to the corpus, correct its id, or take the judgement out",
        bad="corpus: d1, d2   gold of q1: d9",
        good="corpus: d1, d2   gold of q1: d2",
    ),
    _rule(
        "EV202 gold-without-text warning",
        summary="Gold that is in the corpus without a letter or digit in its title and text.",
        message="{unit} {target} is gold for {questions}, and has no text",
        upstream="no retriever can find it",
        hint="restore its text, or take the judgement out",
        bad='{"_id": "d1", "title": "", "text": "…"}',
        good='{"_id": "d1", "title": "", "text": "Prune pear trees in late winter."}',
    ),
    _rule(
        "EV203 gold-never-found warning",
        summary="Gold that is in the corpus and that no run finds, as deep as the runs go (100 results by default).",
        message=("question {question}: no run finds {what} in the first {depth} results ({targets})"),
        upstream="a reader of these results never sees it",
        hint="read the question with the gold: does it answer, and in words that the question could lead to?",
        bad='q1: when to cut fruit trees   gold: "Dormant wood tolerates the saw."',
        good='q1: when to prune a pear tree   gold: "Prune pear trees in late winter."',
    ),
    _rule(
        "EV204 identical-texts-one-gold warning",
        summary=(
            "The text of a gold passage is also in the corpus under other ids, which are not gold; where ten or "
            "more have it, theirs were perhaps lost."
        ),
        message="{what}",
        upstream="no retriever can distinguish them, and a right answer counts as wrong",
        hint="remove the copies (`ragdata validate` finds them), or judge all of them",
        bad="d1: Prune pear trees in late winter.   (gold)\nd8: Prune pear trees in late winter.   (not judged)",
        good="d1: Prune pear trees in late winter.   (gold)\nd8: The barge Lena carries slate.   (not judged)",
    ),
    _rule(
        "EV205 question-in-corpus warning",
        summary="The text of a question is itself a passage of the corpus, which is not gold.",
        message="question {question} is itself a passage of the corpus ({others}), and not gold",
        upstream="it takes the first place of every search",
        hint="take it out of the corpus, or leave it out of the results",
        bad="q1: when to prune a pear tree\nd8: When to prune a pear tree?",
        good="q1: when to prune a pear tree\nd8: The barge Lena carries slate.",
    ),
    _rule(
        "EV206 no-gold warning",
        summary="Questions without a judgement of what answers them (info where other questions have gold).",
        message="{number} of {questions} questions have no gold",
        upstream="they are left out of the metrics, and do not count as 0",
        hint="add judgements (qrels); with answers only, look at how often the answer is in the first passages",
        bad="queries: q1, q2   judged: q1",
        good="queries: q1, q2   judged: q1, q2",
    ),
    _rule(
        "EV207 judged-question-not-there warning",
        summary="Questions that are judged and are not among the questions of the dataset.",
        message="{number} of {judged} judged questions are not among the {questions} questions",
        upstream="they are left out of the metrics, which say nothing of them",
        hint="add the questions, or correct their ids in the judgements: do both files number them alike?",
        bad="queries: q1, q2   judged: q1, q2, q3",
        good="queries: q1, q2   judged: q1, q2",
    ),
    _rule(
        "EV208 near-copy-above-gold warning",
        summary="A passage that has nearly the text of the gold is found above it, and is not gold.",
        message="{unit} {target} is gold for question {question}: {copy}",
        upstream="the near copy takes its place, and a right answer counts as wrong or late",
        hint="read both: where the other answers the question, too, judge it; where it is but a copy, remove it",
        bad="d8: Prune pear trees in late winter. (Updated.)   (first)\nd1: Prune pear trees in late winter.   (gold)",
        good="d1: Prune pear trees in late winter.   (gold)\nd8: The barge Lena carries slate.   (not judged)",
        since="0.2.0",
    ),
    _rule(
        "EV209 gold-cut-off warning",
        summary="Many passages have exactly the same length, and stop inside a sentence.",
        message="{what}",
        upstream="what was cut off is in no passage: a question about it misses its gold",
        hint=(
            "take the texts from their source again, whole; `ragdata convert --chunk-size` cuts long ones into chunks, "
            "and loses nothing"
        ),
        bad="all 5,183 texts end after 300 characters: … was found in 12 of the 40 pat",
        good="… was found in 12 of the 40 patients.",
        since="0.2.0",
    ),
    _rule(
        "EV301 answer-not-in-gold warning",
        summary="A short answer of which a word is in no gold passage of its question (yes, no and numbers aside).",
        message="question {question}: its answer {answer} is in none of its gold {unit}s",
        upstream="a reader who is given the gold cannot answer from it",
        hint="check the answer and the gold; write other spellings of the answer as aliases",
        bad='q1: which barge carries slate?   answer: Lena   gold: "The tug Osprey left at noon."',
        good='q1: which barge carries slate?   answer: Lena   gold: "The barge Lena carries slate."',
    ),
    _rule(
        "EV302 answered-by-duplicate-in-train warning",
        summary="A question of the evaluated split is also in train, with the same gold or answer.",
        message="question {question} is also in train as {others}, with the same {same}",
        upstream="a trained system has seen it, and scores better than it is",
        hint="take it out of one of the splits",
        bad="train: when to prune a pear tree → d1\ntest: When to prune a pear tree? → d1",
        good="train: when to prune a pear tree → d1\ntest: which barge carries slate? → d2",
    ),
)
