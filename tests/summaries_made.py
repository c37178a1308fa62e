"""Summaries made by hand, for tests of what shows them: a corpus with questions, a graph, traces, hostile texts."""

from __future__ import annotations

from collections.abc import Sequence

from ragdatakit.reports.summary.numbers import QUANTILES
from ragdatakit.schemas.hierarchies import Hierarchy, HierarchyLevel, HierarchyNode
from ragdatakit.schemas.results import FileSummary
from ragdatakit.schemas.search.claims import CheckedAnswer, ClaimPassage, ClaimScores, FailedClaim
from ragdatakit.schemas.summaries import (
    Bin,
    ColumnSummary,
    ContextPair,
    ContextSummary,
    Distribution,
    Example,
    Frequencies,
    GraphSummary,
    Hub,
    IdSummary,
    Note,
    Summary,
    TableSummary,
)

HOSTILE = (
    "<script>alert(1)</script> a|b `c` \x1b[31mred\x1b[0m \u202eevil \ud800 [x](http://e.test) @who #1 {{x}}\n# head"
)
"""A text that would like to be obeyed by a terminal, a browser or a Markdown reader."""


def distribution(
    name: str,
    title: str,
    counts: Sequence[int],
    unit: str = "characters",
    *,
    step: float = 100,
    logarithmic: bool = False,
    by: str | None = None,
) -> Distribution:
    """A distribution with these bins, all ``step`` wide (``logarithmic``: each twice the one before)."""
    edges = [step * 2**i if logarithmic else step * i for i in range(len(counts) + 1)]
    bins = tuple(Bin(a, b, n) for a, b, n in zip(edges, edges[1:], counts, strict=False))
    spread = edges[-1] - edges[0]
    quantiles = {q: edges[0] + spread * q / 100 for q in QUANTILES}
    mean = edges[0] + spread / 2
    return Distribution(
        name, title, unit, sum(counts), edges[0], edges[-1], mean, quantiles, bins, logarithmic=logarithmic, by=by
    )


def corpus_summary() -> Summary:
    """A BEIR dataset with two splits; some texts are empty, some stand twice."""
    columns = (
        ColumnSummary("doc_id", 0, 0, 5183, 0),
        ColumnSummary("text", 0, 7, 5170, 6),
        ColumnSummary("title", 5, 160, 5018),
        ColumnSummary("metadata", 5183, 0),
    )
    return Summary(
        path="data/scifact",
        name="scifact",
        format="beir",
        files=[
            FileSummary("data/scifact/corpus.jsonl", "corpus", 5183, 8_023_411),
            FileSummary("data/scifact/queries.jsonl", "queries", 1109, 131_072),
            FileSummary("data/scifact/qrels/train.tsv", "qrels", 919, 16_002),
            FileSummary("data/scifact/qrels/test.tsv", "qrels", 339, 5_916),
        ],
        file_splits=[None, None, "train", "test"],
        tables=[
            TableSummary("documents", 5183, {None: 5183}, columns),
            TableSummary(
                "questions",
                1109,
                {None: 1109},
                (ColumnSummary("question_id", 0, 0, 1109, 0), ColumnSummary("text", 0, 0, 1108, 1)),
            ),
            TableSummary("qrels", 1258, {"train": 919, "test": 339}, (ColumnSummary("grade", 0, 0, 1),)),
        ],
        ids=[
            IdSummary("documents", "doc_id", 5183, 5183, 5183, 4983, 198309074, 198298909, ("4983", "5836", "7912")),
            IdSummary("questions", "question_id", 1109, 1109, 0, examples=("q-a", "q-b")),
        ],
        distributions=[
            distribution("documents.text.characters", "Length of documents", (7, 120, 900, 2400, 1500, 230, 20, 6)),
            distribution("questions.text.characters", "Length of questions", (40, 800, 250, 19), step=30),
            distribution("qrels.positives", "Positives per question", (0, 1000, 90, 12, 0, 7), "passages", step=1),
            distribution("qrels.positives", "Positives per question", (0, 740, 60, 9), "passages", step=1, by="train"),
        ],
        frequencies=[
            Frequencies("qrels.grade", "Grades", (("1", 1258),), 1),
            Frequencies("documents.script", "Scripts", (("Latin", 5170), ("Greek", 9), ("Han", 4)), 3),
        ],
        notes=[
            Note("coverage.questions", "809 of 1,109 questions are judged", 809 / 1109),
            Note("leakage.questions", "12 questions of the split test also appear in train", 12, "warning"),
        ],
        examples=[
            Example(
                "documents",
                "first",
                {"doc_id": "4983", "title": "Cerebral white matter", "text": "Alterations of the " * 20},
                ("text",),
            ),
            Example("documents", "shortest", {"doc_id": "77", "title": "", "text": "n/a", "metadata": None}),
            Example("questions", "first", {"question_id": "0", "text": "0-dimensional biomaterials lack induction."}),
        ],
        seconds=0.42,
    )


def graph_summary() -> Summary:
    """A graph with questions, as GFM-RAG has them."""
    return Summary(
        path="data/kg",
        name="kg",
        format="gfm-rag",
        files=[
            FileSummary("data/kg/processed/stage1/nodes.csv", "nodes", 4000, 310_000),
            FileSummary("data/kg/processed/stage1/relations.csv", "relations", 40, 1_300),
            FileSummary("data/kg/processed/stage1/edges.csv", "edges", 12000, 930_000),
            FileSummary("data/kg/processed/stage1/test.json", "questions", 100, 52_000),
        ],
        file_splits=[None, None, None, "test"],
        tables=[
            TableSummary("nodes", 4000, {None: 4000}, (ColumnSummary("name", 0, 0, 4000, 0),)),
            TableSummary("relations", 40, {None: 40}, ()),
            TableSummary("edges", 12000, {None: 12000}, ()),
            TableSummary("questions", 100, {"test": 100}, (ColumnSummary("answer", 3, 0),)),
        ],
        distributions=[
            distribution(
                "nodes.degree",
                "Edges per node",
                (10, 2100, 1200, 500, 150, 30, 8, 1, 0, 1),
                "edges",
                step=1,
                logarithmic=True,
            )
        ],
        frequencies=[
            Frequencies("nodes.type", "Types of nodes", (("entity", 3600), ("document", 400)), 2),
            Frequencies(
                "edges.relation", "Relations", tuple((f"relation {n}", 3000 // n) for n in range(1, 9)), 40, 3847
            ),
        ],
        notes=[Note("graph.isolated", "12 nodes have no edge", 12, "warning")],
        graph=GraphSummary(
            nodes=4000,
            edges=12000,
            relations=40,
            components=19,
            largest_component=3960,
            isolated=12,
            self_loops=3,
            parallel_edges=41,
            hubs=(Hub("United States", 812, "entity"), Hub("Paris", 240, "entity"), Hub("東京", 97)),
            reachable={1: 0.42, 2: 0.81, 3: 0.97},
            questions=100,
        ),
        examples=[
            Example("edges", "first", {"source": "Paris", "relation": "capital of", "target": "France"}),
            Example("nodes", "random", {"name": "Paris", "type": "entity", "attributes": '{"description": "a city"}'}),
        ],
        seconds=0.31,
    )


def trace_summary() -> Summary:
    """Records of a pipeline, with what its stages took."""
    stages = {"retrieve": (40, 55, 5), "rerank": (10, 80, 10), "generate": (5, 50, 45)}
    return Summary(
        path="runs/monday.jsonl",
        name="monday",
        format="sage",
        files=[FileSummary("runs/monday.jsonl", "records", 100, 2_400_000)],
        file_splits=[None],
        tables=[
            TableSummary("questions", 100, {None: 100}, ()),
            TableSummary("runs", 2000, {None: 2000}, (ColumnSummary("score", 120, 0),)),
        ],
        distributions=[
            distribution("runs.seconds", "Time of a stage", counts, "seconds", step=0.4, by=stage)
            for stage, counts in stages.items()
        ],
        losses=["1 record is not a JSON object and was left out"],
        seconds=0.1,
    )


def hostile_summary() -> Summary:
    """Texts of the dataset that would like to be obeyed, wherever texts of a dataset stand."""
    return Summary(
        path=f"data/{HOSTILE}",
        name=HOSTILE,
        format="beir",
        files=[FileSummary(f"data/{HOSTILE}.jsonl", "corpus", 2, 100)],
        file_splits=[HOSTILE],
        tables=[TableSummary("documents", 2, {HOSTILE: 2}, (ColumnSummary("text", 0, 1, 1, 1),))],
        ids=[IdSummary("documents", "doc_id", 2, 1, 0, examples=(HOSTILE,))],
        distributions=[distribution("documents.text.characters", "Length of documents", (1, 1), by=HOSTILE)],
        frequencies=[Frequencies("documents.type", "Types", ((HOSTILE, 1), ("", 1)), 2)],
        notes=[Note("hostile", f"the text {HOSTILE} stands twice", 2, "warning")],
        graph=GraphSummary(1, 1, 1, 1, 1, 0, 1, 0, (Hub(HOSTILE, 2, HOSTILE),)),
        examples=[
            Example("documents", "first", {"doc_id": HOSTILE, "text": HOSTILE, HOSTILE: [HOSTILE, float("nan")]})
        ],
        losses=[f"{HOSTILE} could not be read"],
    )


def empty_summary() -> Summary:
    """A dataset with a file and not one record."""
    return Summary(
        path="data/empty",
        name="empty",
        format="beir",
        files=[FileSummary("data/empty/corpus.jsonl", "corpus", None, 0)],
        file_splits=[None],
        tables=[TableSummary("documents", 0, {}, (ColumnSummary("doc_id", 0, 0, 0, 0),))],
    )


def communities(name: str = "Harbour", parts: int = 4) -> Hierarchy:
    """Two communities, the first with parts; 3 of them are not shown."""
    nodes = (
        HierarchyNode("0", 0, f"# {name}\n\nShips and {name}.", name, 40, 8.5, parts + 3, parts + 3),
        HierarchyNode("1", 0, "", "Lighthouse", 7),
        *(
            HierarchyNode(f"{n}", 1, f"Report {n} of {name}", f"{name} {n}", 9, 5.0, 0, 2, 0, 1)
            for n in range(2, parts + 2)
        ),
    )
    levels = (HierarchyLevel(0, 2, 1, 7, 23.5, 40, (0, 1)), HierarchyLevel(1, parts + 3, parts, 9, 9.0, 9, (2,)))
    return Hierarchy("communities", levels, nodes, parts + 5, 2, measure="entities")


def tree(text: str = "The reef was mapped by Mara.") -> Hierarchy:
    """Two leaves below one summary, and a chunk below none."""
    nodes = (
        HierarchyNode("t:2", 1, text, children=2, leaves=2),
        HierarchyNode("t:0", 0, f"First: {text}", parent=0, parents=1),
        HierarchyNode("t:1", 0, f"Second: {text}", parent=0, parents=2),
    )
    levels = (HierarchyLevel(1, 1, 1, 2, 2.0, 2, (0,)), HierarchyLevel(0, 3, 3))
    return Hierarchy("tree", levels, nodes, 4, 1, 1, 1)


def contexts(text: str = "From the log of the reef.") -> ContextSummary:
    """One chunk of two has a context."""
    return ContextSummary(2, 1, 1, 1, 0.5, (ContextPair(text, None, text, f"{text} Mara mapped it.", "first"),))


def claim_scores(text: str = "The reef lies south.") -> ClaimScores:
    """One answer with a wrong claim that a passage says."""
    failed = (FailedClaim("q1", "response", text, "wrong, and in a passage", (text,)),)
    answers = (CheckedAnswer("q1", text, text, text, 3, (ClaimPassage(2, text, text),)),)
    return ClaimScores(
        "data", {"overall_metrics": {"precision": 50.0}}, {"precision": 1}, 1, failed=failed, answers=answers
    )


def all_summaries() -> list[Summary]:
    """One of each."""
    return [corpus_summary(), graph_summary(), trace_summary(), hostile_summary(), empty_summary()]


def many_summaries(number: int = 40) -> list[Summary]:
    """A folder with many datasets."""
    found = []
    for n in range(number):
        one = (corpus_summary, graph_summary, trace_summary)[n % 3]()
        one.path, one.name = f"{one.path}-{n}", f"{one.name}-{n}"
        found.append(one)
    return found
