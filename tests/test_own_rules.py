"""Rules of a project's own: their findings are like all others, and what is wrong with them is named."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from ragdatakit import rules, validate
from ragdatakit.schemas.errors import RagdataError
from tests.command_line import FIXTURES, run

QUERY = """
[[rule]]
code = "ACME101"
name = "text-too-short"
severity = "warning"
summary = "A short document."
message = "document {key} has {length} characters"
hint = "merge it"
sql = "select doc_id as key, text as value, length(text) as length from documents where length(text) < 30"
"""
SCHEMA = """
[[rule]]
code = "ACME201"
name = "metadata-not-ours"
summary = "Odd metadata."
format = "beir"
records = "corpus"
field = "metadata"
[rule.schema]
required = ["source"]
properties = { year = { type = "string" } }
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    shutil.copytree(FIXTURES / "beir" / "valid" / "with-metadata", tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def configure(project: Path, text: str) -> None:
    (project / "ragdata.toml").write_text(text, encoding="utf-8")


def test_a_query_finds_lines_values_and_keys(project: Path) -> None:
    configure(project, QUERY)

    (found,) = validate("data", config=True).findings

    assert (found.code, found.severity, found.path, found.line) == ("ACME101", "warning", "data/corpus.jsonl", 2)
    assert found.message == "document d2 has 26 characters"
    assert (found.pointer, found.value, found.key) == ("/text", "Two boats mapped the reef.", "_id=d2")
    assert found.excerpt is not None and found.excerpt.text[found.excerpt.start :].startswith('"Two boats')
    assert found.fingerprint and found.span is not None
    outcome = run("validate", "data")
    assert (outcome.code, "    → merge it" in outcome.out) == (0, True)
    assert run("validate", "data", "--output-format", "json").json["by_rule"] == {"ACME101": 1}
    assert validate("data").by_rule == {}


def test_a_message_that_names_no_column_of_the_query_is_refused(project: Path) -> None:
    configure(project, QUERY.replace("{key}", "{keyy}"))

    outcome = run("validate", "data")

    assert outcome.code == 2
    assert "the query of ACME101: it gives no column keyy, which the message names; it gives " in outcome.err


@pytest.mark.usefixtures("queries_in_processes")
def test_a_query_that_takes_too_long_names_the_setting(project: Path) -> None:
    endless = "select sum(sqrt(a.range * b.range)) as value from range(1000000) a, range(1000000) b"
    configure(project, QUERY.partition("sql =")[0] + f'sql = "{endless}"\ntimeout = 1')

    outcome = run("validate", "data")

    assert outcome.code == 2
    assert "the query was stopped after 1 s (`timeout` of the rule)" in outcome.err


def test_a_query_may_name_the_place(project: Path) -> None:
    query = "select 'corpus.jsonl' as _file, 1 as _line, 'x' as key, 7 as value, 3 as length, '/text' as pointer"
    configure(project, QUERY.partition("sql =")[0] + f'sql = "{query}"')

    (found,) = validate("data", config=True).findings

    assert (found.path, found.line, found.key, found.value) == ("data/corpus.jsonl", 1, "x", 7)


def test_a_schema_reports_all_errors_where_they_are(project: Path) -> None:
    configure(project, SCHEMA)

    found = validate("data", config=True).findings

    assert [(f.line, f.pointer, f.message) for f in found] == [
        (1, "/metadata", "'source' is a required property"),
        (1, "/metadata/year", "1911 is not of type 'string'"),
        (2, "/metadata", "'source' is a required property"),
    ]
    assert run("validate", "data").code == 1


@pytest.mark.parametrize(
    ("more", "code", "counts"),
    [
        ("ignore = ['ACME']", 0, {}),
        ("select = ['text-too-short']", 0, {"ACME101": 1}),
        ("severity = {ACME201 = 'info'}", 0, {"ACME101": 1}),
        ("max = {ACME201 = 3, text-too-short = 0}", 1, {"ACME101": 1, "ACME201": 3}),
        ("max = {ACME201 = 3}", 0, {"ACME101": 1, "ACME201": 3}),
        ("fail-on = 'never'", 0, {"ACME101": 1, "ACME201": 3}),
        ("per-path-ignores = {'data/corpus.jsonl' = ['ACME2']}", 0, {"ACME101": 1}),
    ],
)
def test_they_are_chosen_and_counted_like_others(more: str, code: int, counts: dict[str, int], project: Path) -> None:
    configure(project, more + QUERY + SCHEMA)

    outcome = run("validate", "data", "--output-format", "json", "--max-per-rule", "1")

    assert (outcome.code, outcome.json["by_rule"]) == (code, counts)
    assert len(outcome.json["findings"]) == len(counts)


def test_every_output_has_them(project: Path) -> None:
    configure(project, QUERY + SCHEMA)
    forms = ("sarif", "gitlab", "junit", "github", "rdjson", "checkstyle", "concise")
    reports = [f"--report={form}={form}" for form in forms]

    run("validate", "data", "--select", "ACME", *reports)

    for form in forms:
        assert "ACME201" in (project / form).read_text(), form
    (run_of,) = json.loads((project / "sarif").read_text())["runs"]
    assert {rule["id"] for rule in run_of["tool"]["driver"]["rules"]} == {"ACME101", "ACME201"}


def test_they_are_listed_and_explained(project: Path) -> None:
    configure(project, QUERY + SCHEMA)

    assert "ACME201  error    metadata-not-ours " in run("rules", "beir").out
    assert run("rules", "ACME", "--output-format", "json").json == rules("ACME", config=True)
    assert (
        run("explain", "acme101").out.splitlines()[0]
        == "ACME101 text-too-short  (warning, any format; of this project)"
    )
    assert run("explain", "ACME101", "--isolated").code == 2


@pytest.mark.broad(3)
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"ACME101"', '"AC101"', ":3: rule.code is 'AC101', expected three letters or more"),
        ("{length}", "{length:>999999999}", ":7: rule.message is "),
        ("{length}", "{length.real}", ":7: rule.message is "),
        ("{length}", "{", ":7: rule.message is "),
        ('sql = "', 'schema = {}\nsql = "', ":2: the rule ACME101 has both sql and schema"),
        ('sql = "', 'field = "', ":2: the rule ACME101 has no sql, schema or model"),
        ('sql = "', 'field = "x"\nsql = "', ":9: field means nothing for a rule by sql"),
        ('sql = "', 'schema = "gone.json"\n#', ":9: gone.json: no such file"),
        ('sql = "', 'schema = "ragdata.toml"\n#', ":9: ragdata.toml is not JSON"),
        ('sql = "', "schema = {type = 3}\n#", ":2: the schema of ACME101 is none: type: 3 is not"),
        ("documents where", "document where", ":2: the query of ACME101: "),
        ("select doc_id", "drop table x; select doc_id", ":2: the query of ACME101: "),
        ("from documents", "from read_text('/etc/passwd')", ":2: the query of ACME101: "),
        ('name = "', 'ignore = ["X"]\nname = "', ":4: unknown setting 'ignore' of [[rule]]"),
    ],
)
def test_a_wrong_rule_is_named(old: str, new: str, message: str, project: Path) -> None:
    configure(project, QUERY.replace(old, new))

    outcome = run("validate", "data")

    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err
    with pytest.raises(RagdataError):
        validate("data", config=True)


def test_two_rules_of_one_name(project: Path) -> None:
    configure(project, QUERY + QUERY.replace("ACME101", "ACME102"))

    assert "ragdata.toml:11: text-too-short is declared already, at ragdata.toml:2" in run("validate", "data").err


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("http://127.0.0.1:9/x", "nothing is found at its $ref "),
        ("file:///etc/hostname", "nothing is found at its $ref "),
        ("#/$defs/gone", "nothing is found at its $ref "),
        ("#", "it includes itself without end"),
    ],
)
def test_a_schema_that_leads_nowhere(reference: str, message: str, project: Path) -> None:
    configure(project, SCHEMA.replace('required = ["source"]', f'"$ref" = "{reference}"'))

    outcome = run("validate", "data")

    assert (outcome.code, outcome.out) == (2, "")
    assert f"ragdata.toml:2: the schema of ACME201: {message}" in outcome.err


def test_a_pattern_that_never_ends_is_stopped(project: Path) -> None:
    """A regular expression holds the interpreter: only the process can be ended."""
    text = SCHEMA.replace('field = "metadata"', "timeout = 1").replace('"source"', '"text"')
    configure(project, text.replace('year = { type = "string" }', 'text = { pattern = "^(a+)+$" }'))
    with (project / "data/corpus.jsonl").open("a") as corpus:
        corpus.write(json.dumps({"_id": "x", "title": "", "text": "a" * 60 + "!"}) + "\n")

    outcome = run("validate", "data")

    assert (outcome.code, outcome.out) == (2, "")
    assert "took more than 1 s for one record, line 3 of data/corpus.jsonl, and was stopped" in outcome.err


TABLES = """
[[table]]
path = "{file}"
kind = "documents"
map = {{ doc_id = "nr", text = "body" }}
{more}
[[rule]]
code = "ACME101"
name = "text-too-short"
summary = "A short text."
message = "{{key}} is short"
format = "table"
sql = "select doc_id as key, text as value from documents where length(text) < 6"

[[rule]]
code = "ACME102"
name = "text-far-too-short"
summary = "A short text."
format = "table"
[rule.schema]
properties = {{ body = {{ minLength = 6 }} }}
"""


@pytest.mark.parametrize(
    ("file", "content", "more", "place"),
    [
        ("faq.csv", 'nr,body\n1,"long enough, this"\n2,short\n', "", (3, 3)),
        ("faq.csv", "nr;body\n1;long enough\n2;short\n", 'delimiter = ";"', (3, None)),
        ("faq.tsv", "nr\tbody\n1\tlong enough\n2\tshort\n", "", (3, 3)),
        ("faq.jsonl", '{"nr": 1, "body": "long enough"}\n{"nr": 2, "body": "short"}\n', "", (2, 19)),
    ],
)
def test_tables_that_settings_name(
    file: str, content: str, more: str, place: tuple[int, int | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(file).write_text(content)
    configure(tmp_path, TABLES.format(file=file, more=more))

    found = validate(file, config=True).findings

    assert [(f.code, f.message) for f in found] == [("ACME101", "2 is short"), ("ACME102", "'short' is too short")]
    assert {(f.line, f.column) for f in found} == {place}


def test_a_terminal_obeys_nothing_of_the_settings(project: Path) -> None:
    hostile = QUERY.replace("merge it", "\\u001b[31m\\n::error::x").replace("document {key}", "\\u001b[31m{key}")
    configure(project, hostile.replace("text-too-short", "\\u001b[31m"))

    for form in ("full", "concise", "github"):
        outcome = run("validate", "data", "-v", "--statistics", "--output-format", form)
        assert "ACME101" in outcome.out
        assert "\x1b" not in outcome.out + outcome.err
        assert not any(line.startswith("::error::x") for line in outcome.out.splitlines())
