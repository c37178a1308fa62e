"""Plug-ins: loaded only where settings name them, only what is installed, and what is wrong with one is said."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

import ragdatakit
from docs.generator.markdown import fences
from docs.generator.workspaces import ROOT, settled
from ragdatakit.files.configuration.plugins import refuse_removed
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.settings.plugins import PluginError
from ragdatakit.validators.checks import FormatChecks
from tests.command_line import FIXTURES, run
from tests.plugin_tools import install, site

__all__ = ["site"]

RULE = """
from ragdatakit import Fault, RulePlugin
def check(record):
    {body}
WORDS = dict(api=1, code="ACME501", name="odd-text", summary="Odd.", message="odd: {{value}}", check_record=check)
RULES = [RulePlugin(**{{**WORDS, **{more}}})]
"""
NAMED = 'plugins = ["acme-checks"]\n'
PAGE = ROOT / "docs/plugins.md"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    shutil.copytree(FIXTURES / "beir" / "valid" / "with-metadata", folder / "data")
    (folder / "ragdata.toml").write_text(NAMED)
    monkeypatch.chdir(folder)
    return folder


def with_rule(site: Path, body: str = "yield Fault(value=1, pointer='/text')", more: str = "{}") -> None:
    files = {"acme_checks/__init__.py": "", "acme_checks/rules.py": RULE.format(body=body, more=more)}
    install(site, files, {"ragdatakit.rules": "odd = acme_checks.rules:RULES"})


def test_the_page_is_what_happens(site: Path, project: Path) -> None:
    """Its files are written, its package is installed, its commands are run."""
    lines = PAGE.read_text().split("\n")
    files: dict[str, str] = {}
    for fence in fences(lines):
        body = "\n".join(lines[fence.first : fence.last])
        if fence.title.startswith("acme-checks/"):
            files[fence.title.removeprefix("acme-checks/")] = body + "\n"
        elif fence.title:
            (project / fence.title).write_text(body + "\n")
    described = tomllib.loads(files.pop("pyproject.toml"))["project"]
    groups = described["entry-points"].items()
    points = {group: "\n".join(f"{name} = {value}" for name, value in found.items()) for group, found in groups}
    install(site, {**files, "acme_checks/__init__.py": ""}, points, described["name"], described["version"])
    (project / "data/corpus.jsonl").write_text(
        '{"_id": "d1", "title": "", "text": "The light on the north reef is old.", "lang": "en"}\n'
        '{"_id": "d2", "title": "", "text": "Two boats mapped the reef.", "lang": "fr"}\n'
        '{"_id": "d3", "title": "", "text": "The tide was low on that evening..", "lang": "de"}\n'
        '{"_id": "d4", "title": "", "text": "The boats are of the same make too.", "lang": "en"}\n'
    )
    (project / "box").mkdir()
    (project / "box/cards.ndjson").write_text('{"number": 1, "text": "Pears."}\n{"number": 1, "text": "Tides."}\n')
    written = list(lines)
    for fence in reversed(list(fences(lines))):
        command = lines[fence.first]
        if fence.language == "text" and command.startswith("$ ragdata "):
            outcome = run(*command.split()[2:])
            shown = settled(outcome.out, project).rstrip().split("\n")
            written[fence.first : fence.last] = [command, *shown]

    if os.environ.get("RAGDATA_WRITE_SCREENS"):
        PAGE.write_text("\n".join(written))
        return
    assert written == lines


def test_nothing_is_loaded_that_settings_do_not_name(site: Path, project: Path) -> None:
    with_rule(site)
    (site / "acme_checks/__init__.py").write_text(f"open({str(project / 'ran')!r}, 'w').close()")
    for text in ("", NAMED):
        (project / "ragdata.toml").write_text(text)
        for more in (["--isolated"], ["--no-plugins"], [] if not text else ["--isolated"]):
            assert run("validate", "data", *more).code == 0
            assert not (project / "ran").exists()
    assert not ragdatakit.validate("data").by_rule and not (project / "ran").exists()

    assert run("validate", "data").code == 1
    assert (project / "ran").exists()


def test_what_lies_in_the_repository_is_no_plugin(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a package with its metadata in the current folder, nor a module of an installed plug-in's name."""
    install(project, {"acme_checks.py": "raise SystemExit('ran')"}, {"ragdatakit.rules": "x = acme_checks:RULES"})

    monkeypatch.syspath_prepend(project)  # as `python -m` does

    outcome = run("validate", "data")

    assert outcome.code == 2
    assert "ragdata.toml:1: the plug-in acme-checks is not installed" in outcome.err


def test_a_file_of_the_repository_does_not_replace_a_plug_in(
    site: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_rule(site)
    (project / "acme_checks").mkdir()
    (project / "acme_checks/__init__.py").write_text("raise SystemExit('ran')")
    monkeypatch.syspath_prepend(project)

    assert run("validate", "data").code == 1


def test_findings_are_like_all_others(site: Path, project: Path) -> None:
    with_rule(site)

    found = ragdatakit.validate("data", config=True).findings

    assert [(f.code, f.line, f.pointer, f.key, f.message) for f in found if "corpus" in f.path] == [
        ("ACME501", 1, "/text", "_id=d1", "odd: 1"),
        ("ACME501", 2, "/text", "_id=d2", "odd: 1"),
    ]
    assert run("validate", "data", "--ignore", "ACME").code == 0
    assert "ACME501 odd-text" in run("explain", "ACME501").out
    run("validate", "data", "--report=sarif=x.sarif")
    (of_run,) = json.loads(Path("x.sarif").read_text())["runs"]
    assert [rule["id"] for rule in of_run["tool"]["driver"]["rules"]] == ["ACME501"]
    run("validate", "data", "--write-baseline")
    assert run("validate", "data").code == 0


@pytest.mark.parametrize(
    ("body", "more", "message"),
    [
        ("yield 3", "{}", "the rule ACME501 gave int, expected ragdatakit.Fault"),
        ("return 3", "{}", "the rule ACME501 failed: TypeError: 'int' object is not iterable"),
        ("return [1 / 0]", "{}", "the rule ACME501 failed: ZeroDivisionError: division by zero (rules.py:4)"),
        ("raise SystemExit", "{}", "the rule ACME501 failed: SystemExit (rules.py:4)"),
        ("yield", "{'api': 2}", "is for version 2 of the plug-in interface, this ragdata has 1; upgrade ragdatakit"),
        ("yield", "{'code': 'SP201'}", "its code is 'SP201', expected three capital letters or more"),
        ("yield", "{'name': 'Odd'}", "its name is 'Odd', expected words in small letters with hyphens"),
        ("yield", "{'severity': 'bad'}", "its severity is 'bad', expected one of error, warning, info"),
        ("yield", "{'check_rows': print}", "it has to have either check_record or check_rows"),
        ("yield", "{'check_record': 3}", "its check is not a function"),
        ("yield", "{'check_record': None, 'check_rows': print, 'table': 'a b'}", "its table is 'a b'"),
        ("yield", "{'colour': 3}", "cannot be loaded: TypeError: "),
    ],
)
def test_a_plug_in_at_fault(body: str, more: str, message: str, site: Path, project: Path) -> None:
    with_rule(site, body, more)

    outcome = run("validate", "data")

    assert (outcome.code, outcome.out) == (2, "")
    assert "the plug-in acme-checks 1.2" in outcome.err and message in outcome.err
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ({}, "acme-checks 1.2 is installed, but is not a plug-in: it has no entry point ragdatakit.rules"),
        ({"ragdatakit.rules": "odd = acme_gone:RULES"}, "cannot be loaded: ModuleNotFoundError: No module named"),
        ({"ragdatakit.rules": "odd = json:loads"}, "is function, expected ragdatakit.RulePlugin or a list of them"),
        ({"ragdatakit.formats": "odd = json:loads"}, "is function, expected ragdatakit.FormatPlugin"),
    ],
)
def test_a_package_that_is_none(points: dict[str, str], message: str, site: Path, project: Path) -> None:
    install(site, {}, points)

    assert (outcome := run("validate", "data")).code == 2
    assert message in outcome.err


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ('plugins = ["./checks.py"]', "'./checks.py' is not the name of an installed package; plug-ins are never"),
        ('plugins = ["pytest"]', "pytest "),
        ("plugins = 3", "plugins is 3, expected a text or a list of texts"),
    ],
)
def test_settings_that_name_no_plugin(settings: str, message: str, project: Path) -> None:
    (project / "ragdata.toml").write_text(settings + "\n")

    outcome = run("validate", "data")

    assert outcome.code == 2 and f"ragdata.toml:1: {message}" in outcome.err


MODEL = """
[[rule]]
code = "ACME301"
name = "not-as-modelled"
summary = "Odd."
model = "{model}"
table = "{table}"
"""


@pytest.mark.parametrize(
    ("model", "table", "message"),
    [
        ("os:getcwd", "documents", "the module os of the model is not one of a plug-in that `plugins` names"),
        ("acme_models:Gone", "documents", "does not exist: acme_models has no Gone"),
        ("acme_models:NUMBER", "documents", "is int, expected a pandera DataFrameModel or DataFrameSchema"),
        ("acme_models:Raises", "documents", "failed: ValueError: "),
        ("acme_models:Documents", "document", "the table document of ACME301: "),
        ("acme_models", "documents", "expected MODULE:NAME"),
        ("acme_models:Documents", "x; drop", "expected the name of a table"),
    ],
)
def test_a_model_at_fault(model: str, table: str, message: str, site: Path, project: Path) -> None:
    pytest.importorskip("pandera")
    text = (
        "import pandera.pandas as pa\nNUMBER = 3\n"
        "class Documents(pa.DataFrameModel):\n    text: str\n"
        "class Raises(pa.DataFrameModel):\n    class Config:\n        coerce = True\n"
        "    @pa.dataframe_parser\n    def odd(cls, frame):\n        raise ValueError('odd')\n"
    )
    install(site, {"acme_models.py": text}, {"ragdatakit.models": "m = acme_models"})
    (project / "ragdata.toml").write_text(NAMED + MODEL.format(model=model, table=table))

    outcome = run("validate", "data")

    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err


def test_records_that_are_no_rows_do_not_disturb_a_model(site: Path, project: Path) -> None:
    """They have findings of their own; a warning of Python's would be an error here."""
    pytest.importorskip("pandera")
    text = "import pandera.pandas as pa\nclass Documents(pa.DataFrameModel):\n    text: str = pa.Field(ne='x')\n"
    install(site, {"acme_models.py": text}, {"ragdatakit.models": "m = acme_models"})
    model = MODEL.format(model="acme_models:Documents", table="documents")
    (project / "ragdata.toml").write_text(NAMED + model)
    with (project / "data/corpus.jsonl").open("a") as corpus:
        corpus.write('{"_id": 3}\n{"_id": "d9", "title": "", "text": "x"}\n')

    found = run("validate", "data", "--select", "ACME")

    assert found.code == 1 and "ACME301 error text is 'x', which fails not_equal_to(x)" in found.out
    assert found.err == ""


_READER = """
from ragdatakit.converters import Converter
from ragdatakit.schemas.canonical import Document
import json
def read(dataset, reader, options):
    def documents():
        for file in dataset.files:
            for line in file.path.read_text().splitlines():
                yield Document(str(json.loads(line)["number"]), json.loads(line)["text"])
    return {"documents": documents}
CONVERTER = Converter("cards", read=read, gives={"documents": ("doc_id", "text")})
"""


@pytest.fixture
def box(site: Path, project: Path) -> Path:
    """A box of cards in a project whose settings name the plug-in, which reads them."""
    lines = PAGE.read_text().split("\n")
    (cards,) = ("\n".join(lines[f.first : f.last]) for f in fences(lines) if f.title.endswith("cards.py"))
    text = cards.replace("    api=1,", "    api=1,\n    converter=CONVERTER,").replace(
        "CARDS =", _READER + "CARDS =", 1
    )
    install(site, {"acme_cards.py": text}, {"ragdatakit.formats": "cards = acme_cards:CARDS"})
    place = project / "box"
    place.mkdir()
    (place / "cards.ndjson").write_text('{"number": 1, "text": "Pears."}\n')
    return place


@pytest.mark.usefixtures("queries_in_processes", "box")
def test_a_format_is_read_in_other_processes_too() -> None:
    """A query runs in a process of its own, which gets the format along."""
    assert ragdatakit.query("box", "select doc_id, text from documents", config=True).to_pylist() == [
        {"doc_id": "1", "text": "Pears."}
    ]
    assert "cards" in run("report", "box").out


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("validate", "{}", "--from", "cards"), "Valid: 1 file"),
        (("report", "{}", "--from", "cards"), ": cards"),
        (("query", "{}", "select text from documents", "--from", "cards"), "Pears."),
        (("convert", "{}", "out", "--to", "arag"), "{}: cards → arag"),
        (("convert", "{}", "out", "--from", "cards", "--to", "beir"), "{}: cards → beir"),
        (("retrieve", "{}", "pears", "--from", "cards", "--index-dir", "index"), "«Pears».\n"),
    ],
)
@pytest.mark.parametrize("path", ["box", "box/cards.ndjson"])
def test_commands_take_the_format_of_a_plug_in(words: tuple[str, ...], shown: str, path: str, box: Path) -> None:
    outcome = run(*(word.format(path) for word in words))

    assert outcome.code == 0, outcome.err
    assert shown.format(path) in outcome.out


def test_a_plugin_without_its_format_is_explained(project: Path) -> None:
    (project / "ragdata.toml").write_text(NAMED + '[[dataset]]\npath = "data"\nformat = "cards"\n')

    outcome = run("validate", "data", "--no-plugins")

    assert outcome.code == 2 and "unknown format 'cards'; it may be one of a plug-in" in outcome.err
    with pytest.raises(RagdataError, match="is not installed"):
        ragdatakit.validate("data", config=True)


@pytest.fixture
def boxes(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two boxes of cards: the settings of ``a`` name the plug-in that knows them, ``b`` has none."""
    lines = PAGE.read_text().split("\n")
    (cards,) = ("\n".join(lines[f.first : f.last]) for f in fences(lines) if f.title.endswith("cards.py"))
    install(site, {"acme_cards.py": cards}, {"ragdatakit.formats": "cards = acme_cards:CARDS"})
    for name in "ab":
        (tmp_path / name / "box").mkdir(parents=True)
        (tmp_path / name / ".git").mkdir()
        (tmp_path / name / "box/cards.ndjson").write_text('{"number": 1, "text": "Pears."}\n')
    (tmp_path / "a/ragdata.toml").write_text(NAMED)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("boxes")
def test_a_format_holds_only_where_settings_name_its_plug_in() -> None:
    alone = run("validate", "b/box")
    both = run("validate", "b/box", "a/box", "--json")
    files = run("validate", "b/box/cards.ndjson", "a/box/cards.ndjson", "--whole-datasets", "--json")

    assert alone.code == 2 and "no dataset recognised below b/box" in alone.err
    assert alone.err.strip() in both.err
    assert [(each["path"], each["format"]) for each in both.json["datasets"]] == [("a/box", "cards")]
    found = [(each["path"], each["format"]) for each in files.json["datasets"]]
    assert found == [("a/box", "cards"), ("b/box/cards.ndjson", "datamind")]  # which a lone file of texts may be
    assert ragdatakit.validate("a/box", config=True).datasets[0].format == "cards"
    for config in (False, True):
        with pytest.raises(RagdataError, match="no dataset recognised below b/box"):
            ragdatakit.validate("b/box", config=config)
    with pytest.raises(RagdataError, match="no dataset recognised below a/box"):
        ragdatakit.validate("a/box", config=False)
    Path("b/ragdata.toml").write_text('[[dataset]]\npath = "box"\nformat = "cards"\n')
    assert "ragdata.toml:3: unknown format 'cards'" in run("validate", "a/box", "b/box").err


@pytest.mark.usefixtures("boxes")
def test_what_is_known_of_formats_is_what_the_settings_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("a")
    explained = run("explain", "CARD201").out
    listed = run("rules", "cards").out.splitlines()

    assert explained.startswith("CARD201 repeated-number  (error, cards; of the plug-in acme-checks 1.2)\n")
    assert "What Cards does: the second card replaces the first." in explained
    assert "What to do: give it another number." in explained
    assert len({line.index(line.split()[1]) for line in listed}) == 1
    assert {len(line.split()[0]) for line in listed} == {5, 7}
    assert run("formats", "cards").out.startswith("cards  https://example.org/cards\n")
    assert "cards" in [each["name"] for each in run("formats", "--json").json]
    assert run("formats", "cards", "--isolated").code == 2
    assert "cards" not in [each["name"] for each in ragdatakit.formats()]
    assert "cards" in [each["name"] for each in ragdatakit.formats(config=True)]
    with pytest.raises(RagdataError, match="unknown rule 'CARD201'"):
        ragdatakit.explain("CARD201")


def test_a_rule_of_a_plug_in_is_not_of_this_project(site: Path, project: Path) -> None:
    with_rule(site)
    (project / "ragdata.toml").write_text(
        NAMED + '[[rule]]\ncode = "OUR101"\nname = "own-one"\nsummary = "Odd."\nsql = "select 1"\n'
    )

    assert "(error, any format; of the plug-in acme-checks 1.2)" in run("explain", "ACME501").out
    assert "(error, any format; of this project)" in run("explain", "OUR101").out


@pytest.mark.usefixtures("boxes")
@pytest.mark.parametrize("more", [(), ("--skip-unrecognised",)])
def test_where_nothing_is_recognised_it_is_said_that_plug_ins_are_not_loaded(more: tuple[str, ...]) -> None:
    outcome = run("validate", "a/box", "--no-plugins", *more)

    assert outcome.code == 2
    assert "no dataset recognised below a/box" in outcome.err
    assert "plug-ins are not loaded (--no-plugins): acme-checks\n" in outcome.err
    assert "plug-ins" not in run("validate", "gone", "--no-plugins").err


@pytest.mark.parametrize("before", [None, "", "0", "false", "1"])
def test_no_plugins_is_above_the_variable(
    before: str | None, site: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_rule(site)
    (site / "acme_checks/__init__.py").write_text(f"open({str(project / 'ran')!r}, 'w').close()")
    monkeypatch.delenv("RAGDATA_NO_PLUGINS", raising=False)
    if before is not None:
        monkeypatch.setenv("RAGDATA_NO_PLUGINS", before)

    assert run("validate", "data", "--no-plugins").code == 0
    assert not (project / "ran").exists()
    assert os.environ.get("RAGDATA_NO_PLUGINS") == before
    assert run("validate", "data").code == (0 if before == "1" else 1)


@pytest.mark.usefixtures("boxes")
def test_since_a_revision_the_format_was_known_too() -> None:
    shutil.rmtree("a/.git")
    with Path("a/box/cards.ndjson").open("a") as cards:
        cards.write('{"number": 1, "text": "Tides."}\n')
    name = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for words in (["init", "-q"], ["add", "-A"], [*name, "commit", "-qm", "cards"]):
        subprocess.run(["git", "-C", "a", *words], check=True)

    assert run("validate", "a/box").code == 1
    outcome = run("validate", "a/box", "--since", "HEAD")

    assert outcome.code == 0 and "1 not new since HEAD" in outcome.out


@pytest.mark.usefixtures("boxes")
def test_an_editor_explains_by_the_settings_of_the_file() -> None:
    """Its server may have been started in another folder."""
    server = pytest.importorskip("ragdatakit.api.editor.server", exc_type=ImportError)
    path = Path("a/box/cards.ndjson")
    path.write_text('{"number": 1, "text": "Pears."}\n' * 2)
    (finding,) = ragdatakit.validate(path.parent, config=True).findings

    assert "the second card replaces the first" in server._explained(finding, path)


@pytest.mark.parametrize(("removed", "other"), [("predicates", "scanning"), ("in_ranges", "needs"), (None, None)])
def test_checks_that_override_a_removed_method_are_refused(removed: str | None, other: str | None) -> None:
    checks = type("Checks", (FormatChecks,), {removed: lambda self, kind: ()} if removed else {})

    if removed is None:
        refuse_removed("the plug-in", checks)
        return
    with pytest.raises(PluginError, match=f"{removed} of its checks is not called any more; {other} gives what it"):
        refuse_removed("the plug-in", checks)
