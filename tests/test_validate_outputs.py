"""Every output of ``ragdata validate``, read as those read it for whom it is made, with any text in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ragdatakit
from ragdatakit.reports.findings.choice import choose, divided
from ragdatakit.reports.findings.output_forms import OUTPUT_FORMS, Found, written
from ragdatakit.reports.findings.places import uri_of
from ragdatakit.schemas import all_rules
from ragdatakit.schemas.findings import Finding, Related, Severity, Span
from ragdatakit.schemas.results import DatasetSummary, FileSummary, Report
from ragdatakit.schemas.rules.shared import NOT_CHECKED
from ragdatakit.validators import run as validators_run
from tests.broad import examples
from tests.command_line import DEMO, FIXTURES, GOOD, run
from tests.output_readers import (
    azure_commands,
    checkstyle_errors,
    diagnostic,
    github_commands,
    gitlab_entries,
    jenkins_of_checkstyle,
    jenkins_of_sarif,
    json_of,
    junit_cases,
    sarif_results,
    schema_of_others,
    uri_path,
)

MATCHER = re.compile(r"^(.+?):(\d+)(?::(\d+))? ([A-Z]{2,}\d{3}) (error|warning|info) (.*)$")
"""The problem matcher of docs/outputs.md."""
ROOT = Path(__file__).parents[1]


def output(form: str, findings: Iterable[Finding], report: Report | None = None) -> str:
    """What is written of these findings."""
    findings = list(findings)
    report = report or reported(findings)
    return b"".join(written(form, Found(report, iter(findings)))).decode("utf-8")


def reported(findings: list[Finding]) -> Report:
    counts: Counter[Severity] = Counter(finding.severity for finding in findings)
    by_rule = Counter(finding.code for finding in findings)
    return Report(counts={s: counts[s] for s in ("error", "warning", "info")}, by_rule=dict(by_rule))


def demo(form: str) -> str:
    outcome = run("validate", "fixtures/demo-broken", "--output-format", form, cwd=ROOT)
    assert (outcome.code, outcome.err) == (1, "")
    return outcome.out


PLACES = {(Path(f["path"]).name, f["line"]): f for f in orjson.loads(demo("json"))["findings"]}
QUERIES = "fixtures/demo-broken/train/query_master.ndjson"


# --- each form, of a dataset with faults


def test_concise_is_what_problem_matchers_take_apart() -> None:
    *lines, summary, _, _ = demo("concise").splitlines()

    found = [match.groups() for line in lines if (match := MATCHER.match(line))]
    assert len(found) == len(lines) == len(PLACES)
    assert found[0][:5] == (QUERIES, "3", "9", "SP121", "error")
    assert summary.startswith("Found 8 errors, 1 warning")


def test_grouped_names_each_file_once() -> None:
    text = demo("grouped")

    assert text.count(QUERIES) == 1
    assert '\n  3:9 SP121 error [*] qid is "3"' in text
    assert "|" not in text and "→" not in text


def test_full_is_what_it_was_as_text() -> None:
    full, text, usual = (re.sub(r"in \d.*s", "", demo(form)) for form in ("full", "text", "full"))
    assert full == text == usual and "    3 | " in full


def test_github_annotates() -> None:
    commands, others = github_commands(demo("github"))

    assert Counter(name for name, _, _ in commands) == {"error": 8, "warning": 1}
    assert commands[0][1] == {
        "file": QUERIES,
        "line": "3",
        "endLine": "3",
        "col": "9",
        "endColumn": "12",
        "title": "SP121 id-not-integer",
    }
    assert commands[0][2].startswith('qid is "3", expected an integer;') and "\n→ write the id" in commands[0][2]
    assert "Found 8 errors, 1 warning" in "\n".join(others)  # the text is in the log as well


def test_azure_logs_issues() -> None:
    commands, others = azure_commands(demo("azure"))

    assert {name for name, _, _ in commands} == {"task.logissue"}
    assert Counter(properties["type"] for _, properties, _ in commands) == {"error": 8, "warning": 1}
    first = {"type": "error", "sourcepath": QUERIES, "linenumber": "3", "columnnumber": "9", "code": "SP121"}
    assert commands[0][1] == first
    assert "Found 8 errors" in "\n".join(others)


def test_gitlab_gets_its_entries() -> None:
    entries = gitlab_entries(demo("gitlab"))

    assert len(entries) == 9
    assert Counter(entry["severity"] for entry in entries) == {"major": 8, "minor": 1}
    assert entries[0]["location"] == {"path": QUERIES, "lines": {"begin": 3}}
    assert entries[0]["description"].startswith("SP121: ")


def test_junit_has_a_case_for_each_rule_and_each_valid_file() -> None:
    cases = junit_cases(demo("junit"))

    assert Counter(state for state, _ in cases.values()) == {"failure": 9, "passed": 2}
    state, text = cases[QUERIES, "SP121 id-not-integer"]
    assert state == "failure" and text.startswith('3:9 qid is "3"')
    assert cases["fixtures/demo-broken/validation/doc_master.ndjson", "valid"] == ("passed", "")


def test_checkstyle_has_the_errors() -> None:
    errors = checkstyle_errors(demo("checkstyle"))

    assert len(errors) == 9
    first = errors[0]
    assert (first["file"], first["line"], first["column"], first["severity"]) == (QUERIES, 3, 9, "error")
    assert first["source"] == "ragdata.SP121"


@pytest.mark.parametrize("form", ["rdjson", "rdjsonl"])
def test_reviewdog_gets_diagnostics(form: str) -> None:
    text = demo(form)
    found = json_of(text)["diagnostics"] if form == "rdjson" else [json_of(line) for line in text.splitlines()]

    assert len([diagnostic(one) for one in found]) == 9
    assert found[0]["location"]["path"] == QUERIES
    place = {"start": {"line": 3, "column": 9}, "end": {"line": 3, "column": 12}}
    assert found[0]["location"]["range"] == place
    assert found[0]["suggestions"] == [{"range": place, "text": "3"}]
    assert [line for one in found for s in one.get("suggestions", ()) if (line := s["text"]) == ""]  # lines that go


def test_sarif_has_the_edits() -> None:
    results = {result["ruleId"]: result for result in sarif_results(demo("sarif"))}

    (fix,) = results["SP121"]["fixes"]
    (change,) = fix["artifactChanges"]
    assert change["artifactLocation"]["uri"] == QUERIES
    assert change["replacements"][0]["insertedContent"] == {"text": "3"}
    assert "fixes" not in results["SP123"]


def test_reviewdog_counts_bytes(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "title": "é", "text": "tide"}\n', encoding="utf-8")
    (tmp_path / "queries.jsonl").write_text('{"_id": "é", "text": "when"}\n', encoding="utf-8")
    (tmp_path / "qrels").mkdir()
    rows = "query-id\tcorpus-id\tscore\né\td1\t1\né\tdé\t1\n"
    (tmp_path / "qrels" / "test.tsv").write_text(rows, encoding="utf-8")

    lines = run("validate", "--output-format", "rdjsonl", cwd=tmp_path).lines
    found = next(line for line in lines if "dé" in line["message"])
    place = found["location"]["range"]
    assert place == {"start": {"line": 3, "column": 4}, "end": {"line": 3, "column": 7}}


def test_sarif_has_all_that_github_asks_for() -> None:
    results = sarif_results(demo("sarif"))

    assert len(results) == 9
    place = results[0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": QUERIES, "uriBaseId": "%SRCROOT%"}
    assert place["region"] == {"startLine": 3, "startColumn": 9, "endLine": 3, "endColumn": 12}
    assert sum("relatedLocations" in result for result in results) == 2


def test_nothing_found_is_said_in_each_form() -> None:
    outputs = {form: run("validate", GOOD, "--output-format", form) for form in OUTPUT_FORMS}

    assert {outcome.code for outcome in outputs.values()} == {0}
    assert sarif_results(outputs["sarif"].out) == []  # it closes old alerts
    assert gitlab_entries(outputs["gitlab"].out) == []
    assert {state for state, _ in junit_cases(outputs["junit"].out).values()} == {"passed"}
    assert checkstyle_errors(outputs["checkstyle"].out) == []
    assert json_of(outputs["rdjson"].out)["diagnostics"] == [] and outputs["rdjsonl"].out == ""
    assert github_commands(outputs["github"].out)[0] == [] == azure_commands(outputs["azure"].out)[0]
    for form in ("full", "concise", "grouped", "github", "azure"):
        assert "Valid: " in outputs[form].out


# --- several outputs of one run


def test_one_validation_feeds_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = []
    check_paths = validators_run.check_paths
    monkeypatch.setattr(validators_run, "check_paths", lambda *words: runs.append(words) or check_paths(*words))
    words = [word for form in OUTPUT_FORMS for word in ("--report", f"{form}={tmp_path / form}")]

    outcome = run("validate", "fixtures/demo-broken", *words, "-q", cwd=ROOT)

    assert (len(runs), outcome.code) == (1, 1)
    assert outcome.out.startswith("Found 8 errors")
    for form in OUTPUT_FORMS:
        text = (tmp_path / form).read_text(encoding="utf-8")
        if OUTPUT_FORMS[form].escapes in ("json", "html") and form != "junit":  # which has the time
            assert text == demo(form), form
    assert len(junit_cases((tmp_path / "junit").read_text(encoding="utf-8"))) == 11


def test_a_report_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    from ragdatakit.api.output_files import write_file

    def ending() -> Iterator[Finding]:
        yield Finding("SP201", "dangling-qid", "error", "m", "p", 1)
        raise OSError("the scratch file is gone")

    (tmp_path / "a.json").write_text("before")
    with pytest.raises(OSError, match="scratch"):
        write_file(tmp_path / "a.json", written("gitlab", Found(Report(), ending())))
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]
    assert (tmp_path / "a.json").read_text() == "before"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--report", "sarif"), "is not FORMAT=FILE, such as sarif=ragdata.sarif"),
        (("--report", "sarif="), "is not FORMAT=FILE"),
        (("--report", "serif=a"), "unknown output format 'serif', did you mean sarif?"),
        (("--report", "sarif=no/such/folder/a"), "there is no folder"),
        (("--report", "sarif=a.out", "--report", "junit=a.out"), "is given twice"),
        (("--report", "json=a.out", "--output-file", "a.out"), "is given twice"),
        (("--report", "json=train/triplets.ndjson"), "is a file of the data itself"),
        (("--output-format", "html"), "unknown output format 'html'"),
        (("--output-file", "a.xml"), "the ending .xml is not an output format of this command"),
    ],
)
def test_what_cannot_be_written_is_refused_before_anything_is_read(words: tuple[str, ...], message: str) -> None:
    outcome = run("validate", *words, cwd=DEMO)

    assert (outcome.code, outcome.out) == (2, "") and message in outcome.err
    assert not (DEMO / "a.out").exists()


def test_the_environment_says_the_usual_form(tmp_path: Path) -> None:
    def form(*words: str, variable: str = "gitlab") -> str:
        return run("validate", DEMO, *words, env={"RAGDATA_OUTPUT_FORMAT": variable}).out[:1]

    assert form() == "["
    assert form("--output-format", "json") == form("--json") == "{"
    assert form(variable="") == form("--output-format", "text") == "/"
    assert form(variable="text") == "/"
    assert form("--output-file", str(tmp_path / "a.ndjson")) == ""
    assert (tmp_path / "a.ndjson").read_text()[:1] == "{"
    assert form("--output-file", str(tmp_path / "a.out")) == ""
    assert (tmp_path / "a.out").read_text()[:1] == "["
    outcome = run("validate", DEMO, env={"RAGDATA_OUTPUT_FORMAT": "gitlub"})
    assert outcome.code == 2 and "RAGDATA_OUTPUT_FORMAT is 'gitlub', expected one of full, concise" in outcome.err


# --- limits of those who read


def many(number: int, code: str, severity: Severity = "error") -> list[Finding]:
    return [
        Finding(
            code,
            "a-rule",
            severity,
            f"fault {n}",
            "data.jsonl",
            n + 1,
            1,
            fingerprint=f"{hash((code, n)) % 2**64:016x}",
        )
        for n in range(number)
    ]


def test_github_gets_the_ten_that_say_most() -> None:
    findings = [*many(40, "SP201"), *many(1, "SP202"), *many(12, "SP311", "warning"), *many(30, "SP999", "info")]

    commands, _ = github_commands(output("github", findings))

    assert Counter(name for name, _, _ in commands) == {"error": 10, "warning": 10, "notice": 10}
    assert Counter(properties["title"] for _, properties, _ in commands)["SP202 a-rule"] == 1
    assert commands[-1][2].startswith("54 more findings: ")


def test_azure_gets_ten_of_a_kind() -> None:
    commands, others = azure_commands(output("azure", [*many(40, "SP201"), *many(30, "SP999", "info")]))

    assert len(commands) == 10
    assert any(line.startswith("60 more findings: ") for line in others)


def test_sarif_has_5000_results_and_says_so() -> None:
    findings = [*many(9_000, "SP311", "warning"), *many(4_000, "SP201"), *many(9_000, "SP202"), *many(3, "SP203")]
    notes: list[str] = []

    found = Found(reported(findings), iter(findings), notes=notes)
    text = b"".join(written("sarif", found)).decode()

    results = sarif_results(text)
    assert Counter(result["ruleId"] for result in results) == {"SP201": 2499, "SP202": 2498, "SP203": 3}
    (run_,) = json_of(text)["runs"]
    (notice,) = run_["invocations"][0]["toolExecutionNotifications"]
    assert notice["message"]["text"].startswith("5,000 of 22,003 findings are here, as GitHub keeps no more than 5,000")
    assert notes == [f"sarif: {notice['message']['text']}"]


def test_what_max_per_rule_left_out_is_counted() -> None:
    report = reported(many(3, "SP201"))
    report.counts["error"], report.by_rule["SP201"] = 500, 500

    assert "3 of 500 findings are here: --max-per-rule 0" in output("sarif", many(3, "SP201"), report)
    assert "500 findings of this rule in all files" in output("junit", many(3, "SP201"), report)
    assert "497 more findings" in output("github", many(3, "SP201"), report)
    assert "… and 497 more of SP201" in output("concise", many(3, "SP201"), report)


def test_files_for_programs_have_more_than_the_screen(tmp_path: Path) -> None:
    lines = "".join(f'{{"_id": "{n}", "text": "harbour"}}\n' for n in range(30))
    (tmp_path / "corpus.jsonl").write_text('{"_id": "1", "title": "", "text": "pier"}\n', encoding="utf-8")
    (tmp_path / "queries.jsonl").write_text(lines, encoding="utf-8")
    (tmp_path / "qrels").mkdir()
    judged = "".join(f"{n}\tgone{n}\t1\n" for n in range(30))
    (tmp_path / "qrels/test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judged}", encoding="utf-8")
    made = {form: tmp_path / form for form in ("sarif", "json")}
    words = [f"--report={form}={file}" for form, file in made.items()]

    def numbers(*more: str) -> tuple[int, int, int]:
        screen = run("validate", tmp_path, "--select", "BE203", *words, *more).out
        (of_run,) = orjson.loads(made["sarif"].read_bytes())["runs"]
        document = orjson.loads(made["json"].read_bytes())
        assert document["counts"]["error"] == 30
        return len(of_run["results"]), len(document["findings"]), screen.count("BE203 error")

    assert numbers() == (30, 30, 20)
    assert numbers("--max-per-rule", "5") == (5, 5, 5)
    assert numbers("--max-per-rule", "20") == (20, 20, 20)
    plain, beside = (run("validate", tmp_path, "--json", *more).json["findings"] for more in ([], words))
    assert plain == beside


def test_junit_lists_a_hundred_of_a_rule() -> None:
    (state, text) = next(iter(junit_cases(output("junit", many(250, "SP201"))).values()))

    assert state == "failure" and len(text.splitlines()) == 101
    assert text.endswith("… and 150 more")


def test_what_could_not_be_checked_is_an_error_of_junit_and_critical_for_gitlab() -> None:
    finding = Finding("RD101", "unreadable-file", "error", "cannot be read", "a.jsonl", fingerprint="0" * 16)

    assert next(iter(junit_cases(output("junit", [finding])).values()))[0] == "error"
    assert gitlab_entries(output("gitlab", [finding]))[0]["severity"] == "critical"
    assert {rule.name for rule, _ in all_rules()} >= NOT_CHECKED


@given(st.lists(st.integers(0, 30), max_size=8), st.integers(1, 40))
def test_shares_are_as_equal_as_can_be(lengths: list[int], most: int) -> None:
    lengths.sort()
    shares = divided(lengths, most)

    assert sum(shares) == min(most, sum(lengths))
    assert all(share <= length for share, length in zip(shares, lengths, strict=True))
    cut = [share for share, length in zip(shares, lengths, strict=True) if share < length]
    assert not cut or max(shares) - min(cut) <= 1


@given(st.lists(st.tuples(st.sampled_from(["SP201", "SP202", "SP203"]), st.sampled_from(["error", "warning"]))))
def test_those_that_pass_in_a_stream_are_those_of_all(words: list[tuple[str, Severity]]) -> None:
    findings = [Finding(code, "r", severity, "m", "p", n + 1) for n, (code, severity) in enumerate(words)]

    chosen = choose(iter(findings), 3)

    errors = [finding for finding in findings if finding.severity == "error"]
    assert len(chosen) == min(3, len(findings))
    assert sum(finding.severity == "error" for finding in chosen) == min(3, len(errors))
    assert chosen == sorted(chosen, key=lambda finding: finding.line or 0)
    codes = {finding.code for finding in errors}
    assert len({f.code for f in chosen if f.severity == "error"}) == len(codes)


# --- any text

NASTY = st.sampled_from(
    [
        "::error::x",
        "##[add-mask]y",
        "##vso[task.x]z",
        "]]>",
        "<a b='\"&",
        "%0A%25",
        "\x00\x07\x1b[31m",
        "\r\n::warning::",
        "[a](1)",
    ]
)
TEXTS = st.lists(st.one_of(NASTY, st.text(max_size=12)), max_size=4).map("".join)
NAMES = st.one_of(NASTY, st.text(st.characters(exclude_characters="\x00", exclude_categories=("Cs",)), max_size=12))
UNDECODABLE = st.sampled_from(["caf\udce9", "\udcff\udc80", "é\udcc3"])
PATHS = st.lists(st.one_of(NAMES, UNDECODABLE), min_size=1, max_size=3).map(
    lambda parts: "/".join(parts).replace("\x00", "") or "x"
)


@st.composite
def any_findings(draw: st.DrawFn) -> list[Finding]:
    found = []
    for number in range(draw(st.integers(1, 4))):
        line = draw(st.one_of(st.none(), st.integers(1, 9)))
        column = draw(st.integers(1, 9)) if line else None
        wide: Any = {"end_line": line, "end_column": column + 3, "span": Span(0, 3)} if line and column else {}
        related = (Related(draw(PATHS), draw(st.sampled_from([None, 3])), draw(TEXTS)),)
        finding = Finding(
            code=draw(st.sampled_from(["SP201", "RD101", "QU101"])),
            rule=draw(st.sampled_from(["dangling-qid", "unreadable-file"])),
            severity=draw(st.sampled_from(["error", "warning", "info"])),
            message=draw(TEXTS) or "x",
            path=draw(PATHS),
            line=line,
            column=column,
            hint=draw(TEXTS),
            key=draw(st.one_of(st.none(), TEXTS)),
            pointer=draw(st.one_of(st.none(), TEXTS)),
            fingerprint=f"{number:016x}",
            related=related if draw(st.booleans()) else (),
            byte_columns=(column, column + 3) if column else None,
        )
        found.append(replace(finding, **wide))
    return found


def shown(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


@given(any_findings())
@settings(max_examples=examples(300), deadline=None)
def test_any_text_is_only_text(findings: list[Finding]) -> None:
    """Whatever messages, hints, keys and paths hold: each reader finds all findings, and nothing else."""
    assert len(gitlab_entries(output("gitlab", findings))) == len(findings)
    assert [e["description"] for e in gitlab_entries(output("gitlab", findings))] == [
        f"{finding.code}: {shown(finding.message)}" for finding in findings
    ]
    assert len(sarif_results(output("sarif", findings))) == len(findings)
    assert len([diagnostic(json_of(line)) for line in output("rdjsonl", findings).split("\n")[:-1]]) == len(findings)
    assert len(json_of(output("rdjson", findings))["diagnostics"]) == len(findings)
    assert len(checkstyle_errors(output("checkstyle", findings))) == len(findings)
    junit_cases(output("junit", findings))

    commands, _ = github_commands(output("github", findings))
    assert len(commands) == len(findings)
    assert {name for name, _, _ in commands} <= {"error", "warning", "notice"}
    for _, properties, _ in commands:
        assert properties.keys() <= {"file", "line", "endLine", "col", "endColumn", "title"}
    commands, _ = azure_commands(output("azure", findings))
    kept = [finding for finding in findings if finding.severity != "info"]
    assert [name for name, _, _ in commands] == ["task.logissue"] * len(kept)
    for _, properties, _ in commands:
        assert properties.keys() <= {"type", "sourcepath", "linenumber", "columnnumber", "code"}


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("data/a b.jsonl", "data/a%20b.jsonl"),
        ("data/ä%:?#.jsonl", "data/%C3%A4%25%3A%3F%23.jsonl"),
        ("caf\udce9/x", "caf%E9/x"),
        ("/data/x y.jsonl", "file:///data/x%20y.jsonl"),
        ("C:/data/ä.jsonl", "file:///C:/data/%C3%A4.jsonl"),
        ("//server/share/a.jsonl", "file://server/share/a.jsonl"),
    ],
)
def test_paths_as_uris(path: str, uri: str) -> None:
    assert uri_of(path) == uri
    if not uri.startswith("file:"):
        assert uri_path(uri) == path


def test_paths_are_those_of_the_project(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    folder = tmp_path / "some data" / "ä"
    folder.mkdir(parents=True)
    (folder / "corpus.jsonl").write_text('{"_id": "d1", "text": null}\n', encoding="utf-8")
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "when"}\n', encoding="utf-8")
    (folder / "qrels").mkdir()
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    name = "some data/ä/corpus.jsonl"

    def out(form: str, *words: Any) -> str:
        return run("validate", *words, "--output-format", form, cwd=folder).out

    for words in ((), (folder,), ("../ä",)):
        assert gitlab_entries(out("gitlab", *words))[0]["location"]["path"] == name
        assert github_commands(out("github", *words))[0][0][1]["file"] == name
        place = sarif_results(out("sarif", *words))[0]["locations"][0]["physicalLocation"]
        assert uri_path(place["artifactLocation"]["uri"]) == name
        assert (name, "valid") not in junit_cases(out("junit", *words))
        assert json_of(out("rdjson", *words))["diagnostics"][0]["location"]["path"] == "corpus.jsonl"


# --- Jenkins


def test_jenkins_drops_no_finding() -> None:
    roots = [FIXTURES / "demo-broken", FIXTURES / "arag/broken/padded-chunk-id"]
    for report in map(ragdatakit.validate, roots):
        levels = {"error": "error", "warning": "warning", "info": "note"}
        expected = Counter((f.code, levels[f.severity], f.line or 1) for f in report.findings)
        checkstyle = jenkins_of_checkstyle(output("checkstyle", report.findings, report))
        sarif = jenkins_of_sarif(output("sarif", report.findings, report))

        assert Counter((kind, levels[severity], line) for _, line, _, kind, severity, _ in checkstyle) == expected
        assert Counter((rule, level, line) for _, line, rule, level, _, _ in sarif) == expected


def test_equal_findings_of_a_line_are_two_for_jenkins() -> None:
    one = Finding("SP126", "duplicate-positive", "error", "document 10 is there twice", "a.ndjson", 1, 9)
    findings = [replace(one, fingerprint="0" * 16), replace(one, column=13, fingerprint="1" * 16)]

    assert len(jenkins_of_checkstyle(output("checkstyle", findings))) == 2
    assert len(jenkins_of_sarif(output("sarif", findings))) == 2


# --- the schemas and the validator of others

BROKEN = [
    FIXTURES / "demo-broken",
    *(
        file.parent / orjson.loads(file.read_bytes()).get("target", "data")
        for file in sorted(FIXTURES.glob("*/broken/*/expected.json"))[::40]
    ),
]


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ("sarif", "sarif-schema-2.1.0.json"),
        ("rdjson", "DiagnosticResult.json"),
        ("rdjsonl", "Diagnostic.json"),
        ("gitlab", "codeclimate.json"),
    ],
)
def test_the_schemas_of_others_take_them(form: str, name: str) -> None:
    import jsonschema

    schema = orjson.loads(schema_of_others(name).read_bytes())
    checker = jsonschema.validators.validator_for(schema)(schema)
    for root in BROKEN:
        text = run("validate", root, "--output-format", form).out
        documents = text.splitlines() if form == "rdjsonl" else [text]
        values = [value for document in documents for value in _entries(form, json_of(document))]
        assert [error.message for value in values for error in checker.iter_errors(value)] == []


def _entries(form: str, value: Any) -> list[Any]:
    return value if form == "gitlab" else [value]


def test_the_schema_of_jenkins_takes_junit() -> None:
    xmlschema = pytest.importorskip("xmlschema")
    schema = xmlschema.XMLSchema(str(schema_of_others("junit-10.xsd")))
    for root in BROKEN:
        text = run("validate", root, "--output-format", "junit").out
        without = re.sub(r'(<testcase .*?) file="[^"]*"', r"\1", text)  # GitLab's, which the schema does not know
        assert without != text
        assert [str(error) for error in schema.iter_errors(without)] == []


def test_the_validator_of_sarif_finds_no_error(tmp_path: Path) -> None:
    import subprocess

    tool = schema_of_others("Sarif.Multitool")
    run("validate", "fixtures/demo-broken", "--report", f"sarif={tmp_path / 'a.sarif'}", cwd=ROOT)
    rules = ["--rule-kind", "Sarif;Ghas", "--level", "Error;Warning;Note", "--log", "ForceOverwrite"]
    words = [tool.resolve(), "validate", tmp_path / "a.sarif", "-o", tmp_path / "told.sarif", *rules]
    subprocess.run(words, check=False, capture_output=True, timeout=120)

    (answer,) = orjson.loads((tmp_path / "told.sarif").read_bytes().removeprefix(b"\xef\xbb\xbf"))["runs"]
    found = {result["ruleId"] for result in answer["results"] if result.get("level", "warning") != "note"}
    assert found <= {"SARIF2005"}  # which asks for the address of the project on the web


# --- what the summary of a report is made of


def test_files_of_junit_are_those_of_the_datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "a.jsonl").touch()
    files = (FileSummary("a.jsonl", "corpus", 1, 1),)
    report = Report(datasets=[DatasetSummary("d", "beir", None, None, files, 0, 0)])

    assert junit_cases(output("junit", [], report)) == {("d/a.jsonl", "valid"): ("passed", "")}


def test_a_second_place_on_the_same_line_is_told_by_its_record(tmp_path: Path) -> None:
    (tmp_path / "demo_corpus.json").write_text('[{"title": "A", "text": "x"}, {"title": "A", "text": "x"}]', "utf-8")

    assert "first seen here: record 1\n" in run("validate", tmp_path).out
