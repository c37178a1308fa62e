"""Public knowledge graphs and questions as GFM-RAG datasets: what is expected of them is found out by other means."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import ragdatakit
from ragdatakit.schemas.results import Report
from tests.stage1_sets import (
    MENTION,
    Stage1,
    Triple,
    article,
    graph_of,
    held_out_questions,
    knowledge_graph,
    load_with_pandas,
    looks_like_a_number,
    names_of,
    path_questions,
    pieces,
    question,
    read_triples,
    within,
)
from tests.upstream_data import UPSTREAM_DATA, needs

GRAPHS = ("umls", "kinships", "nations", "codex-s")

needs_graphs = needs("kg-triples-small")
needs_questions = needs("pathquestion")


def check(root: Path, profile: str = "", **words: Any) -> Report:
    return ragdatakit.validate(root, format="gfm-rag", profile=profile, max_per_rule=0, **words)


def rules(report: Report, *severities: str) -> Counter[str]:
    """How often each rule is broken; all severities, or those named."""
    return Counter(f.rule for f in report.findings if not severities or f.severity in severities)


def serious(report: Report) -> Counter[str]:
    """The same without what is only worth knowing."""
    return rules(report, "error", "warning")


def reported(report: Report, rule: str) -> str:
    """The message of the one finding of this rule."""
    (message,) = [f.message for f in report.findings if f.rule == rule]
    return message


# Graphs alone


@needs_graphs
@pytest.mark.parametrize("profile", ["", "reasoner", "gfm-rag"])
@pytest.mark.parametrize("name", GRAPHS)
def test_a_public_graph_is_sound_for_both_loaders(name: str, profile: str, tmp_path: Path) -> None:
    made = graph_of(knowledge_graph(name).triples)
    root = made.write(tmp_path / name)

    report = check(root, profile)

    assert serious(report) == {}
    assert {f.kind: f.records for d in report.datasets for f in d.files} == {
        "built-documents": len(made.documents),
        "nodes": len(made.nodes),
        "relations": len(made.relations),
        "edges": len(made.edges),
    }
    assert load_with_pandas(root)[1:] == (len(made.edges), 0)


@needs_graphs
@pytest.mark.parametrize("name", GRAPHS)
def test_the_same_graph_by_each_way_in(name: str, tmp_path: Path) -> None:
    root = graph_of(knowledge_graph(name).triples).write(tmp_path / name)

    for way in ("processed", "processed/stage1"):  # the folder itself: see above
        assert serious(check(root / way)) == {}, way


@needs_graphs
def test_types_of_wikidata_leave_the_entity_loader_without_entities(tmp_path: Path) -> None:
    types = json.loads((UPSTREAM_DATA / "kg-triples-small/codex-s/entity2types.json").read_text(encoding="utf-8"))
    labels = json.loads((UPSTREAM_DATA / "kg-triples-small/codex-s/types.en.json").read_text(encoding="utf-8"))
    made = graph_of(knowledge_graph("codex-s").triples, lambda name: labels[types[name][0]]["label"])
    root = made.write(tmp_path / "codex-s")

    assert "entity" not in {kind for _, kind, _ in made.nodes}
    assert rules(check(root, "reasoner"), "error") == {}
    assert "no-entity-node" in rules(check(root, "gfm-rag"), "error")
    assert "no-entity-node" in rules(check(root), "warning")


# Endpoints that are missing


@needs_graphs
@pytest.mark.parametrize("name", GRAPHS)
def test_edges_of_nodes_that_were_left_out(name: str, tmp_path: Path) -> None:
    made = graph_of(knowledge_graph(name).triples)
    gone = {n for n, kind, _ in made.nodes[::7] if kind == "entity"}
    made.nodes = [node for node in made.nodes if node[0] not in gone]
    root = made.write(tmp_path / name)
    ends = [end for head, _, tail in made.edges for end in (head, tail) if end in gone]

    report = check(root)

    assert load_with_pandas(root).dropped == sum(h in gone or t in gone for h, _, t in made.edges)
    assert rules(report, "error") == {"dangling-endpoint": len(ends)}
    assert [f.value for f in report.findings if f.rule == "dangling-endpoint"] == ends


@needs_graphs
def test_relations_that_were_left_out(tmp_path: Path) -> None:
    made = graph_of(knowledge_graph("umls").triples)
    gone = set(made.relations[::9])
    made.relations = [relation for relation in made.relations if relation not in gone]
    root = made.write(tmp_path / "umls")
    lines = [line for line, (_, relation, _) in enumerate(made.edges, 2) if relation in gone]

    report = check(root)

    assert rules(report, "error") == {"dangling-relation": len(lines)}
    assert [f.line for f in report.findings if f.rule == "dangling-relation"] == lines
    assert load_with_pandas(root).dropped == len(lines)


# Questions


@needs_graphs
@pytest.mark.parametrize("name", GRAPHS)
def test_held_out_triples_as_questions(name: str, tmp_path: Path) -> None:
    parts = knowledge_graph(name)
    made = graph_of(parts.train)
    # Some heads stand in held-out triples only as tails of others: they have no document.
    train, test = (
        [q for q in held_out_questions(part, prefix) if q["supporting_documents"][0] in made.documents]
        for part, prefix in ((parts.valid, "v"), (parts.test, "t"))
    )
    made.questions = {"train.json": train, "test.json": test}
    both = {q["question"] for q in train} & {q["question"] for q in test}

    report = check(made.write(tmp_path / name))

    assert both
    assert serious(report) == {"question-in-train-and-test": len(both)}


@needs_graphs
@pytest.mark.parametrize("name", GRAPHS)
def test_targets_further_away_than_that_cannot_be_reached(name: str, tmp_path: Path) -> None:
    parts = knowledge_graph(name)
    made = graph_of(parts.train)
    # Only the answers are targets: the document about the head is one step from it.
    made.questions["test.json"] = [
        q | {"target_nodes": {"entity": q["target_nodes"]["entity"]}} for q in held_out_questions(parts.test, "t")
    ]
    root = made.write(tmp_path / name)

    for hops in (1, 2, 3):
        expected = out_of_reach(made, hops)
        found = rules(check(root, max_hops=hops))
        assert (found["unreachable-targets"], found["partly-unreachable-targets"]) == expected, hops


def out_of_reach(made: Stage1, hops: int) -> tuple[int, int]:
    """How many questions have no target within so many steps, and how many have some and lack others."""
    near = within(made.edges, hops, {q["start_nodes"]["entity"][0] for q in made.questions["test.json"]})
    none = some = 0
    for record in made.questions["test.json"]:
        (start,) = record["start_nodes"]["entity"]
        far = [target not in near[start] for target in record["target_nodes"]["entity"]]
        none += all(far)
        some += any(far) and not all(far)
    return none, some


@pytest.fixture(scope="module")
def path_graph() -> Stage1:
    made = graph_of(read_triples(UPSTREAM_DATA / "pathquestion/2H-kb.txt"))
    made.questions["test.json"] = [
        question(f"pq-{number}", q.text, q.subject, q.answers, q.documents) for number, q in enumerate(path_questions())
    ]
    return made


@needs_questions
def test_every_answer_of_path_questions_is_two_steps_away(path_graph: Stage1, tmp_path: Path) -> None:
    root = path_graph.write(tmp_path / "pq-2h")
    assert out_of_reach(path_graph, 2) == (0, 0)

    report = check(root, max_hops=2)

    assert rules(report, "error") == {}
    assert rules(report)["unreachable-targets"] == rules(report)["partly-unreachable-targets"] == 0
    assert rules(check(root))["unreachable-targets"] == 0


@needs_questions
def test_most_answers_of_path_questions_are_not_one_step_away(path_graph: Stage1, tmp_path: Path) -> None:
    report = check(path_graph.write(tmp_path / "pq-2h"), max_hops=1)

    assert (rules(report)["unreachable-targets"], rules(report)["partly-unreachable-targets"]) == (
        out_of_reach(path_graph, 1)
    )
    assert out_of_reach(path_graph, 1)[0] > 1600


@needs_questions
def test_the_rest_of_what_is_said_of_path_questions(path_graph: Stage1, tmp_path: Path) -> None:
    report = check(path_graph.write(tmp_path / "pq-2h"))
    parts = pieces(path_graph.edges)

    assert serious(report) == {"disconnected-graph": 1, "no-document-target": 1}
    assert f" {len(parts)} parts" in reported(report, "disconnected-graph")
    assert f" {len(path_questions()):,} records" in reported(report, "no-document-target")
    assert rules(report, "info")["self-loop"] == 1


@needs_questions
def test_answers_in_another_piece_of_the_graph_are_never_reached(path_graph: Stage1, tmp_path: Path) -> None:
    elsewhere = min(pieces(path_graph.edges)[1])
    made = Stage1(path_graph.nodes, path_graph.relations, path_graph.edges, path_graph.documents)
    subjects = sorted({q.subject for q in path_questions()})
    made.questions["test.json"] = [
        question(f"q-{n}", f"Who stands apart from {subject}?", subject, [elsewhere], [article(subject)])
        for n, subject in enumerate(subjects)
    ]

    report = check(made.write(tmp_path / "pq-2h"), max_hops=64)

    near = within(path_graph.edges, 64, subjects)
    apart = [subject for subject in subjects if elsewhere not in near[subject]]
    assert rules(report)["unreachable-targets"] == len(apart) > 100


# Names that pandas reads as something else


def renamed(triples: Sequence[Triple], name: Callable[[str], str], relation: Callable[[str], str]) -> list[Triple]:
    return [(name(h), relation(r), name(t)) for h, r, t in triples]


def bare_graph(triples: Sequence[Triple]) -> Stage1:
    """Entities only, no documents."""
    made = graph_of(triples)
    entities = [node for node in made.nodes if node[1] == "entity"]
    return Stage1(entities, [r for r in made.relations if r != MENTION], list(triples))


@needs_graphs
def test_numbered_persons_and_terms_turn_into_numbers(tmp_path: Path) -> None:
    digits = [
        (h[6:], r[4:], t[6:]) for h, r, t in knowledge_graph("kinships").triples
    ]  # "person84" "term21" "person85"
    root = bare_graph(digits).write(tmp_path / "kinships")

    report = check(root, "reasoner")

    assert rules(report, "error") == {"nodes-all-numeric": 1, "relations-all-numeric": 1, "no-document-node": 1}
    assert load_with_pandas(root).dropped == 0


@needs_graphs
def test_numbers_with_leading_zeros_are_not_found_again(tmp_path: Path) -> None:
    padded = renamed(knowledge_graph("kinships").triples, lambda name: f"{int(name[6:]):03}", str)
    made = bare_graph(padded)
    made.questions["test.json"] = [
        question(f"k{n}", f"Whose {r}?", h, [t], []) for n, (h, r, t) in enumerate(padded[:50])
    ]
    root = made.write(tmp_path / "kinships")
    names = set(load_with_pandas(root).names)

    report = check(root, "reasoner")

    lost = [q for q in made.questions["test.json"] if q["start_nodes"]["entity"][0] not in names]
    no_target = [q for q in made.questions["test.json"] if q["target_nodes"]["entity"][0] not in names]
    assert len(lost) > 10
    assert all(q in lost or q in no_target for q in made.questions["test.json"])
    assert rules(report, "error") == {
        "nodes-all-numeric": 1,
        "no-document-node": 1,
        "no-known-start-node": len(lost),
        "no-known-target-node": len(no_target),
        "no-usable-sample": 1,
        "empty-supporting-documents": 50,
    }


@needs_graphs
def test_numbers_for_names_beside_titles_lose_every_edge(tmp_path: Path) -> None:
    wikidata = renamed(knowledge_graph("codex-s").triples, lambda name: name[1:], str)  # Q42: 42
    made = graph_of(wikidata)
    root = made.write(tmp_path / "codex-s")
    assert load_with_pandas(root)[1:] == (0, len(made.edges))

    found = rules(check(root), "error")

    assert {"kind-mismatch", "no-usable-edge"} <= set(found)
    assert set(found) <= {"kind-mismatch", "no-usable-edge", "dangling-endpoint"}


@needs_questions
def test_names_with_commas_quotes_numbers_and_letters_of_many_alphabets(tmp_path: Path) -> None:
    triples = read_triples(UPSTREAM_DATA / "pathquestion/PQL2-KB.txt")
    made = graph_of(triples)
    root = made.write(tmp_path / "pql")
    names = names_of(triples)
    assert sum("," in name for name in names) > 20
    assert sum(not name.isascii() for name in names) > 100
    assert len(looks_like_a_number(names)) > 10

    report = check(root)

    assert load_with_pandas(root)[1:] == (len(made.edges), 0)
    assert rules(report, "error") == {}
    assert rules(report)["self-loop"] == 1  # told once per file
    assert f"{sum(h == t for h, _, t in made.edges)} " in reported(report, "self-loop")
    assert f" {len(pieces(made.edges)):,} parts" in reported(report, "disconnected-graph")
    assert rules(report)["name-variant"] >= sum(n > 1 for n in Counter(name.lower() for name in names).values())


@needs_questions
def test_a_column_of_years_alone_loses_its_edges(tmp_path: Path) -> None:
    triples = read_triples(UPSTREAM_DATA / "pathquestion/PQL2-KB.txt")
    numbers = set(looks_like_a_number(names_of(triples)))
    chosen = [(h, r, t) for h, r, t in triples if t in numbers and h not in numbers]
    made = bare_graph(chosen)
    made.nodes.append((article("years"), "document", json.dumps({"content": "Years and other numbers."})))
    made.documents = {article("years"): "Years and other numbers."}
    root = made.write(tmp_path / "years")
    assert chosen
    assert load_with_pandas(root).kept == 0

    report = check(root, "reasoner")

    assert {"kind-mismatch", "no-usable-edge"} <= set(rules(report, "error"))
    assert [f.pointer for f in report.findings if f.rule == "kind-mismatch"] == ["/target"]
