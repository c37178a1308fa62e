"""The numbers of a report, computed with pandas and plain Python from the rows of a reader: not as ragdata does it."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from typing import Any

import pandas as pd
import pytest

from ragdatakit.database.dataset_database import DatasetDatabase
from ragdatakit.files.texts import plain_tokens
from ragdatakit.schemas.canonical import TABLES
from ragdatakit.schemas.summaries import Distribution

Key = tuple[str, str | None]
TEXTS = ("documents", "chunks", "questions", "summaries", "answers", "runs")
FREQUENCIES = (
    ("chunks", "modality"), ("nodes", "type"), ("edges", "relation"), ("qrels", "grade"), ("qrels", "target_kind"),
    ("qrels", "node_type"), ("start_nodes", "node_type"), ("summaries", "level"), ("runs", "stage"), ("assets", "kind"),
)  # fmt: skip


def frames_of(dataset: DatasetDatabase) -> dict[str, pd.DataFrame]:
    """Tables with rows as frames of Python's objects; half characters as the database has them."""
    found = {}
    for table in dataset.tables:
        rows = [tuple(map(_whole, row)) for row in dataset.rows(table)]
        if rows:
            found[table] = pd.DataFrame(rows, columns=list(TABLES[table].columns), dtype=object)
    return found


def _whole(value: Any) -> Any:
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if isinstance(value, str) else value


def distributions(frames: dict[str, pd.DataFrame]) -> dict[Key, pd.Series]:
    """All values behind each distribution, by its name and what it is of."""
    found: dict[Key, pd.Series] = {}
    for table in TEXTS:
        if table in frames:
            frame = frames[table]
            add_lengths(found, frame["text"], f"{table}.text")
            by = {"questions": "split", "runs": "stage"}.get(table)
            parts = list(frame[by].dropna().unique()) if by else []
            for part in parts if by == "stage" or len(parts) > 1 else ():
                add_lengths(found, frame.loc[frame[by] == part, "text"], f"{table}.text", part)
    add_shapes(found, frames)
    add_per_question(found, frames)
    if "runs" in frames:
        add_stages(found, frames["runs"])
    return found


def add_shapes(found: dict[Key, pd.Series], frames: dict[str, pd.DataFrame]) -> None:
    for table, column in (("questions", "answer"), ("chunks", "context"), ("answers", "prompt")):
        if table in frames:
            add_lengths(found, frames[table][column], f"{table}.{column}")
    if "questions" in frames:
        questions = frames["questions"]
        answers = questions["aliases"].map(len) + questions["answer"].notna()
        add(found, answers[answers > 0], "questions.answers")
    if "chunks" in frames:
        add(found, frames["chunks"].groupby("doc_id").size(), "chunks.per_document")
    if "summaries" in frames:
        add(found, frames["summaries"]["children"].map(len), "summaries.children")
    if "pair_scores" in frames:
        add(found, frames["pair_scores"]["score"], "pair_scores.score")
        add(found, frames["pair_scores"].groupby("question_id").size(), "pair_scores.per_question")
    if "start_nodes" in frames:
        add(found, frames["start_nodes"].groupby("question_id").size(), "start_nodes.per_question")
    if "edges" in frames:
        edges = frames["edges"]
        add(found, edges["confidence"], "edges.confidence")
        add(found, pd.Series(degrees(frames)), "nodes.degree")
    if "answers" in frames:
        add(found, frames["answers"]["seconds"], "answers.seconds")


def add_per_question(found: dict[Key, pd.Series], frames: dict[str, pd.DataFrame]) -> None:
    if "qrels" in frames:
        for split, some in by_split(frames["qrels"]):
            for name, chosen in (("positives", some["grade"] > 0), ("negatives", some["grade"] <= 0)):
                pairs = some[chosen].drop_duplicates(["question_id", "target_kind", "target_id"])
                add(found, pairs.groupby("question_id").size(), f"qrels.{name}", split)
    if "triplets" in frames:
        for split, some in by_split(frames["triplets"]):
            add(found, some.groupby("question_id").size(), "triplets.per_question", split)
            add(found, some.groupby("question_id")["negative_id"].nunique(), "triplets.negatives", split)


def add(found: dict[Key, pd.Series], values: pd.Series, name: str, by: str | None = None) -> None:
    numbers = pd.to_numeric(values.dropna()).astype(float)
    numbers = numbers[numbers.abs() != float("inf")]
    if len(numbers):
        found[name, by] = numbers


def add_lengths(found: dict[Key, pd.Series], texts: pd.Series, name: str, by: str | None = None) -> None:
    add(found, texts.dropna().map(len), f"{name}.characters", by)
    add(found, texts.dropna().map(plain_tokens.count), f"{name}.tokens", by)


def by_split(frame: pd.DataFrame) -> Iterable[tuple[str | None, pd.DataFrame]]:
    yield None, frame
    splits = list(frame["split"].dropna().unique())
    for split in splits if len(splits) > 1 else ():
        yield split, frame[frame["split"] == split]


def add_stages(found: dict[Key, pd.Series], runs: pd.DataFrame) -> None:
    stages = list(runs["stage"].unique())
    for stage in stages:
        some = runs[runs["stage"] == stage]
        timed = some[some["seconds"].notna()].sort_values("rank", kind="stable")
        add(found, timed.groupby("question_id")["seconds"].first(), "runs.seconds", stage)
        add(found, some.groupby("question_id").size(), "runs.results", stage)
        add(found, some["score"], "runs.score", stage)
    if "refining" in stages:
        sizes: dict[tuple[str, str], int] = defaultdict(int)
        for row in runs.itertuples():
            if row.text is not None:
                sizes[row.question_id, row.stage] += len(row.text)
        shares = []
        for (question, stage), size in sizes.items():
            before = [s for s in stages[: stages.index("refining")] if (question, s) in sizes]
            if stage == "refining" and before and sizes[question, before[-1]]:
                shares.append(size / sizes[question, before[-1]])
        add(found, pd.Series(shares, dtype=float), "runs.compression")


def nodes_of(frames: dict[str, pd.DataFrame]) -> list[str]:
    names = list(frames["nodes"]["name"]) if "nodes" in frames else []
    for row in frames["edges"].itertuples():
        names += [row.source, row.target]
    return list(dict.fromkeys(names))


def degrees(frames: dict[str, pd.DataFrame]) -> dict[str, int]:
    """Edges of each node, a self-loop twice."""
    found = dict.fromkeys(nodes_of(frames), 0)
    for row in frames["edges"].itertuples():
        found[row.source] += 1
        found[row.target] += 1
    return found


def neighbours_of(frames: dict[str, pd.DataFrame]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {name: set() for name in nodes_of(frames)}
    for row in frames["edges"].itertuples():
        found[row.source].add(row.target)
        found[row.target].add(row.source)
    return found


def graph(frames: dict[str, pd.DataFrame]) -> dict[str, Any]:
    """The numbers of the graph."""
    edges, neighbours, degree = frames["edges"], neighbours_of(frames), degrees(frames)
    sizes, seen = [], set()
    for start in neighbours:
        if start not in seen:
            part = set(near(neighbours, [start], len(neighbours)))
            seen |= part
            sizes.append(len(part))
    places = {name: place for place, name in enumerate(neighbours)}
    hubs = sorted((n for n in degree if degree[n]), key=lambda n: (-degree[n], places[n]))[:10]
    return {
        "nodes": len(neighbours),
        "edges": len(edges),
        "relations": edges["relation"].nunique(),
        "components": len(sizes),
        "largest_component": max(sizes),
        "isolated": sum(not count for count in degree.values()),
        "self_loops": int((edges["source"] == edges["target"]).sum()),
        "parallel_edges": int(edges.duplicated(["source", "relation", "target"]).sum()),
        "hubs": [(name, degree[name]) for name in hubs],
        "reachable": reachable(frames, neighbours),
    }


def near(neighbours: dict[str, set[str]], starts: Iterable[str], hops: int) -> dict[str, int]:
    found = {name: 0 for name in starts if name in neighbours}
    queue = deque(found)
    while queue:
        name = queue.popleft()
        if found[name] < hops:
            for other in neighbours[name] - found.keys():
                found[other] = found[name] + 1
                queue.append(other)
    return found


def reachable(frames: dict[str, pd.DataFrame], neighbours: dict[str, set[str]]) -> dict[int, float]:
    if "start_nodes" not in frames or "qrels" not in frames:
        return {}
    judged = frames["qrels"]
    judged = judged[(judged["target_kind"] == "node") & (judged["grade"] > 0)]
    starts = frames["start_nodes"].groupby("question_id")["node"].agg(set)
    targets = judged.groupby("question_id")["target_id"].agg(set)
    both = sorted(set(starts.index) & set(targets.index))
    return {
        hops: sum(targets[q] <= near(neighbours, starts[q], hops).keys() for q in both) / len(both)
        for hops in (1, 2, 3)
        if both
    }


def frequencies(frames: dict[str, pd.DataFrame]) -> dict[str, Counter[str]]:
    """How often each value occurs in the columns of few values."""
    found = {}
    for table, column in FREQUENCIES:
        if table in frames and frames[table][column].notna().any():
            found[f"{table}.{column}"] = Counter(frames[table][column].dropna().map(str))
    return found


def check_distribution(message: Distribution, values: pd.Series) -> None:
    """Every number of a distribution against all values behind it."""
    assert (message.count, message.minimum, message.maximum) == (len(values), values.min(), values.max()), message.name
    assert message.mean == pytest.approx(values.mean())
    for q, value in message.quantiles.items():
        assert value == pytest.approx(values.quantile(q / 100)), (message.name, q)
    assert sum(b.count for b in message.bins) == message.count
    for place, one in enumerate(message.bins):
        below = values <= one.high if place == len(message.bins) - 1 else values < one.high
        assert one.count == (below & (values >= one.low)).sum(), (message.name, one)
