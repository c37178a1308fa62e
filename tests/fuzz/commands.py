"""All commands over one dataset in this process, and what must hold for each of them whatever the data."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

from jsonschema import Draft202012Validator

from tests.command_line import GOOD, Outcome, run
from tests.fuzz.cases import Case
from tests.hostile import raw_controls, tree

TARGETS = ("arag", "datamind", "gfm-rag", "light-splade", "sage", "beir", "trec", "hipporag")
INTERNAL = re.compile(
    r"Traceback|failed on its own|RD112|rule-crashed|INTERNAL Error|Exception ignored|RecursionError"
    r"|(?<!pytrec_eval stops with )SystemError|was never awaited|object at 0x|UnraisableException|PanicException"
)
_TIMES = re.compile(r'"(seconds|duration|started|finished|time|created)": ?("[^"]*"|[0-9.e+-]+)')

Check = Callable[[Path, Path, Random], Iterator[str]]


def check(case: Case) -> Iterator[str]:
    """What went wrong in any command, in words that begin with the command."""
    case.build()
    with environment(case.scratch):
        for name, command in COMMANDS.items():
            case.note(name)
            before = tree(case.folder)
            for problem in command(case.data, case.scratch, case.rng):
                yield f"{name}: {problem}"
            if tree(case.folder) != before:
                yield f"{name}: the source was changed"
            left = [p.name for p in (case.scratch / "tmp").iterdir()]
            if left:
                yield f"{name}: left in the temporary folder: {sorted(left)[:3]}"
                for path in (case.scratch / "tmp").iterdir():
                    shutil.rmtree(path, ignore_errors=True)


def environment(scratch: Path) -> Any:
    """Temporary files and indexes of the commands go below ``scratch``."""
    (scratch / "tmp").mkdir(exist_ok=True)
    tempfile.tempdir = str(scratch / "tmp")
    names = {"TMPDIR": scratch / "tmp", "RAGDATA_CACHE_DIR": scratch / "cache", "HOME": scratch / "home"}
    return mock.patch.dict(os.environ, {k: str(v) for k, v in names.items()} | {"COLUMNS": "100"})


def usual(outcome: Outcome) -> Iterator[str]:
    """What holds for every run of every command."""
    if outcome.code not in (0, 1, 2):
        yield f"exit code {outcome.code}"
    found = INTERNAL.search(outcome.err) or INTERNAL.search(outcome.out)
    if found:
        text = outcome.err if INTERNAL.search(outcome.err) else outcome.out
        at = text.index(found.group())
        yield f"internal error: {text[max(0, at - 20) : at + 300]!r}"
    if outcome.code == 2 and not outcome.err.strip():
        yield "exit code 2 and nothing on stderr"
    if raw_controls(outcome.err):
        yield f"control characters on stderr: {sorted(raw_controls(outcome.err))}"
    for line in (outcome.out + outcome.err).splitlines():
        if line.lstrip().startswith(("##vso[", "##[", "::error::", "##teamcity[")):
            yield f"a command to the CI at the beginning of a line: {line[:80]!r}"


@cache
def schemas() -> dict[str, Draft202012Validator]:
    """The published schema of the JSON of each command."""
    from ragdatakit.reports.diff.schema import query_schemas
    from ragdatakit.reports.findings.schema import output_schema
    from ragdatakit.reports.gates.output_schema import gate_schema
    from ragdatakit.reports.search_output_schema import search_output_schemas
    from ragdatakit.reports.summary.schema import summary_schema

    found = {"validate": output_schema(), "report": summary_schema(), "gate": gate_schema()}
    found |= {**search_output_schemas(), **query_schemas()}
    return {name: Draft202012Validator(schema) for name, schema in found.items()}


def document(outcome: Outcome, schema: str) -> Iterator[str]:
    """Whether what was written to standard output is JSON, and as published."""
    if outcome.code == 2 and not outcome.out:
        return
    try:
        value = json.loads(outcome.out)
    except ValueError as error:
        yield f"not JSON ({error}): {outcome.out[:100]!r}"
        return
    for error in list(schemas()[schema].iter_errors(value))[:2] if schema in schemas() else ():
        yield f"not as the schema says: at {'/'.join(map(str, error.absolute_path))}: {error.message[:150]}"


def validate(data: Path, scratch: Path, rng: Random) -> Iterator[str]:
    """On the screen and as JSON, twice the same."""
    words = ["validate", data, "--severity", "info", "--output-format", "json", *(["--quality"] * (rng.random() < 0.4))]
    first, again, screen = run(*words), run(*words), run("validate", data, "-v", "--max-per-rule", "0")
    yield from usual(first)
    yield from document(first, "validate")
    yield from usual(screen)
    if raw_controls(screen.out):
        yield f"control characters on the screen: {sorted(raw_controls(screen.out))}"
    if _TIMES.sub("", first.out) != _TIMES.sub("", again.out):
        yield "not the same when run again"
    if first.code == 2 or screen.code == 2:
        return
    errors = any(f["severity"] == "error" for f in json.loads(first.out)["findings"])
    if "--quality" not in words and (errors or first.code) and not (errors and first.code == 1 and screen.code == 1):
        yield f"exit codes {first.code} and {screen.code}, errors: {errors}"


def report(data: Path, scratch: Path, rng: Random) -> Iterator[str]:
    """As JSON, and in one other form."""
    outcome = run("report", data, "--output-format", "json", *(["--findings"] * (rng.random() < 0.3)))
    yield from usual(outcome)
    yield from document(outcome, "report")
    other = run("report", data, "--output-format", rng.choice(("text", "markdown", "html")))
    yield from usual(other)


QUERIES = (
    "from documents",
    "from questions",
    "from chunks",
    "select count(*) as n from qrels",
    "from edges limit 3",
    "from qrels join questions using (question_id)",
)


def query(data: Path, scratch: Path, rng: Random) -> Iterator[str]:
    """The list of the tables, and a query as JSON or text."""
    outcome = run("query", data, "--tables", "--output-format", "json")
    yield from usual(outcome)
    yield from document(outcome, "query-tables")
    form = rng.choice(("table", "csv", "json", "ndjson", "markdown"))
    outcome = run("query", data, rng.choice(QUERIES), "--output-format", form)
    yield from usual(outcome)
    if form == "json" and outcome.code != 2:
        yield from document(outcome, "query")


def diff(data: Path, scratch: Path, rng: Random) -> Iterator[str]:
    """With itself, which is no difference, and with another."""
    same = run("diff", data, data, "--output-format", "json")
    yield from usual(same)
    yield from document(same, "diff")
    if same.code == 1:
        yield "differs from itself"
    other = run("diff", data, GOOD, "--output-format", rng.choice(("text", "json", "markdown", "html")))
    yield from usual(other)


def convert(data: Path, scratch: Path, rng: Random) -> Iterator[str]:
    """To a format: the old or the new target, which has no error, and each loss is counted."""
    words: list[Any] = [
        "convert",
        data,
        scratch / "out" / "to",
        "--to",
        (to := rng.choice(TARGETS)),
        "--output-format",
        "json",
    ]
    words += [w for w in ("--keep-going", "--strict", "--sidecar") if rng.random() < 0.4]
    shutil.rmtree(scratch / "out", ignore_errors=True)
    (scratch / "out").mkdir()
    if rng.random() < 0.4:
        shutil.copytree(GOOD, scratch / "out" / "to")
        words.append("--overwrite")
    before = tree(scratch / "out")
    outcome = run(*words)
    yield from usual(outcome)
    if sorted(p.name for p in (scratch / "out").iterdir()) not in ([], ["to"]):
        yield f"to {to}: left beside the target: {sorted(p.name for p in (scratch / 'out').iterdir())}"
    if outcome.code:
        if tree(scratch / "out") != before:
            yield f"to {to}: exit code {outcome.code}, and the target was changed"
        return
    for problem in _converted(scratch / "out" / "to", json.loads(outcome.out)):
        yield f"to {to} ({' '.join(words[6:])}): {problem}"


def _converted(target: Path, document: dict[str, Any]) -> Iterator[str]:
    checked = run("validate", target, "--output-format", "json")
    if checked.code == 1:
        bad = next(f for f in checked.json["findings"] if f["severity"] == "error")
        yield f"the output has errors: {bad['code']} {bad['path']}: {bad['message'][:150]}"
    elif checked.code == 2 and any(c["files"] for c in document["conversions"]):
        yield f"the output cannot be validated: {checked.err[:200]}"
    if run("verify", target).code:
        yield "verify: the output is not as its manifest says"
    for conversion in document["conversions"]:
        kinds = {loss["kind"] for loss in conversion["losses"]}
        if document["lossless"] and kinds & {"lost", "dropped", "coerced"}:
            yield "lossless, and there are losses"
        for loss in conversion["losses"]:
            if loss["count"] < 1 and not loss["reason"]:
                yield f"a loss of nothing: {loss}"
        yield from _rows_kept(target, conversion)


def _rows_kept(target: Path, conversion: dict[str, Any]) -> Iterator[str]:
    """Rows read are rows written or lost, where the output is read as the same table."""
    if conversion["folder"] or not conversion["files"]:
        return
    outcome = run("report", target, "--output-format", "json")
    try:
        tables = {t["name"]: t["rows"] for d in outcome.json["datasets"] for t in d["tables"]}
    except (ValueError, KeyError, TypeError):
        return
    for name, read in conversion["counts"].items():
        losses = sum(loss["count"] for loss in conversion["losses"] if loss["table"] == name)
        if name in tables and isinstance(read, int) and tables[name] < read - losses:
            yield f"{read} {name} were read, {tables[name]} are there, {losses} losses are reported"


def search(data: Path, scratch: Path, rng: Random) -> Iterator[str]:
    """Index, retrieve and evaluate."""
    modes = ("--mode", "bm25")
    outcome = run("index", data, *modes, "--json")
    yield from usual(outcome)
    yield from document(outcome, "index")
    again = run("retrieve", data, "what is known of harbour", *modes, "-k", "3", "--json")
    yield from usual(again)
    yield from document(again, "retrieve")
    if outcome.code == 0 and again.code == 2:
        yield f"indexed, but cannot be searched: {again.err[:200]}"
    measured = run("eval", data, *modes, "--json")
    yield from usual(measured)
    yield from document(measured, "eval")


def gate(data: Path, scratch: Path, rng: Random) -> Iterator[str]:
    """A suite of today's data holds today."""
    if rng.random() < 0.75:  # Great Expectations takes its time
        return
    suite = scratch / "suite.json"
    suite.unlink(missing_ok=True)
    first = run("gate", data, "--init", "--output-file", suite)
    yield from usual(first)
    if first.code:
        return
    held = run("gate", data, "--suite", suite, "--output-format", "json")
    yield from usual(held)
    yield from document(held, "gate")
    if held.code == 1:
        yield "a suite of today's data does not hold today"


COMMANDS: dict[str, Check] = {
    "validate": validate,
    "report": report,
    "query": query,
    "diff": diff,
    "convert": convert,
    "search": search,
    "gate": gate,
}
