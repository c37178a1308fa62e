"""What is measured: each case is one command on one set, and the case that it is compared with."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from sets.names import Set

HERE = Path(__file__).resolve().parent
RAGDATA = Path(sys.executable).parent / "ragdata"
CONVERTED = "converted"
"""Where conversions write, beside the sets; removed after each run."""


@dataclass(frozen=True, slots=True)
class Case:
    """One command on one set.

    ``against`` names the case of the same group that it is compared with. ``rounds`` caps how many rounds it takes
    part in, ``repeats`` is how often it runs in each. ``times``: the set is this many times smaller than the others
    of the group, and its work seconds are multiplied to stand beside them. ``cores``: so many processors (0: all).
    ``before`` is a set that it is compared with by the command itself.
    """

    name: str
    group: str
    set: Set | None = None
    tool: str = "ragdata"
    words: tuple[str, ...] = ()
    against: str = ""
    exit_code: int = 0
    rounds: int = 99
    repeats: int = 1
    times: int = 1
    cores: int = 0
    note: str = ""
    before: Set | None = None

    def command(self, folder: Path) -> list[str]:
        """The words to run; the sets and the environment of the peers lie in ``folder``."""
        path = str(folder / self.set.name) if self.set else ""
        if self.tool == "python":
            return [sys.executable, *(w.replace("{}", path) for w in self.words)]
        if self.tool == "ragdata":
            places = {"{}": path, "{target}": str(folder / CONVERTED)}
            if self.before is not None:
                places["{before}"] = str(folder / self.before.name)
            return [str(RAGDATA), *(places.get(word) or word.replace("{}", path) for word in self.words)]
        interpreter = folder / "peers-venv" / "bin" / "python"
        return [str(interpreter), str(HERE / "peers" / f"{self.tool}.py"), path, *self.words]


def all_cases(scale: float, *, series: bool) -> list[Case]:
    """Every case; ``scale`` 1 is the documented size."""
    cases = [
        *_splade(scale),
        *_datamind(scale),
        *_arag(scale),
        *_gfm_rag(scale),
        *_sage(scale),
        *_documents(scale),
        *_graphrag(scale),
        *_odd_files(scale),
        *_start(),
        *_convert(scale),
        *_report(scale),
    ]
    return cases + ([*_series(scale / 4), *_convert_large(scale)] if series else [])


def _validate(format_: str, path: str = "{}") -> tuple[str, ...]:
    return ("validate", path, "--from", format_, "-q")


def _splade(scale: float) -> list[Case]:
    group, clean, floor = "SPLADE", Set("splade", scale), "SPLADE: DuckDB scan"
    words = _validate("light-splade")
    tenth, fiftieth = Set("splade", scale / 10), Set("splade", scale / 50)
    peer = ("splade",)
    return [
        Case(floor, group, clean, "duckdb_scan", peer, note="the floor: typed, aggregated, nothing stored"),
        Case("SPLADE: DuckDB load", group, clean, "duckdb_load", peer, floor, note="typed, into tables in memory"),
        Case("SPLADE: ragdata, clean", group, clean, words=words, against=floor),
        Case(
            "SPLADE: ragdata, 100 faults", group, Set("splade", scale, 100), words=words, against=floor, exit_code=1
        ),
        Case("SPLADE: ragdata, gz", group, Set("splade", scale, gz=True), words=words, against=floor),
        Case("SPLADE: light-splade", group, clean, "light_splade_loader", peer, floor, rounds=1,
             note="its own loader; no types, stops at the first error"),
        Case("SPLADE: pandera", group, clean, "pandera_frames", peer, floor, rounds=1,
             note="pandas; no references in lists, no lines"),
        Case("SPLADE: frictionless", group, tenth, "frictionless_package", peer, floor, rounds=1, times=10,
             note="no references in lists, no lines"),
        Case("SPLADE: Great Expectations", group, tenth, "great_expectations_frames", peer, floor, rounds=1, times=10,
             note="pandas; no references in lists, no lines"),
        Case("SPLADE: Great Expectations, rows only", group, tenth, "great_expectations_frames", ("splade-rows",),
             floor, rounds=1, times=10, note="no references at all"),
        Case("SPLADE: jsonschema + orjson", group, tenth, "jsonschema_lines", peer, floor, rounds=1, times=10,
             note="no uniqueness, no references"),
        Case("SPLADE: check-jsonschema", group, fiftieth, "check_jsonschema_arrays", peer, floor, rounds=1, times=50,
             note="arrays made for it outside the clock; no uniqueness, no references"),
    ]  # fmt: skip


def _datamind(scale: float) -> list[Case]:
    group, clean, floor = "DataMind", Set("datamind", scale), "DataMind: DuckDB scan"
    words, faulty = _validate("datamind"), Set("datamind", scale, 100)
    return [
        Case(floor, group, clean, "duckdb_scan", ("datamind",), note="the floor"),
        Case("DataMind: DuckDB load", group, clean, "duckdb_load", ("datamind",), floor),
        Case("DataMind: ragdata, clean", group, clean, words=words, against=floor),
        Case("DataMind: ragdata, 100 faults", group, faulty, words=words, against=floor, exit_code=1),
    ]


def _arag(scale: float) -> list[Case]:
    cases = []
    for layout in ("one line", "pretty"):
        made, floor = Set(f"arag-{layout.replace(' ', '-')}", scale), f"A-RAG: DuckDB scan, {layout}"
        cases += [
            Case(floor, "A-RAG", made, "duckdb_scan", ("arag",), note="the floor"),
            Case(f"A-RAG: ragdata, {layout}", "A-RAG", made, words=_validate("arag"), against=floor),
        ]
    return cases


def _gfm_rag(scale: float) -> list[Case]:
    group, clean, floor = "GFM-RAG", Set("gfm-rag", scale), "GFM-RAG: DuckDB scan"
    words, faulty, tenth = _validate("gfm-rag"), Set("gfm-rag", scale, 100), Set("gfm-rag", scale / 10)
    peer = ("gfm-rag",)
    return [
        Case(floor, group, clean, "duckdb_scan", peer, note="the floor: three CSV files, all columns text"),
        Case("GFM-RAG: DuckDB scan, typed", group, clean, "duckdb_scan", ("gfm-rag-typed",), floor,
             note="it finds out the types"),
        Case("GFM-RAG: DuckDB load", group, clean, "duckdb_load", peer, floor, note="typed, into tables in memory"),
        Case("GFM-RAG: ragdata, clean", group, clean, words=words, against=floor,
             note="with documents, questions, reachability"),
        Case("GFM-RAG: ragdata, 100 faults", group, faulty, words=words, against=floor, exit_code=1),
        Case("GFM-RAG: pandas", group, clean, "pandas_graph", peer, floor, rounds=1,
             note="the way of its own loader; no lines, no questions, stops at the first error"),
        Case("GFM-RAG: pandera", group, clean, "pandera_frames", peer, floor, rounds=1,
             note="pandas; nothing inside cells, no lines, no questions"),
        Case("GFM-RAG: frictionless", group, tenth, "frictionless_package", peer, floor, rounds=1, times=10,
             note="primary and foreign keys; nothing inside cells, no questions"),
    ]  # fmt: skip


def _sage(scale: float) -> list[Case]:
    group, clean, floor = "SAGE", Set("sage", scale), "SAGE: orjson"
    words, faulty, tenth = _validate("sage"), Set("sage", scale, 100), Set("sage", scale / 10)
    return [
        Case(floor, group, clean, "json_lines", ("sage-orjson",), note="decodes the lines, no more; one thread"),
        Case("SAGE: json.loads", group, clean, "json_lines", ("sage-json",), floor, note="the standard library's"),
        Case("SAGE: ragdata, clean", group, clean, words=words, against=floor),
        Case("SAGE: ragdata, 100 faults", group, faulty, words=words, against=floor, exit_code=1),
        Case("SAGE: jsonschema + orjson", group, tenth, "jsonschema_lines", ("sage",), floor, rounds=1, times=10,
             note="types; no stage compared with another, no numbers, no old names"),
    ]  # fmt: skip


DOCUMENTS = {
    "LightRAG": ("lightrag", "lightrag"),
    "RAGChecker": ("ragchecker", "ragchecker"),
    "Contextual Retrieval": ("contextual-retrieval", "contextual"),
}
"""Formats of whole documents: format and kind of set."""


def _documents(scale: float) -> list[Case]:
    cases = []
    for group, (format_, kind) in DOCUMENTS.items():
        made, floor = Set(kind, scale), f"{group}: DuckDB"
        peer = (str(HERE / "peers" / "duckdb_documents.py"), "{}")
        note = "parses the same bytes (GraphML: expat), looks at no field"
        cases += [
            Case(floor, group, made, "python", peer, note=note),
            Case(f"{group}: ragdata, clean", group, made, words=_validate(format_), against=floor),
        ]
    bad, tree, opened = Set("lightrag-all-bad", scale), Set("raptor", scale), "RAPTOR: unpickled"
    return [
        *cases,
        Case("LightRAG: ragdata, all bad", "LightRAG", bad, words=_validate("lightrag"), against="LightRAG: DuckDB",
             exit_code=1, rounds=1, note="sources, counts, and names of vectors are wrong in every record"),
        Case(opened, "RAPTOR", tree, "python", (str(HERE / "peers" / "unpickle_tree.py"), "{}"),
             note="what RAPTOR does, with stand-ins for its classes"),
        Case("RAPTOR: ragdata", "RAPTOR", tree, words=_validate("raptor"), against=opened, note="never unpickled"),
    ]  # fmt: skip


def _graphrag(scale: float) -> list[Case]:
    group, made, floor = "GraphRAG", Set("graphrag", scale), "GraphRAG: DuckDB scan"
    return [
        Case(floor, group, made, "duckdb_scan", ("graphrag",), note="the floor: six Parquet files, all columns"),
        Case("GraphRAG: ragdata, clean", group, made, words=_validate("graphrag"), against=floor),
    ]


def _odd_files(scale: float) -> list[Case]:
    group, words = "Odd files", _validate("light-splade", "{}/doc_master.ndjson")
    bad, good, long_line = (Set(f"splade-{k}", scale) for k in ("all-bad", "all-good", "long-line"))
    return [
        Case("Odd: 1 M good records", group, good, words=words, rounds=3),
        Case("Odd: 1 M bad records", group, bad, words=words, against="Odd: 1 M good records", exit_code=1, rounds=3,
             note="the same file, but each text is a number"),
        Case("Odd: DuckDB scan, a 200 MB line", group, long_line, "duckdb_scan", ("splade",), rounds=3),
        Case("Odd: ragdata, a 200 MB line", group, long_line, words=_validate("light-splade"), exit_code=1, rounds=3,
             against="Odd: DuckDB scan, a 200 MB line", note="with a fault behind it, to be found"),
    ]  # fmt: skip


def _start() -> list[Case]:
    group, bare = "Start", "Start: python -c pass"
    return [
        Case(bare, group, tool="python", words=("-c", "pass"), repeats=5),
        Case("Start: ragdata --version", group, words=("--version",), against=bare, repeats=5),
        Case("Start: ragdata --help", group, words=("--help",), against=bare, repeats=5),
        Case("Start: ragdata, tiny dataset", group, Set("splade-tiny", 1), words=_validate("light-splade"),
             against=bare, repeats=5, note="eight lines in four files"),
    ]  # fmt: skip


def _series(scale: float) -> list[Case]:
    cases = []
    for factor in (1, 4, 16):
        made, floor = Set("splade", scale * factor), f"Series: DuckDB scan, {factor}×"
        cases += [
            Case(floor, "Series", made, "duckdb_scan", ("splade",), rounds=3),
            Case(
                f"Series: ragdata, {factor}×", "Series", made, words=_validate("light-splade"), against=floor, rounds=3
            ),
        ]
    return cases


REPORTED = {
    "SPLADE": ("light-splade", "splade"),
    "GFM-RAG": ("gfm-rag", "gfm-rag"),
    "BEIR": ("beir", "beir"),
    "A-RAG": ("arag", "arag-pretty"),
    "DataMind": ("datamind", "datamind"),
    "HippoRAG": ("hipporag", "hipporag"),
    "SAGE": ("sage", "sage"),
    "TREC": ("trec", "trec"),
    "GraphRAG": ("graphrag", "graphrag"),
    **DOCUMENTS,
    "RAPTOR": ("raptor", "raptor"),
}
"""What reports are made of: format and kind of set."""
_LARGE = ("GraphRAG", *DOCUMENTS, "RAPTOR")
"""Those whose sets are that large that a quarter will do."""


def reported_set(name: str, scale: float) -> Set:
    """The set that a report is made of, which quality is checked of, too."""
    return Set(REPORTED[name][1], scale / 4 if name in _LARGE else scale)


def validated(name: str) -> str:
    """The case of plain validation of that set."""
    return f"Report on {name}: ragdata validate"


def reported(name: str) -> str:
    """The case of the report on that set."""
    return f"Report on {name}: ragdata report"


def _report(scale: float) -> list[Case]:
    cases = []
    for name, (format_, _) in REPORTED.items():
        made, floor = reported_set(name, scale), validated(name)
        words = ("report", "{}", "--from", format_, "-q")
        cases += [
            Case(floor, "Reports", made, words=_validate(format_), repeats=5, note="what a report is measured by"),
            Case(reported(name), "Reports", made, words=words, against=floor, repeats=5),
        ]
    return cases


_CONVERSIONS = {
    "A-RAG to DataMind": ("arag", "datamind", "arag-pretty", 4),
    "BEIR to light-splade": ("beir", "light-splade", "beir", 4.5),
}
"""What is converted: formats, set, and how many times the set are 2 GB."""


def _conversion(source: str, target: str) -> tuple[str, ...]:
    return ("convert", "--from", source, "--to", target, "{}", "{target}", "-q")


def _convert(scale: float) -> list[Case]:
    cases = []
    for name, (source, target, kind, _) in _CONVERSIONS.items():
        group, made, floor = f"Convert {name}", Set(kind, scale), f"Convert {name}: DuckDB"
        cases += [
            Case(floor, group, made, "duckdb_convert", (source,), note="the floor: nothing checked, no manifest"),
            Case(f"{group}: ragdata", group, made, words=_conversion(source, target), against=floor,
                 note="with validation of source and output"),
            Case(f"{group}: json", group, made, "json_convert", (source,), floor, rounds=1,
                 note="the standard library's, all in memory; nothing checked, no manifest"),
        ]  # fmt: skip
    bare, tiny = "Start: python -c pass", Set("splade-tiny", 1)
    words = _conversion("light-splade", "beir")
    return [*cases, Case("Start: ragdata, convert a tiny dataset", "Start", tiny, words=words, against=bare, repeats=5)]


def _convert_large(scale: float) -> list[Case]:
    return [
        Case(f"Convert {name}: ragdata, 2 GB", f"Convert {name}", Set(kind, scale * factor), rounds=1,
             words=_conversion(source, target), note="for its memory")
        for name, (source, target, kind, factor) in _CONVERSIONS.items()
    ]  # fmt: skip
