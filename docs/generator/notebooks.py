"""The notebooks of the recipes: their cells are run in a kernel, one after the other, and show what came out."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any
from unittest import mock

from docs.generator.workspaces import ROOT, Workspace, settled

NOTEBOOKS = tuple(sorted(p.relative_to(ROOT).as_posix() for p in (ROOT / "docs/recipes").glob("*.ipynb")))
_SECONDS = 120
_KEPT = ("text/plain", "text/html")


def notebooks(wanted: Callable[[str], bool]) -> dict[str, str]:
    """Path below the root to the notebook as it should be."""
    return {name: run((ROOT / name).read_text()) for name in NOTEBOOKS if wanted(name)}


def run(text: str) -> str:
    """A notebook with the outputs of its cells; what differs between runs and machines is made the same.

    Raises `nbclient.exceptions.CellExecutionError` where a cell that is not marked ``raises-exception`` fails.
    """
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.reads(text, as_version=4)
    with Workspace() as workspace, mock.patch.dict(os.environ, workspace.environment(), clear=True):
        client = NotebookClient(
            notebook,
            timeout=_SECONDS,
            kernel_name="python3",
            extra_arguments=["--log-level=ERROR"],
            resources={"metadata": {"path": str(workspace.folder)}},
        )
        client.execute()
        for number, cell in enumerate(notebook.cells):
            cell["id"] = f"cell-{number}"
            cell["metadata"] = {key: value for key, value in cell["metadata"].items() if key == "tags"}
            for output in cell.get("outputs", ()):
                _settle(output, workspace)
    notebook["metadata"] = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return nbformat.writes(notebook, indent=1) + "\n"


def _settle(output: dict[str, Any], workspace: Workspace) -> None:
    if "text" in output:
        output["text"] = settled(output["text"], workspace.folder)
    if "data" in output:
        output["metadata"] = {}
        output["data"] = {
            kind: settled(shown, workspace.folder) for kind, shown in output["data"].items() if kind in _KEPT
        }
