"""What only some datasets have, for people at a terminal: a hierarchy, a graph, contexts, claims; and examples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.reports.summary.claims import claim_words
from ragdatakit.reports.summary.hierarchy_words import hierarchy_words, levels_of, node_name, node_size, section_title
from ragdatakit.reports.summary.words import PLAIN_SIGNS, Signs, graph_words, hubs_of, labelled, shown_values
from ragdatakit.reports.terminal import (
    Painter,
    column_lines,
    cut_to,
    flowing,
    one_line,
    padded,
    painter,
    width_of,
    wrapped,
)
from ragdatakit.schemas.summaries import ContextSummary, Example, GraphSummary
from ragdatakit.schemas.texts import many

if TYPE_CHECKING:
    from ragdatakit.schemas.hierarchies import Hierarchy
    from ragdatakit.schemas.neighbourhoods import NodeAround
    from ragdatakit.schemas.search.claims import ClaimScores

_MOST_HUBS, _MOST_COLUMNS = 5, 4
_MOST_CLAIMS = 5
_MOST_CONTEXTS = 2
_MOST_NEIGHBOURS = 12
_MOST_NODES, _MOST_PARTS = 5, 3
"""Roots of a hierarchy, and what is below one of them, that are shown without ``verbose``."""
IN = "  "


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryTextOptions:
    """How to print. ``details``: each dataset whole (None: where there are at most three); ``plain``: ASCII signs;
    ``whole``: what each of several datasets holds is not cut to the width.

    ``verbose`` adds all files, values, examples and the columns without a value; ``quiet`` leaves what a dataset has
    and its warnings.
    """

    colour: bool = False
    width: int = 100
    quiet: bool = False
    verbose: bool = False
    details: bool | None = None
    plain: bool = False
    whole: bool = False


class Sections:
    """Sections of the screen, in one width and one set of signs."""

    def __init__(self, options: SummaryTextOptions) -> None:
        self.paint: Painter = painter(options.colour)
        self.signs = PLAIN_SIGNS if options.plain else Signs()
        self.width = options.width
        self.verbose = options.verbose
        self.whole = options.whole

    def section(self, title: str) -> Iterator[str]:
        yield ""
        yield self.paint("bold", title)

    def value(self, text: str) -> str:
        """A value of the data, short."""
        return cut_to(one_line(text), 32, self.signs.more) or "(empty)"

    def fitted(self, line: str) -> str:
        """A line cut to the width, unless it has colours."""
        return line if "\x1b" in line else cut_to(line, self.width, self.signs.more)

    def hierarchy(self, found: Hierarchy) -> Iterator[str]:
        """Its levels, and the largest nodes with what is directly in them."""
        yield from self.section(section_title(found))
        for words in hierarchy_words(found):
            yield from (f"{IN}{line}" for line in wrapped(words, self.width - 2))
        rows = [["level", found.counted, f"fewest {found.measure}", "median", "most"]]
        rows += [[level.name, f"{level.nodes:,}", *level.sizes] for level in levels_of(found)]
        lines = column_lines(rows, painter(False), left=(0,))
        yield from (self.paint("dim", line) if number == 0 else line for number, line in enumerate(lines))
        below: dict[int | None, list[int]] = {}
        for place, node in enumerate(found.nodes):
            below.setdefault(node.parent, []).append(place)
        yield from self.nodes(found, below, None, IN)

    def nodes(
        self, found: Hierarchy, below: Mapping[int | None, list[int]], parent: int | None, lead: str
    ) -> Iterator[str]:
        """What is shown below a node, each with what is below it; the first of them, or all with ``verbose``."""
        listed = below.get(parent, [])
        most = len(listed) if self.verbose else _MOST_NODES if parent is None else _MOST_PARTS
        for place in listed[:most]:
            node = found.nodes[place]
            size = node_size(found, node)
            yield cut_to(
                f"{lead}{f'{size:>5}  ' if size else ''}{one_line(node_name(node))}", self.width, self.signs.more
            )
            if self.verbose or len(lead) < len(IN) * 2:
                yield from self.nodes(found, below, place, f"{lead}{IN}{IN}")
        every = found.roots if parent is None else found.nodes[parent].children
        if listed and every > most:
            yield self.paint("dim", f"{lead}{self.signs.more} {every - most:,} more")

    def graph(self, graph: GraphSummary) -> Iterator[str]:
        yield from self.section("Graph")
        for level, words in graph_words(graph):
            for number, line in enumerate(wrapped(words, self.width - 4)):
                text = f"{IN}{'' if number == 0 else IN}{line}"
                yield self.paint("warning", text) if level == "warning" else text
        hubs = hubs_of(graph)[: None if self.verbose else _MOST_HUBS]
        parts = [
            f"{self.value(labelled(h.name, h.label))}{f' ({self.value(h.type)})' if h.type else ''}: {h.degree:,}"
            for h in hubs
        ]
        if parts:
            yield from flowing(f"{IN}hubs, with their edges: ", parts, self.width, ",")

    def around(self, found: NodeAround) -> Iterator[str]:
        """A node with its neighbours."""
        yield from self.section(f"Neighbourhood of {self.value(found.name)}")
        facts = [*([f"type {self.value(found.type)}"] if found.type else []), many(found.degree, "edge")]
        yield f"{IN}{', '.join(facts)}"
        if found.communities:
            yield from flowing(f"{IN}in ", [one_line(name) for name in found.communities], self.width, ";")
        if found.description:
            yield from (f"{IN}{line}" for line in wrapped(one_line(found.description), self.width - 2))
        for near in found.neighbours if self.verbose else found.neighbours[:_MOST_NEIGHBOURS]:
            relation = cut_to(one_line(near.relation), self.width // 2, self.signs.more)
            line = f"-{relation}-" if relation else "--"
            arrow = f"{line}>" if near.forward else f"<{line}"
            yield cut_to(f"{IN}{IN}{arrow} {one_line(near.name)}", self.width, self.signs.more)
        shown = len(found.neighbours) if self.verbose else min(len(found.neighbours), _MOST_NEIGHBOURS)
        if found.degree > shown:
            yield self.paint("dim", f"{IN}{IN}{self.signs.more} {found.degree - shown:,} more edges")

    def contexts(self, found: ContextSummary) -> Iterator[str]:
        """Chunks with their contexts."""
        yield from self.section("Contexts")
        for pair in found.pairs if self.verbose else found.pairs[:_MOST_CONTEXTS]:
            yield self.fitted(f"{IN}{one_line(pair.chunk_id)}{'' if pair.why == 'random' else f' ({pair.why})'}")
            for name, text in (("context", pair.context), ("text", pair.text)):
                yield cut_to(f"{IN}{IN}{name:7}  {one_line(text)}", self.width, self.signs.more)

    def claims(self, scores: ClaimScores) -> Iterator[str]:
        yield from self.section("RAGChecker")
        yield f"{IN}{claim_words(scores)}"
        for group, name, value in scores.metric_rows():
            yield f"{IN}{group:<10} {name:<31} {value:6.1f} %"
        for failed in scores.failed[: None if self.verbose else _MOST_CLAIMS]:
            text = f"{one_line(failed.question_id)}: {failed.of}, {failed.why}: {one_line(failed.claim)}"
            text += f" ({', '.join(map(self.value, failed.passages))})" if failed.passages else ""
            yield self.paint("dim", cut_to(f"{IN}{text}", self.width, self.signs.more))
        left = 0 if self.verbose else len(scores.failed) - _MOST_CLAIMS
        if left > 0:
            yield self.paint("dim", f"{IN}{self.signs.more} {many(left, 'other claim')} that failed; -v shows them")

    def examples(self, examples: Sequence[Example]) -> Iterator[str]:
        """The first row of each table; with ``verbose`` the others, too."""
        shown = examples if self.verbose else [e for e in examples if e.why == "first"]
        if not shown:
            return
        yield from self.section("Examples")
        for example in shown:
            values = shown_values(example.row.items(), 0 if self.verbose else _MOST_COLUMNS)
            on_one_line = [(one_line(name), one_line(text)) for name, text in values]
            head = f"{IN}{example.table}, {example.why}"
            pairs = [f"{name}={text}" for name, text in on_one_line]
            point = f" {self.signs.point} "
            if width_of(f"{head}: {point.join(pairs)}") <= self.width:
                yield f"{head}: {point.join(self.paint('dim', f'{name}=') + text for name, text in on_one_line)}"
                continue
            yield head
            names = min(max((width_of(name) for name, _ in on_one_line), default=0), 20)
            for name, text in on_one_line:
                yield from self.example_lines(f"{IN * 2}{padded(cut_to(name, 20, self.signs.more), names)}  ", text)
        if len(shown) < len(examples):
            yield self.paint("dim", f"{IN}-v shows {len(examples) - len(shown):,} more: longest, shortest, random")

    def example_lines(self, head: str, text: str) -> Iterator[str]:
        room = self.width - width_of(head)
        if not self.verbose:
            yield head + cut_to(text, room, self.signs.more)
            return
        lines = wrapped(text, room)
        for number, line in enumerate(lines[:4]):
            more = self.signs.more if number == 3 and len(lines) > 4 else ""
            yield (head if number == 0 else " " * width_of(head)) + cut_to(line + more, room, self.signs.more)
