"""What two revisions are asked: every dataset at hand, through every command that judges, shows or writes data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

TABLES = (
    "documents", "chunks", "nodes", "relations", "edges", "questions", "qrels", "start_nodes", "triplets",
    "pair_scores", "summaries", "runs", "answers",
)  # fmt: skip
TARGETS = ("arag", "beir", "datamind", "gfm-rag", "hipporag", "light-splade", "sage", "trec")


@dataclass(frozen=True, slots=True)
class Case:
    """One call of the command. ``data`` is its dataset; ``output`` a file or folder that it writes, if it does. A call
    of ``validate --fix`` shows what it would write."""

    data: str
    words: tuple[str, ...]
    output: str = ""

    @property
    def name(self) -> str:
        """What it is called in the list of expected differences."""
        return f"{self.command}{'-to-' + self.words[2] if self.words[:2] == ('convert', '--to') else ''} {self.data}"

    @property
    def command(self) -> str:
        """The command by which it is asked for."""
        return "fix" if "--fix" in self.words else self.words[0]


def cases(sets: Sequence[str], broken: Sequence[str], commands: Sequence[str]) -> Iterator[Case]:
    """Calls for whole datasets (``sets``: every command) and for broken ones (those that also read faulty data)."""
    for each in (*sets, *broken):
        yield from (case for case in _reading(each) if case.command in commands)
    for number, each in enumerate(sets):
        yield from (case for case in _others(each, sets[number - 1]) if case.command in commands)


def sampled(asked: list[Case], every: int, seed: str) -> list[Case]:
    """Of the calls of each command over each format one in ``every``, at least one; with what they need before."""
    kinds: dict[tuple[str, ...], list[Case]] = {}
    for case in asked:
        name = case.name.partition(" ")[0]
        kinds.setdefault((name, *case.data.split("/")[1:3], case.data.partition("#")[2]), []).append(case)
    taken = {
        case.name
        for kind, listed in kinds.items()
        for case in Random(f"{seed} {kind}").sample(listed, -(-len(listed) // every))
    }
    return [case for case in asked if case.name in taken or f"{case.name}#run" in taken]


def _reading(data: str) -> Iterator[Case]:
    yield Case(data, ("validate", "--output-format", "json", "--max-per-rule", "0", "--severity", "info", data))
    yield Case(data, ("validate", "--fix", "--unsafe-fixes", "--diff", "--max-per-rule", "0", data))
    yield Case(data, ("report", "--output-format", "json", data))
    for table in TABLES:
        yield Case(f"{data}#{table}", ("query", data, f"from {table}", "--output-format", "json"))


def _others(data: str, other: str) -> Iterator[Case]:
    place = "out/" + data.replace("/", "_")
    yield Case(data, ("diff", "--output-format", "json", other, data))
    yield Case(data, ("eval", "--output-format", "json", data))
    yield Case(data, ("gate", "--init", "--output-file", f"{place}.suite", data), f"{place}.suite")
    yield Case(f"{data}#run", ("gate", "--suite", f"{place}.suite", "--output-format", "json", data))
    for target in TARGETS:
        made = f"{place}.{target}"
        yield Case(data, ("convert", "--to", target, "--keep-going", data, made), made)


def datasets_below(folder: Path, pattern: str) -> list[str]:
    """The folders that match, as texts with ``/``, relative to ``folder``'s parent."""
    return [found.relative_to(folder.parent).as_posix() for found in sorted(folder.glob(pattern)) if found.is_dir()]
