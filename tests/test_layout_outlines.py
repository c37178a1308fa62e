"""Which names in a folder make a format worth a look: the table of our own formats is that of their declarations."""

from __future__ import annotations

import os
from pathlib import Path
from pprint import pformat
from typing import Any

import pytest

from ragdatakit.files.detection import find
from ragdatakit.files.detection.known_formats import KnownFormats, known_formats, outline
from ragdatakit.schemas import FORMATS, all_formats, get_format, layout_outlines
from ragdatakit.schemas.errors import RagdataError
from tests.command_line import FIXTURES

_HEAD = '''"""By which names in a folder layouts of our own formats are recognised: to look there, none is imported.

Made of the declarations by ``RAGDATA_WRITE_OUTLINES=1 pytest tests/test_layout_outlines.py``; not to be edited.
"""

from __future__ import annotations

Outline = tuple[tuple[str, tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]], ...]
"""Of each layout the place, and the groups of names of which one must be there: of files, and of folders."""

# fmt: off
OUTLINES: dict[str, Outline] = (
'''


def test_the_table_is_that_of_the_declarations() -> None:
    """Set RAGDATA_WRITE_OUTLINES=1 to write it anew."""
    outlines = {fmt.name: outline(fmt) for fmt in all_formats()}
    written = f"{_HEAD}{pformat(outlines, width=118, compact=True, sort_dicts=False)}\n)\n".replace("'", '"')

    page = Path(layout_outlines.__file__)
    if os.environ.get("RAGDATA_WRITE_OUTLINES"):
        page.write_text(written, encoding="utf-8")
    assert page.read_text(encoding="utf-8") == written


@pytest.mark.parametrize("name", FORMATS)
def test_no_dataset_is_missed_by_its_names(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = sorted(path for path in (FIXTURES / name / "valid").iterdir() if path.is_dir())
    quick = [_found(folder) for folder in folders]

    everything = {name: {*range(len(get_format(name).layouts))} for name in FORMATS}
    monkeypatch.setattr(KnownFormats, "possible", lambda *_: everything)
    monkeypatch.setattr(find, "_is_claimed", lambda *_: False)
    assert quick == [_found(folder) for folder in folders]


def _found(folder: Path) -> Any:
    try:
        found = find.detect(folder)
    except RagdataError as error:
        return str(error)
    files = [
        (one.format.name, one.layout, one.display, [(f.name, f.kind, f.split) for f in one.files])
        for one in found.datasets
    ]
    return files, found.unrecognised, found.unreadable


def test_formats_are_looked_up_once() -> None:
    names = tuple(FORMATS)

    assert known_formats(names) is known_formats(names)
