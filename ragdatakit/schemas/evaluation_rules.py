"""The rules of an evaluation (``EV…``): what `ragdata eval` finds wrong in a dataset when it is searched.

They belong to no format: they hold for every dataset with questions and gold.
"""

from __future__ import annotations

from ragdatakit.schemas.declarations import Rule

LETTERS = "EV"

RULES: tuple[Rule, ...] = (
    Rule(
        code="EV101",
        name="gold-not-aligned",
        severity="error",
        summary=(
            "A run scores no better than it would with gold that was dealt to other questions: below 3 times that, "
            "or most questions find the gold of others first."
        ),
        message="your gold is not aligned with your questions: {told}",
        upstream="every metric is noise, whatever the retriever",
        hint=(
            "look how questions and judgements are joined: by the same ids? And are questions and passages in the same "
            "language?"
        ),
        bad="question 4 of the file has the number 8, and the judgements of question 4",
        good="the judgements name the number that the question has",
        source="ragdata eval's own check; the metrics are those of pytrec_eval (trec_eval)",
    ),
    Rule(
        code="EV102",
        name="below-minimum",
        severity="error",
        summary="A metric is below the value that `--min` asks for in every run.",
        message="{metric} is {told}, below the minimum of {minimum}",
        upstream="the check that was asked for fails",
        hint="look at the worst questions and at the ceiling, or lower the minimum",
        source="ragdata eval's own check; the metrics are those of pytrec_eval (trec_eval)",
    ),
    Rule(
        code="EV103",
        name="self-retrieval-low",
        severity="warning",
        summary="Less than 80 % of the passages are found first by their own first words.",
        message="in run {run}, only {share} of {count} passages are found first by their own first words",
        upstream="passages begin alike, or the analyzer does not cut their language into words",
        hint="look for a common header or navigation text in the passages; take `--analyzer ja` for Japanese",
        source="ragdata eval's own check; the metrics are those of pytrec_eval (trec_eval)",
    ),
    Rule(
        code="EV104",
        name="gold-perhaps-misjoined",
        severity="warning",
        summary=(
            "A run is better than chance, but most questions miss their gold, or many find none of it and share no "
            "term with it: part of the gold may belong to other questions."
        ),
        message="part of the gold may belong to other questions: {told}",
        upstream="gold that is partly wrong passes for better than chance, with metrics that are too low",
        hint=(
            "read some of the questions beside their gold (the worst ones, EV203): does it answer them? Where not, "
            "look how the two are joined; where it does, the dataset is hard for these runs"
        ),
        source="ragdata eval's own check; the metrics are those of pytrec_eval (trec_eval)",
    ),
    Rule(
        code="EV105",
        name="questions-without-term",
        severity="error",
        summary="Most questions have no term in the index, and no run is better than chance.",
        message="{number} of {judged} questions have no term in the index",
        upstream="a search by terms finds nothing, so the metrics say nothing of the gold",
        hint=(
            "are the questions in the language and the script of the passages? Take `--analyzer ja` for Japanese, "
            "`--stemmer` for other languages; questions in another language need dense vectors"
        ),
        source="ragdata eval's own check; the metrics are those of pytrec_eval (trec_eval)",
    ),
    Rule(
        code="EV106",
        name="no-gold-in-corpus",
        severity="error",
        summary="None of the gold is in the corpus.",
        message="none of the {number} gold {unit}s is in the corpus: gold names {gold}, the corpus has {there}",
        upstream="no retriever can find any of it",
        hint="compare the ids: are they written otherwise, or is this the corpus of another dataset?",
        source="ragdata eval's own check; the metrics are those of pytrec_eval (trec_eval)",
    ),
    Rule(
        code="EV201",
        name="gold-not-in-corpus",
        severity="error",
        summary="The gold names a document, chunk or node that is not in the corpus.",
        message="{unit} {target} is gold for {questions}, and not in the corpus",
        upstream="no retriever can find it",
        hint="add it to the corpus, correct its id, or take the judgement out",
        source="ragdata eval's own check; the metrics are those of pytrec_eval (trec_eval)",
    ),
    Rule(
        code="EV202",
        name="gold-without-text",
        severity="warning",
        summary="Gold that is in the corpus without a letter or digit in its title and text.",
        message="{unit} {target} is gold for {questions}, and has no text",
        upstream="no retriever can find it",
        hint="restore its text, or take the judgement out",
        source="ragdata eval's own check; the metrics are those of pytrec_eval (trec_eval)",
    ),
    Rule(
        code="EV203",
        name="gold-never-found",
        severity="warning",
        summary="Gold that is in the corpus and that no run finds, as deep as the runs go (100 results by default).",
        message=("question {question}: no run finds {what} in the first {depth} results ({targets})"),
        upstream="a reader of these results never sees it",
        hint="read the question beside the gold: does it answer, and in words that the question could lead to?",
        source="ragdata eval's own check; the metrics are those of pytrec_eval (trec_eval)",
    ),
    Rule(
        code="EV204",
        name="identical-texts-one-gold",
        severity="warning",
        summary="The text of a gold passage stands in the corpus under other ids, too, which are not gold.",
        message="{unit} {target}, gold for {questions}, has the same text as {others}, not gold there",
        upstream="no retriever can tell them apart, and a right answer counts as wrong",
        hint="remove the copies (`ragdata validate` finds them), or judge all of them",
        source="ragdata eval's own check; the metrics are those of pytrec_eval (trec_eval)",
    ),
    Rule(
        code="EV205",
        name="question-in-corpus",
        severity="warning",
        summary="The text of a question stands in the corpus as a passage of its own, which is not gold.",
        message="question {question} is itself a passage of the corpus ({others}), and not gold",
        upstream="it takes the first place of every search",
        hint="take it out of the corpus, or leave it out of the results",
        source="ragdata eval's own check; the metrics are those of pytrec_eval (trec_eval)",
    ),
    Rule(
        code="EV206",
        name="no-gold",
        severity="warning",
        summary="Questions without a judgement of what answers them (info where other questions have gold).",
        message="{number} of {questions} questions have no gold",
        upstream="they are left out of the metrics, and do not count as 0",
        hint="add judgements (qrels); with answers only, look at how often the answer stands in the first passages",
        source="ragdata eval's own check; the metrics are those of pytrec_eval (trec_eval)",
    ),
    Rule(
        code="EV207",
        name="judged-question-not-there",
        severity="warning",
        summary="Questions that are judged and do not stand among the questions of the dataset.",
        message="{number} of {judged} judged questions are not among the {questions} questions",
        upstream="they are left out of the metrics, which say nothing of them",
        hint="add the questions, or correct their ids in the judgements: do both files number them alike?",
        source="ragdata eval's own check; the metrics are those of pytrec_eval (trec_eval)",
    ),
    Rule(
        code="EV301",
        name="answer-not-in-gold",
        severity="warning",
        summary="A short answer of which a word stands in no gold passage of its question (yes, no and numbers aside).",
        message="question {question}: its answer {answer} stands in none of its gold {unit}s",
        upstream="a reader who is given the gold cannot answer from it",
        hint="check the answer and the gold; write other spellings of the answer as aliases",
        source="ragdata eval's own check; the metrics are those of pytrec_eval (trec_eval)",
    ),
    Rule(
        code="EV302",
        name="answered-by-duplicate-in-train",
        severity="warning",
        summary="A question of the evaluated split stands in train, too, with the same gold or answer.",
        message="question {question} stands in train as {others}, with the same {same}",
        upstream="a trained system has seen it, and scores better than it is",
        hint="take it out of one of the splits",
        source="ragdata eval's own check; the metrics are those of pytrec_eval (trec_eval)",
    ),
)
