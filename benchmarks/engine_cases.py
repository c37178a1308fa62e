"""The engine's own table: every format that it scans beside its floor, on one core and two, sound, with faults, with a
finding in every record; the slow commands; start-up. ``run.py --engine`` measures it, ``engine_targets.py`` judges it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from cases import HERE, REPORTED, Case, all_cases, reported, reported_set, validated
from sets.names import Set

_GROUPS = ("SPLADE", "DataMind", "A-RAG", "GFM-RAG", "SAGE", "Reports", "Start")
"""Groups of all cases that belong here, too, with their peers."""
MANY, ALL_BAD = 300, 1_000_000
"""Datasets of the set of tiny ones, records of the set in which each has a finding (at scale 1)."""
_READ = "Engine: faulty data read"
WORDED, SMALL = 0.1, 0.2
"""Scales: of the set all of whose findings are worded, and of one below 150 MB."""
CONVERTED, CONVERTED_MEGABYTES = 0.25, 203
FAULTY = {
    "SPLADE": ("select count(distinct text) from documents", "beir"),
    "DataMind": ("select count(distinct text) from chunks", "gfm-rag"),
    "GFM-RAG": ("select count(distinct relation) from edges", "datamind"),
    "SAGE": ("select count(distinct text) from questions", "beir"),
}
"""Formats of which faulty data are read by other commands, too: what is asked of them, and what they are made into."""
DIFFERING = ("SPLADE", "DataMind")
"""Those that are compared, too: a sound set with one that has as many changes, or faults."""


@dataclass(frozen=True, slots=True)
class Scanned:
    """A format as it is measured here: ``floor`` says which script makes the floor, with which word. A short one is
    measured several times in each round (``repeats``)."""

    name: str
    format: str
    kind: str
    tool: str
    word: str
    faults: bool = False
    repeats: int = 1


SCANNED = (
    Scanned("SPLADE", "light-splade", "splade", "duckdb_scan", "splade", faults=True),
    Scanned("DataMind", "datamind", "datamind", "duckdb_scan", "datamind", faults=True),
    Scanned("GFM-RAG", "gfm-rag", "gfm-rag", "duckdb_scan", "gfm-rag", faults=True),
    Scanned("BEIR", "beir", "beir", "duckdb_scan", "beir-lines"),
    Scanned("A-RAG", "arag", "arag-pretty", "duckdb_scan", "arag"),
    Scanned("SAGE", "sage", "sage", "json_lines", "sage-orjson", faults=True, repeats=3),
    Scanned("HippoRAG", "hipporag", "hipporag", "python", "duckdb_documents.py"),
    Scanned("TREC", "trec", "trec", "", ""),
)


def engine_cases(scale: float) -> list[Case]:
    """All of them."""
    cases = [case for case in all_cases(scale, series=False) if case.group in _GROUPS]
    for one in SCANNED:
        cases += _scanned(one, scale)
    cases += [*_decoded(scale), *_findings(scale), *_slow(scale), *_quality(scale), *_faulty(scale), *_many()]
    return cases


def _validate(format_: str, *more: str, path: str = "{}") -> tuple[str, ...]:
    return ("validate", path, "--from", format_, "-q", *more)


def _scanned(one: Scanned, scale: float) -> list[Case]:
    group, made = f"Engine: {one.name}", Set(one.kind, scale)
    floors, cases = {}, []
    for cores in (1, 2):
        words = (str(HERE / "peers" / one.word), "{}") if one.tool == "python" else (one.word,)
        floor = Case(f"{group}, floor, {_cores(cores)}", group, made, one.tool, words, cores=cores)
        floors[cores] = floor.name if one.tool else ""
        cases += [floor] if one.tool else []
        own = Case(f"{group}, {_cores(cores)}", group, made, words=_validate(one.format), cores=cores)
        cases.append(replace(own, against=floors[cores]))
    for faults in (100, 1000) if one.faults else ():
        name = f"{group}, {faults} faults"
        cases.append(
            Case(
                name,
                group,
                _with_faults(made, faults),
                words=_validate(one.format),
                against=own.name,
                exit_code=1,
                cores=2,
                note="in smaller sets as many fewer" if scale < 1 else "",
            )
        )
    return [replace(case, repeats=one.repeats) for case in cases]


def _cores(cores: int) -> str:
    return f"{cores} core" + "s" * (cores > 1)


def _decoded(scale: float) -> list[Case]:
    return [
        Case(f"Engine: {name}, orjson", f"Engine: {name}", Set(kind, scale), "json_lines", ("all-orjson",), rounds=2,
             note="decodes the lines, no more; one thread")
        for name, kind in (("SPLADE", "splade"), ("DataMind", "datamind"), ("BEIR", "beir"))
    ]  # fmt: skip


def _findings(scale: float) -> list[Case]:
    group, words = "Engine: findings", _validate("light-splade", path="{}/doc_master.ndjson")
    good, bad = Set("splade-all-good", scale), Set("splade-all-bad", scale)
    fewer = replace(bad, scale=WORDED * scale)
    worded = (*words[:-1], "--max-per-rule", "0", "--output-format", "json")
    first, second = "Engine: no finding", "Engine: 100,000 findings, counted"
    return [
        Case(first, group, good, words=words, rounds=3),
        Case("Engine: a finding in every record", group, bad, words=words, against=first, exit_code=1, rounds=3),
        Case(second, group, fewer, words=words, exit_code=1, rounds=3),
        Case("Engine: 100,000 findings, worded", group, fewer, words=worded, against=second, exit_code=1, rounds=3),
    ]


def _slow(scale: float) -> list[Case]:
    small, own = "Engine: small, floor", Set("splade", SMALL * scale)
    source = Set("datamind", CONVERTED * scale)
    conversion = ("convert", "--from", "datamind", "--to", "gfm-rag", "{}", "{target}", "-q")
    return [
        Case(small, "Engine: small", own, "duckdb_scan", ("splade",)),
        Case("Engine: small", "Engine: small", own, words=_validate("light-splade"), against=small),
        Case("Engine: DataMind to GFM-RAG", "Engine: conversions", source, words=conversion),
    ]


def quality(name: str) -> str:
    """The case of the quality of one of the sets that reports are made of."""
    return f"Engine: quality of {name}"


def _quality(scale: float) -> list[Case]:
    return [
        Case(quality(name), "Engine: quality", reported_set(name, scale), words=_validate(format_, "--quality"),
             against=validated(name))
        for name, (format_, _) in REPORTED.items()
    ]  # fmt: skip


def faulty(command: str, name: str, faults: int = 1000) -> str:
    """The case of a command on one of the sets with faults, or (0) on its sound twin."""
    return f"Engine: {command} of {name}, {faults} faults" if faults else f"Engine: {command} of {name}"


def _faulty(scale: float) -> list[Case]:
    """Commands other than `validate` on data with as many faults for their size as in its cases, and on sound data."""
    cases = []
    for one in SCANNED:
        if one.name not in FAULTY:
            continue
        query, target = FAULTY[one.name]
        whole, part = Set(one.kind, scale), Set(one.kind, scale * CONVERTED)
        report = ("report", "{}", "--from", one.format, "-q")
        asked = ("query", "{}", query, "--from", one.format)
        made = ("convert", "--from", one.format, "--to", target, "{}", "{target}", "-q", "--keep-going")
        cases += [
            Case(faulty("report", one.name), _READ, _with_faults(whole), words=report, against=reported(one.name),
                 repeats=5),
            *(replace(case, repeats=3) for case in _with_and_without("query", one.name, whole, asked)),
            *_with_and_without("conversion", one.name, part, made),
        ]  # fmt: skip
        if one.name in DIFFERING:
            sound, words = faulty("diff", one.name, 0), ("diff", "{before}", "{}", "-q")
            other, bad = replace(part, changes=_number_in(part, 1000)), _with_faults(part)
            cases += [
                Case(sound, _READ, other, words=words, exit_code=1, before=part),
                Case(faulty("diff", one.name), _READ, bad, words=words, against=sound, exit_code=1, before=part),
            ]
    return cases


def _with_and_without(command: str, name: str, made: Set, words: tuple[str, ...]) -> list[Case]:
    sound = faulty(command, name, 0)
    return [
        Case(sound, _READ, made, words=words),
        Case(faulty(command, name), _READ, _with_faults(made), words=words, against=sound),
    ]


def _number_in(made: Set, number: int) -> int:
    """So many faults or changes, in smaller sets as many fewer."""
    return max(5, round(number * min(made.scale, 1)))


def _with_faults(made: Set, number: int = 1000) -> Set:
    return replace(made, faults=_number_in(made, number))


def _many() -> list[Case]:
    bare, words = "Start: python -c pass", _validate("light-splade")
    many = Set("splade-tiny-many", 1)
    return [Case(f"Start: ragdata, {MANY} tiny datasets", "Start", many, words=words, against=bare, repeats=3)]
