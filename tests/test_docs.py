"""The docs: nothing has drifted, everything is mentioned, every link leads somewhere."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import ragdatakit
from docs.generator.markdown import plain, rule_page, slug
from docs.generator.pages import WRITTEN, filled
from docs.generator.workspaces import ROOT, Workspace
from ragdatakit.cli.commands import COMMANDS, group
from ragdatakit.schemas import all_formats, all_rules

PAGES = sorted(p for p in (ROOT.glob("*.md"), (ROOT / "docs").rglob("*.md")) for p in p)


def commands() -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in COMMANDS:
        command = group.get_command(context, name)
        assert command is not None
        yield name, command


def anchors(page: Path) -> set[str]:
    """What the headings of a page are called in links, as GitHub does it."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.M)
    return {slug(heading) for heading in headings}


def test_the_check_is_a_command() -> None:
    done = subprocess.run([sys.executable, "docs/generate.py", "--help"], cwd=ROOT, capture_output=True, check=False)

    assert done.returncode == 0


def test_every_written_page_is_there() -> None:
    assert [name for name in WRITTEN if not (ROOT / name).is_file()] == []


def test_every_command_and_option_is_mentioned() -> None:
    text = (ROOT / "docs/cli.md").read_text()
    missing = []

    for name, command in commands():
        if f"## ragdata {name}\n" not in text:
            missing.append(name)
        section = text.partition(f"## ragdata {name}\n")[2].partition("\n## ")[0]
        for parameter in (p for p in command.params if not getattr(p, "hidden", False)):
            options = [o for o in (*parameter.opts, *parameter.secondary_opts) if o.startswith("-")]
            missing += [f"{name} {option}" for option in options if option not in section]

    assert missing == []


def test_every_rule_has_a_section_and_a_place_in_the_table() -> None:
    index = (ROOT / "docs/rules/index.md").read_text()
    missing = []

    for rule, fmt in all_rules():
        page = (ROOT / "docs/rules" / f"{rule_page(rule, fmt)}.md").read_text()
        (row,) = [line for line in index.splitlines() if line.startswith(f"| [{rule.code}](")] or [""]
        mark = "`[*]`" if "safe" in rule.fixes else "`[-]`" if "unsafe" in rule.fixes else ""
        if f"\n## {rule.code} {rule.name}\n" not in page or f") | {mark} | " not in row:
            missing.append(rule.code)

    assert missing == []


@pytest.mark.parametrize("fmt", all_formats(), ids=lambda f: f.name)
def test_every_format_has_its_pages(fmt: object) -> None:
    name = fmt.name  # type: ignore[attr-defined]
    page = (ROOT / "docs/formats" / f"{name}.md").read_text()

    assert f"docs/formats/{name}.md" in (ROOT / "README.md").read_text()
    assert [f.kind for f in fmt.files if f"`{f.kind}`" not in page] == []  # type: ignore[attr-defined]


def test_the_changelog_knows_every_option_of_validate() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    options = [
        max(p.opts, key=len)
        for name, c in commands()
        if name == "validate"
        for p in c.params
        if p.opts[0][0] == "-" and not getattr(p, "hidden", False)
    ]

    assert [o for o in options if o not in text and o not in ("--quiet", "--verbose")] == []


def test_the_python_page_has_every_public_name() -> None:
    text = (ROOT / "docs/python-api.md").read_text()

    assert [n for n in ragdatakit.__all__ if n != "__version__" and n not in text] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_every_link_leads_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    broken = []

    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = target.partition("#")
        if "://" in path:
            continue
        there = (page.parent / path).resolve() if path else page
        if not there.exists() or (anchor and anchor not in anchors(there)):
            broken.append(target)

    assert broken == []


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md", "docs/adding-a-rule.md"])
def test_modules_that_a_page_names_are_there(page: str) -> None:
    text = (ROOT / page).read_text().replace("<format>", "light_splade").replace("<command>", "validate")
    there = {
        p.relative_to(ROOT).as_posix() for top in ("ragdatakit", "docs", "tests") for p in (ROOT / top).rglob("*.py")
    }
    named = set(re.findall(r"`([\w/.-]+\.py)`", text))

    assert [name for name in named if not any(f"/{path}".endswith(f"/{name}") for path in there)] == []


def test_every_recipe_has_a_notebook_of_which_every_cell_was_run() -> None:
    pages = sorted((ROOT / "docs/recipes").glob("*.md"))
    for page in pages:
        if page.stem == "index":
            continue
        notebook = json.loads(page.with_suffix(".ipynb").read_text())
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        assert [cell["execution_count"] for cell in cells] == [*range(1, len(cells) + 1)]
        assert not [output for cell in cells for output in cell["outputs"] if output["output_type"] == "error"]
        assert f"({page.stem}.ipynb)" in page.read_text()


def test_an_example_is_run_and_its_output_filled_in() -> None:
    page = "```console\n$ ragdata --version\nragdata 0.0.0\n```\n\n```pycon\n>>> 6 * 7\n41\n```\n"

    made = filled(page)

    assert (
        made
        == f"```console\n$ ragdata --version\nragdata {ragdatakit.__version__}\n```\n\n```pycon\n>>> 6 * 7\n42\n```\n"
    )


def test_seconds_are_the_same_in_every_run() -> None:
    with Workspace() as workspace:
        shown = workspace.run("ragdata validate fixtures/demo-broken --quiet")

    assert shown.endswith(" in 0.04 s")


def test_a_change_that_does_not_fit_is_an_error() -> None:
    with Workspace() as workspace:
        workspace.write("a.txt", "one\ntwo\n")
        workspace.change("a.txt", " one\n+and\n")

        with pytest.raises(ValueError, match="does not have these lines"):
            workspace.change("a.txt", " three\n+four")
        assert (workspace.folder / "a.txt").read_text() == "one\nand\ntwo\n"


def test_texts_of_declarations_are_no_markup() -> None:
    assert plain("files *.sql, `a*b`, _…, eval_loss_size, (> or |)") == (
        "files \\*.sql, `a*b`, \\_…, eval_loss_size, (> or \\|)"
    )
