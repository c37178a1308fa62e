"""The written pages: their console and Python examples are run, their generated blocks filled."""

from __future__ import annotations

import code
import contextlib
import io
import re
from collections.abc import Callable
from pathlib import Path

from docs.generator.blocks import block
from docs.generator.markdown import Fence, fences
from docs.generator.workspaces import ROOT, Workspace, own_cache, settled

WRITTEN = (
    "README.md",
    "docs/adding-a-format.md",
    "docs/adding-a-rule.md",
    "docs/architecture.md",
    "docs/cli.md",
    "docs/configuration.md",
    "docs/conversion.md",
    "docs/diff.md",
    "docs/editors.md",
    "docs/evaluation.md",
    "docs/fixes.md",
    "docs/frames.md",
    "docs/gates.md",
    "docs/hub.md",
    "docs/remote.md",
    "docs/outputs.md",
    "docs/own-rules.md",
    "docs/python-api.md",
    "docs/quality.md",
    "docs/query.md",
    "docs/reports.md",
    "docs/retrieval.md",
    "docs/tutorial.md",
    *sorted(p.relative_to(ROOT).as_posix() for p in (ROOT / "docs/recipes").glob("*.md")),
)

_BLOCK = re.compile(r"(<!-- generated: (?P<name>.*?) -->\n).*?(<!-- end generated -->)", re.S)


def written_pages(wanted: Callable[[str], bool]) -> dict[str, str]:
    """Path below the root to text, as it should be; examples run only in the pages that are wanted."""
    return {name: filled((ROOT / name).read_text()) for name in WRITTEN if (ROOT / name).exists() and wanted(name)}


def filled(text: str) -> str:
    """A page with its examples run and its blocks made."""
    text = _BLOCK.sub(lambda match: f"{match[1]}\n{block(match['name'])}\n\n{match[3]}", text)
    lines = text.split("\n")
    made: list[str] = []
    done = 0
    with Workspace() as workspace:
        prompt = Prompt(workspace.folder)
        for found in fences(lines):
            made += lines[done : found.first]
            made += _run(found, lines[found.first : found.last], workspace, prompt)
            done = found.last
    return "\n".join(made + lines[done:])


def _run(found: Fence, body: list[str], workspace: Workspace, prompt: Prompt) -> list[str]:
    if found.title and found.language == "diff":
        workspace.change(found.title, "\n".join(body))
    elif found.title:
        workspace.write(found.title, "\n".join(body) + "\n")
    elif found.language == "console":
        return _run_console(body, workspace)
    elif found.language == "pycon":
        return prompt.run(body)
    return body


def _run_console(body: list[str], workspace: Workspace) -> list[str]:
    made = []
    for line in body:
        if line.startswith("$ "):
            made.append(line)
            output = workspace.run(line[2:])
            made += output.split("\n") if output else []
    return made


class Prompt(code.InteractiveInterpreter):
    """The Python prompt of one page."""

    def __init__(self, folder: Path) -> None:
        super().__init__({"__name__": "__console__"})
        self._folder = folder
        self._written = ""

    def write(self, data: str) -> None:
        """An error: the prompt's reader wants its last line."""
        last = data.rstrip("\n").rsplit("\n", 1)[-1]
        self._written += f"Traceback (most recent call last):\n  …\n{last}\n"

    def run(self, body: list[str]) -> list[str]:
        """The statements of one block, each followed by what it prints."""
        made: list[str] = []
        statement: list[str] = []
        for number, line in enumerate(body):
            if line.startswith((">>> ", "... ")) or line in (">>>", "..."):
                statement.append(line)
                following = body[number + 1] if number + 1 < len(body) else ""
                if not following.startswith("..."):
                    made += [*statement, *self._execute("\n".join(s[4:] for s in statement))]
                    statement = []
        return made

    def _execute(self, source: str) -> list[str]:
        shown = io.StringIO()
        self._written = ""
        with contextlib.chdir(self._folder), contextlib.redirect_stdout(shown), own_cache(self._folder):
            self.runsource(source + "\n", symbol="single")
        output = settled(shown.getvalue() + self._written, self._folder)
        return output.rstrip("\n").split("\n") if output else []
