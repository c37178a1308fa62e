"""A first ragdata.toml for the datasets that lie in a folder."""

from __future__ import annotations

import glob
import json
from collections.abc import Iterable
from pathlib import Path

from ragdatakit.files.datasets import Dataset
from ragdatakit.schemas.texts import as_text

_HEAD = """\
# Settings of ragdata for what is in this folder; `ragdata config .` shows what applies and why.
# exclude = ["raw/**"]             # files and folders to pass over
# ignore = ["XX101"]               # rules that are not checked
# unfixable = ["XX101"]            # rules whose findings --fix leaves alone
# severity = { XX101 = "info" }    # other severities
# max = { XX101 = 100 }            # findings of a rule that pass
fail-on = "error"                  # or "warning", "never"
"""


def first_settings(folder: Path, datasets: Iterable[Dataset]) -> str:
    """The text of the file: a section for each dataset, with its format and the profiles that it may have."""
    parts = [_HEAD]
    seen: set[tuple[str, str]] = set()
    for dataset in datasets:
        is_file = dataset.layout == "file" and bool(dataset.files)
        place = dataset.files[0].path if is_file else dataset.root
        name = place.relative_to(folder).as_posix() if place.is_relative_to(folder) else place.as_posix()
        if (name, dataset.format.name) in seen:
            continue
        seen.add((name, dataset.format.name))
        lines = ["[[dataset]]", f"path = {_quoted(glob.escape(name))}", f"format = {_quoted(dataset.format.name)}"]
        if dataset.format.profiles:
            listed = ", ".join(map(_quoted, dataset.format.profiles))
            lines.append(f"# profile = [{listed}]  # those of the loaders that you use")
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _quoted(text: str) -> str:
    """A text of TOML."""
    return json.dumps(as_text(text), ensure_ascii=False).replace("\x7f", "\\u007f")
