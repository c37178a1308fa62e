"""HippoRAG data judged: as HippoRAG itself took it, the published samples, and what files say about each other."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ragdatakit import validate
from ragdatakit.files.hipporag.passages import gold_answers, joiner_of, paragraphs_of, passage_id, set_of_results
from ragdatakit.schemas import find_rules
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.validators import dataset_run
from ragdatakit.validators.hipporag.questions import question_problems
from tests.command_line import FIXTURES
from tests.hipporag_oracle import CASES, VERDICTS
from tests.upstream_data import UPSTREAM_DATA

VERDICT = json.loads(VERDICTS.read_text(encoding="utf-8"))
PASSAGES = [
    {"title": "Kettle Reef", "text": "Joss Alder mapped it. It lies north."},
    {"title": "Port Hale", "text": "A harbour."},
]


def rules(path: Path, **options: Any) -> Counter[str]:
    by_code = validate(path, max_per_rule=1, **options).by_rule
    return Counter({find_rules(code)[0][0].name: number for code, number in by_code.items()})


def write(folder: Path, **files: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in files.items():
        (folder / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", CASES)
def test_passages_and_answers_are_those_that_hipporag_finds(name: str) -> None:
    data_set, sample = CASES[name]
    shown = VERDICT[name]
    severe = {p.rule for p in question_problems(sample, joiner_of(data_set), None)}

    found = sorted({p.passage for p in paragraphs_of(sample, joiner_of(data_set)) if p.supporting})
    if isinstance(shown["passages"], list) and "unusable-passages" not in severe:
        assert found == shown["passages"]
    answers = gold_answers(sample).answers
    aliases = sample.get("answer_aliases", [])
    if isinstance(shown["answers"], list) and isinstance(aliases, list):
        assert answers is not None
        assert sorted({*answers, *aliases}) == shown["answers"]


STOPPED = {
    "question-without-passages",
    "incomplete-paragraph",
    "unusable-passages",
    "question-without-answer",
    "answer-not-text",
    "aliases-not-list",
}
ALSO_TOLD = {
    "titles as facts": "a letter is taken for a title, and no passage is to be found",
    "sentences as one text": "its letters are joined by blanks",
    "no answers in a list": "judging the answers stops, later",
    "aliases a text": "its letters become answers",
}
"""Cases in which the two functions do not stop, and that are faults all the same."""


@pytest.mark.parametrize("name", CASES)
def test_what_stops_hipporag_is_reported(name: str, tmp_path: Path) -> None:
    data_set, sample = CASES[name]
    path = tmp_path / f"{data_set}.json"
    path.write_text(json.dumps([sample]), encoding="utf-8")

    stopped = any(isinstance(outcome, str) for outcome in VERDICT[name].values())

    assert bool(rules(path, format="hipporag").keys() & STOPPED) == (stopped or name in ALSO_TOLD)


def test_the_joiner_is_that_of_the_name() -> None:
    assert [joiner_of(n) for n in ("hotpotqa", "hotpotqa_train", "2wiki", "my_hotpotqa")] == ["", "", " ", " "]


def test_the_id_of_a_passage_is_that_of_hipporag() -> None:
    assert passage_id("Kettle Reef\nJoss Alder mapped it. It lies north.") == "chunk-fa16c5145a9fa08916b378638849040e"


@pytest.mark.parametrize(
    ("file", "sets", "expected"),
    [
        ("openie_results_ner_small.json", ["reefs"], "reefs"),
        ("openie_results_ner_small.json", ["reefs", "bays"], None),
        ("outputs/bays/openie_results_ner_small.json", ["reefs", "bays"], "bays"),
        ("openie_reefs_train_results_ner_small_9.json", ["reefs", "reefs_train"], "reefs_train"),
        ("openie_bays_results_ner_small_9.json", ["reefs"], None),
    ],
)
def test_results_belong_to_a_data_set(file: str, sets: list[str], expected: str | None) -> None:
    assert set_of_results(file, sets) == expected


def test_each_data_set_of_a_folder_is_compared_with_its_own_corpus(tmp_path: Path) -> None:
    question = {"id": "q1", "question": "?", "answer": "x", "paragraphs": [{**PASSAGES[0], "is_supporting": True}]}
    write(tmp_path, reefs_corpus=PASSAGES, reefs=[question], bays_corpus=PASSAGES[1:], bays=[question])

    (finding,) = validate(tmp_path).findings

    assert (finding.rule, Path(finding.path).name) == ("gold-passage-not-in-corpus", "bays.json")


@pytest.mark.parametrize("broken", [{"title": "Kettle Reef"}, {"title": 7, "text": "x"}, 7])
def test_one_unusable_passage_hides_no_missing_one(broken: Any, tmp_path: Path) -> None:
    question = {"id": "q1", "question": "?", "answer": "x", "paragraphs": [{**PASSAGES[0], "is_supporting": True}]}
    write(tmp_path, reefs_corpus=[PASSAGES[1], broken], reefs=[question])

    found = {f.rule: f for f in validate(tmp_path).findings}

    unusable = found.keys() & {"unusable-passage", "passage-not-object"}
    assert found.keys() == {*unusable, "gold-passage-not-in-corpus", "unreliable-key"}
    assert [found[rule].line for rule in unusable] == [found["unreliable-key"].line]


def test_an_unusable_passage_is_reported_alone_where_every_passage_is_found(tmp_path: Path) -> None:
    question = {"id": "q1", "question": "?", "answer": "x", "paragraphs": [{**PASSAGES[0], "is_supporting": True}]}
    write(tmp_path, reefs_corpus=[*PASSAGES, {"title": "Kettle Reef"}], reefs=[question])

    assert rules(tmp_path) == {"unusable-passage": 1}


def test_unusable_results_are_shown_at_their_field_or_at_the_passage_that_lacks_it(tmp_path: Path) -> None:
    docs = [{"idx": passage_id("a\nb"), "passage": "a\nb", "extracted_entities": None}]
    write(tmp_path, reefs_corpus=[{"title": "a", "text": "b"}], openie_reefs_results_ner_small={"docs": docs})

    found = validate(tmp_path, select="unusable-results").findings

    assert {f.pointer for f in found} == {"/docs/0/extracted_entities", "/docs/0"}


def test_a_corpus_that_is_cut_off_is_compared_with_nothing(tmp_path: Path) -> None:
    question = {"id": "q1", "question": "?", "answer": "x", "paragraphs": [{**PASSAGES[0], "is_supporting": True}]}
    write(tmp_path, reefs_corpus=PASSAGES[1:], reefs=[question])
    corpus = tmp_path / "reefs_corpus.json"
    corpus.write_text(corpus.read_text().rstrip().removesuffix("]"))

    assert rules(tmp_path).keys() == {"corpus-not-json", "unchecked-references"}


@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize("name", ["reefs", "openie_reefs_results_ner_small"])
def test_nothing_is_unchecked_where_nothing_can_be_compared(
    name: str, big: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if big:
        monkeypatch.setattr(dataset_run, "SMALL_DATASET", -1)
    write(tmp_path, reefs_corpus=PASSAGES)
    for file, text in (("reefs_corpus", '[{"title"'), (name, '{"docs": [' if "openie" in name else "[{]")):
        (tmp_path / f"{file}.json").write_text(text)

    assert "unchecked-references" not in rules(tmp_path, format="hipporag")


def test_questions_of_any_look_are_those_of_the_corpus_of_their_name(tmp_path: Path) -> None:
    write(tmp_path, reefs_corpus=PASSAGES, reefs=[{"id": "q1", "question": "?", "answer": "x", "evidence": ""}])

    report = validate(tmp_path)

    assert [(d.format, [f.kind for f in d.files]) for d in report.datasets] == [("hipporag", ["corpus", "questions"])]
    assert [f.rule for f in report.findings] == ["question-without-passages"]


def test_a_folder_of_another_format_stays_one(tmp_path: Path) -> None:
    write(tmp_path / "arag", chunks=["0:A chunk."], questions=[{"id": "s1", "question": "?", "answer": "x"}])
    raw = {"id": "h1", "question": "?", "answer": "x", "supporting_facts": ["Log"]}
    write(tmp_path / "gfm" / "raw", dataset_corpus={"Log": "A text."}, test=[raw])

    assert {d.format for d in validate(tmp_path).datasets} == {"arag", "gfm-rag"}


def test_docs_of_no_hipporag_folder_are_not_taken(tmp_path: Path) -> None:
    with pytest.raises(RagdataError, match="no dataset"):
        validate(write(tmp_path, index={"docs": [1, 2]}))


def test_both_engines_say_the_same_of_many_passages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = [{"title": f"Reef {i % 400}", "text": f"Number {i % 390}.", "idx": i} for i in range(800)]
    questions = [
        {"id": i % 90, "question": "?", "answer": "x", "paragraphs": [{**corpus[i], "is_supporting": i % 3 == 0}]}
        for i in range(0, 800, 7)
    ]
    write(tmp_path, reefs_corpus=corpus, reefs=questions)
    plain = validate(tmp_path, max_per_rule=0).as_dict()

    monkeypatch.setattr(dataset_run, "SMALL_DATASET", -1)

    assert validate(tmp_path, max_per_rule=0).as_dict() == plain
    assert len({f["rule"] for f in plain["findings"]}) == 2  # ids that stand twice, questions without a passage


def upstream(*parts: str) -> Path:
    path = UPSTREAM_DATA.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{path} is not there")
    return path


def test_the_published_sample() -> None:
    folder = upstream("hipporag")

    report = validate(folder / "sample_corpus.json")

    assert [f.rule for f in report.findings] == []
    assert [d.format for d in report.datasets] == ["hipporag"]


def test_the_published_training_sample_of_musique() -> None:
    """The figures are those counted by hand: 185 triples are no triples, 30 stand twice, 20 are loops."""
    found = rules(upstream("hipporag", "musique-cc-by-4.0"))

    assert found == {
        "triple-not-three": 185,
        "repeated-triple": 30,
        "self-loop": 20,
        "vanishing-name": 1,
        "non-finite-number": 2,
        "entity-not-extracted": 1,
    }


def test_a_blank_more_is_another_passage(tmp_path: Path) -> None:
    folder = upstream("hipporag", "musique-cc-by-4.0")
    for name in ("musique_train.json", "musique_train_corpus.json"):
        shutil.copyfile(folder / name, tmp_path / name)
    questions = json.loads((tmp_path / "musique_train.json").read_text(encoding="utf-8"))
    gold = next(p for p in questions[3]["paragraphs"] if p["is_supporting"])
    gold["paragraph_text"] += " "
    (tmp_path / "musique_train.json").write_text(json.dumps(questions), encoding="utf-8")

    assert rules(tmp_path) == {"gold-passage-not-in-corpus": 1}


def test_a_gold_passage_that_differs_in_blanks_only_is_said_to_do_so() -> None:
    (finding,) = validate(FIXTURES / "hipporag" / "broken" / "gold-passage-not-in-corpus" / "data").findings
    assert finding.fault.endswith("; it has one that differs from it in blanks only")
