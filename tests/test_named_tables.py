"""`[[table]]` of the settings: files of any columns, read alike by all commands without a flag."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragdatakit import report, validate
from ragdatakit.api.configuration import init_config
from ragdatakit.schemas.errors import RagdataError
from tests.command_line import run

SETTINGS = """\
[[table]]
path = "data/docs-*.csv"
kind = "documents"
map = { doc_id = "id", text = "body" }

[[table]]
path = "data/questions.jsonl"
kind = "questions"
map = { question_id = "nr", text = "q" }

[[table]]
path = "data/rel.tsv"
kind = "qrels"
map = { question_id = "q", doc_id = "d" }
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    data = tmp_path / "data"
    data.mkdir()
    (tmp_path / "ragdata.toml").write_text(SETTINGS)
    (data / "docs-1.csv").write_text("id,body,lang\nd1,The reef was mapped in one summer.,en\n")
    (data / "docs-2.csv").write_text("id,body,lang\nd2,The museum opens at nine.,en\n")
    questions = [{"nr": "1", "q": "who mapped the reef"}, {"nr": "2", "q": "when does the museum open"}]
    (data / "questions.jsonl").write_text("".join(f"{json.dumps(question)}\n" for question in questions))
    (data / "rel.tsv").write_text("q\td\n1\td1\n2\td2\n")
    (data / "other.json").write_text('{"text": "what no section names"}')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def texts(path: str, *words: str) -> list[str]:
    found = run("query", path, "select text from documents order by doc_id", *words, "--output-format", "json")
    return [row["text"] for row in found.json["rows"]]


@pytest.mark.parametrize("path", ["data", "."])
def test_all_commands_read_them(path: str, project: Path) -> None:
    (summary,) = report(path, config=True)
    assert {table.name: table.rows for table in summary.tables} == {"documents": 2, "questions": 2, "qrels": 2}
    names = [file.path.rpartition("/")[2] for file in summary.files]
    assert names == ["docs-1.csv", "docs-2.csv", "questions.jsonl", "rel.tsv"]
    assert texts(path) == ["The reef was mapped in one summer.", "The museum opens at nine."]
    assert run("convert", path, "out", "--to", "beir").code == 0
    assert json.loads((project / "out" / "corpus.jsonl").read_text().splitlines()[0])["_id"] == "d1"
    assert run("eval", path).out.splitlines()[1].startswith("2 questions with gold; 2 passages")


def test_one_file_of_them(project: Path) -> None:
    (summary,) = report("data/docs-2.csv", config=True)

    assert {table.name: table.rows for table in summary.tables} == {"documents": 1}


def test_quality_of_them(project: Path) -> None:
    (project / "data" / "docs-2.csv").write_text("id,body,lang\nd2,Museum,en\n")

    found = validate(".", config=True, quality=True).findings

    assert [(f.code, f.path, f.line) for f in found] == [("QU201", "data/docs-2.csv", 2)]


def test_encoding_and_delimiter(project: Path) -> None:
    text = SETTINGS.replace('kind = "documents"\n', 'kind = "documents"\nencoding = "latin-1"\ndelimiter = ";"\n')
    (project / "ragdata.toml").write_text(text.partition('[[table]]\npath = "data/q')[0])
    (project / "data" / "docs-1.csv").write_bytes("id;body\nd1;Über Pears, and more.\n".encode("latin-1"))
    (project / "data" / "docs-2.csv").write_text("id;body\nd2;Of pears\n")

    assert texts("data") == ["Über Pears, and more.", "Of pears"]


def test_the_command_line_goes_first(project: Path) -> None:
    assert texts("data/docs-1.csv", "--option", "map=id=id,text=lang") == ["en"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('text = "body"', 'txt = "body"', "ragdata.toml:4: unknown column 'txt' of documents, did you mean text?"),
        ('doc_id = "id"', 'doc_id = ["id", "lang"]', "4: doc_id is 2 columns, expected one"),
        ('"data/rel.tsv"', '"data/rell.tsv"', 'ragdata.toml:11: [[table]] names no file: "data/rell.tsv"'),
        ('"data/rel.tsv"', '"data/*.jsonl"', "questions.jsonl is in the table of ragdata.toml:6, too"),
        ('"documents"', '"documnets"', "ragdata.toml:3: table.kind is 'documnets', expected one of documents, "),
        ('"body"', '"bdy"', "no column 'bdy', did you mean body?"),
    ],
)
def test_what_is_wrong_is_named(old: str, new: str, message: str, project: Path) -> None:
    (project / "ragdata.toml").write_text(SETTINGS.replace(old, new))

    with pytest.raises(RagdataError) as raised:
        report("data", config=True)

    assert message in str(raised.value)


def test_what_is_wrong_in_them(project: Path) -> None:
    data = project / "data"
    (data / "docs-1.csv").write_text('id,body\nd1,One\n\nd2,""\nd1,"two\nlines"\n,x\n')
    (data / "questions.jsonl").write_text('{"nr": "1", "q": "who"}\n{"nr": 2}\n')
    (data / "rel.tsv").write_text("q\td\tgrade\n1\td1\t1\n2\td9\thigh\n")
    settings = SETTINGS.replace('doc_id = "d" }', 'doc_id = "d", grade = "grade" }')
    (project / "ragdata.toml").write_text(settings)

    outcome = run("validate", ".", "--output-format", "json")

    assert [(f["rule"], f["path"], f["line"], f["column"]) for f in outcome.json["findings"]] == [
        ("missing-table-value", "data/docs-1.csv", 4, 4),
        ("repeated-table-id", "data/docs-1.csv", 5, 1),
        ("missing-table-value", "data/docs-1.csv", 7, 1),
        ("repeated-table-id", "data/docs-2.csv", 2, 1),
        ("missing-table-value", "data/questions.jsonl", 2, None),
        ("unknown-table-id", "data/rel.tsv", 3, 3),
        ("grade-not-integer", "data/rel.tsv", 3, 6),
    ]
    assert outcome.code == 1
    assert run("validate", ".", "--ignore", "TB").code == 0


def test_without_faults_and_what_cannot_be_read(project: Path) -> None:
    assert run("validate", ".").out.splitlines()[-1].startswith("Valid: 4 files, 6 records")

    (project / "data" / "docs-1.csv").write_bytes(b"id,body\nd1,\xff\n")

    found = [(f.code, f.path) for f in validate("data", config=True).findings]
    assert ("RD101", "data/docs-1.csv") in found


def test_a_row_without_a_line_has_a_number(project: Path) -> None:
    settings = SETTINGS.replace('kind = "documents"\n', 'kind = "documents"\nencoding = "utf-16"\n')
    (project / "ragdata.toml").write_text(settings.partition('[[table]]\npath = "data/q')[0])
    for name in ("docs-1.csv", "docs-2.csv"):
        (project / "data" / name).write_text("id,body\nd1,x\n", encoding="utf-16")

    (finding,) = validate("data", config=True).findings

    assert (finding.rule, finding.path, finding.line or finding.record) == ("repeated-table-id", "data/docs-2.csv", 2)


def test_nothing_is_unknown_where_a_table_is_not_read(project: Path) -> None:
    (project / "data" / "docs-2.csv").write_text("id,text\nd2,x\n")

    (finding,) = validate("data", config=True).findings

    assert (finding.rule, finding.path, finding.line) == ("missing-table-column", "data/docs-2.csv", None)
    assert finding.fault == "has no column 'body', which ragdata.toml:4 names; it has id, text"


def test_datasets_beside_them_are_checked_too(project: Path) -> None:
    faq = project / "data" / "faq"
    (faq / "qrels").mkdir(parents=True)
    (faq / "corpus.jsonl").write_text('{"_id": "f1", "title": "", "text": "The reef"}\n')
    (faq / "queries.jsonl").write_text('{"_id": "q1", "text": "which reef"}\n')
    (faq / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\tf2\t1\n")
    (project / "data" / "rel.tsv").write_text("q\td\n1\td1\n2\td9\n")

    unnamed = [f.code for f in validate(".", config=True).findings]
    with (project / "ragdata.toml").open("a") as settings:
        settings.write('\n[[dataset]]\npath = "data/faq"\nformat = "beir"\n')
    named = [f.code for f in validate("data", config=True).findings]

    assert sorted(unnamed) == sorted(named) == ["BE203", "TB202"]


def test_reports_have_tables_and_datasets(project: Path) -> None:
    (project / "faq").mkdir()
    (project / "faq" / "corpus.jsonl").write_text('{"_id": "f1", "title": "", "text": "The reef"}\n')
    with (project / "ragdata.toml").open("a") as settings:
        settings.write('\n[[dataset]]\npath = "faq"\nformat = "beir"\n')

    first, second = report(".", config=True)

    assert ((first.name, first.format), second.format, second.path) == (("faq", "beir"), "table", "data")
    found = run("query", ".", "select count(*) as n from documents", "--dataset", second.name, "--json")
    assert found.json["rows"] == [{"n": 2}]


def test_a_changed_table_brings_the_others(project: Path) -> None:
    (project / "data" / "rel.tsv").write_text("q\td\n1\td1\n2\td9\n")

    outcome = run("validate", "--whole-datasets", "--skip-unrecognised", "data/docs-1.csv")

    assert 'TB202 error "d9" is the id of no document' in outcome.out
    assert outcome.out.splitlines()[-2].startswith("Found 1 error: table, 4 files, 6 records")


HOOK = ("validate", "--whole-datasets", "--skip-unrecognised", "--skip-unchanged", "--")
LOST = 'ragdata: ragdata.toml:11: [[table]] names no file: "data/rel.tsv"; correct its path, or remove the section\n'


@pytest.mark.parametrize("words", [("validate", "."), (*HOOK, "data/rel-2026.tsv"), (*HOOK, "data/docs-1.csv")])
def test_a_table_that_was_renamed_is_an_error_and_the_others_are_checked(words: tuple[str, ...], project: Path) -> None:
    (project / "data" / "rel.tsv").rename(project / "data" / "rel-2026.tsv")
    (project / "data" / "docs-2.csv").write_text("id,body\nd1,Of pears\n")

    outcome = run(*words)

    assert (outcome.code, outcome.err) == (2, LOST)
    if words[-1] != "data/rel-2026.tsv":
        assert 'data/docs-2.csv\n  2:1 TB201 error the id "d1"' in outcome.out


def test_changed_settings_bring_their_tables(project: Path) -> None:
    (project / "data" / "rel.tsv").write_text("q\td\n1\td1\n2\td9\n")

    outcome = run(*HOOK, "ragdata.toml")

    assert outcome.code == 1 and 'TB202 error "d9" is the id of no document' in outcome.out
    assert outcome.out.splitlines()[-2].startswith("Found 1 error: table, 4 files, 6 records")


def test_the_only_table_was_renamed(project: Path) -> None:
    (project / "ragdata.toml").write_text(SETTINGS[SETTINGS.rindex("[[table]]") :])
    (project / "data" / "rel.tsv").rename(project / "data" / "rel-2026.tsv")

    for words in (("validate", "."), ("validate", "data"), (*HOOK, "data/rel-2026.tsv"), (*HOOK, "data/rel.tsv")):
        assert (run(*words).code, run(*words).err) == (2, LOST.replace(":11", ":1"))
    assert "none below this path" in run("config", "data").out


def test_a_table_that_is_excluded_is_none(project: Path) -> None:
    (project / "ragdata.toml").write_text(f'exclude = ["data/rel*"]\n{SETTINGS}')

    assert run(*HOOK, "data/docs-1.csv").err == LOST.replace(":11", ":12")


def test_a_table_is_no_part_of_a_dataset(project: Path) -> None:
    (project / "data" / "chunks").mkdir()
    chunks = project / "data" / "chunks" / "chunks.jsonl"
    chunks.write_text('{"id": "c1", "text": "The reef"}\n')
    section = '[[table]]\npath = "data/chunks/chunks.jsonl"\nkind = "documents"\nmap = { doc_id = "id" }\n'
    (project / "ragdata.toml").write_text(section)

    for words in (["."], ["--whole-datasets", "data/chunks/chunks.jsonl"]):
        found = run("validate", *words, "--output-format", "json").json
        assert [dataset["format"] for dataset in found["datasets"]] == ["table"]


def test_a_first_file_leaves_out_a_table_with_the_ids_of_another(tmp_path: Path) -> None:
    for name, first in (("a", 1), ("b", 2), ("c", 9)):
        rows = [{"id": first + n, "text": f"The reef {name}"} for n in range(2)]
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))

    text = init_config(tmp_path).path.read_text()

    left_out = (
        '# left out, as "a.jsonl" has some of its ids: all documents here need ids of their own\n'
        '# [[table]]\n# path = "b.jsonl"\n# kind = "documents"\n# map = { doc_id = "id" }\n'
    )
    assert left_out in text
    checked = validate(tmp_path, config=True)
    assert (checked.findings, [file.path.rpartition("/")[2] for file in checked.datasets[0].files]) == (
        [],
        ["a.jsonl", "c.jsonl"],
    )


def test_a_first_file_leaves_out_a_table_whose_check_would_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "d.csv": "id,text\nd1,The reef\nd2,The tide\n",
        "e.csv": "id,text\nd3,The quay\nd3,The pier\n",
        "q.csv": "question_id,question\nq1,which reef\nq2,\n",
        "r.csv": "question_id,doc_id\nq1,d1\nq1,d3\n",
        "s.csv": "question_id,doc_id\nq1,d2\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)

    outcome = run("init-config", cwd=tmp_path)

    assert outcome.out == ("wrote ragdata.toml\n3 tables are there as comments, which say why: e.csv, q.csv, r.csv\n")
    text = (tmp_path / "ragdata.toml").read_text()
    start = "# left out, as its check fails: line "
    assert [line.removeprefix(start) for line in text.splitlines() if line.startswith(start)] == [
        '3: the id "d3" is that of an earlier row (TB201)',
        "3: the row has no value in column question (TB102)",
        '3: "d3" is the id of no document (TB202)',
    ]
    checked = validate(tmp_path, config=True)
    assert (checked.findings, len(checked.datasets[0].files)) == ([], 2)

    monkeypatch.setattr("ragdatakit.quality.faulty_tables._MOST_BYTES", 60)  # only the judgements are so small
    assert init_config(tmp_path, overwrite=True).left_out == ()


def test_a_first_file_has_tables_with_usual_columns(project: Path) -> None:
    (project / "ragdata.toml").unlink()
    (project / "data" / "chunks").mkdir()
    row = {"id": "c1", "page_content": "The reef", "metadata": {}}
    (project / "data" / "chunks" / "all.jsonl").write_text(f"{json.dumps(row)}\n")
    (project / "package.json").write_text('{"name": "shop", "version": "1.0"}')

    assert run("init-config").out == "wrote ragdata.toml\n"

    text = (project / "ragdata.toml").read_text()
    chunks = 'path = "data/chunks/all.jsonl"\nkind = "documents"\nmap = { doc_id = "id", text = "page_content" }\n'
    assert chunks in text
    assert "package.json" not in text
    assert "[[dataset]]" not in text  # chunks/ is a folder of DataMind, whose chunks have no page_content
    assert validate(".", config=True).findings == []
