"""`ragdata init` writes all of a dataset or nothing of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from ragdatakit.cli import init
from ragdatakit.files.paths import writing


@pytest.mark.parametrize("there", [False, True])
def test_a_failed_write_leaves_nothing(there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target, write, written = tmp_path / "to", writing.write_whole, []
    if there:
        target.mkdir()

    def second_fails(path: Path, content: bytes) -> None:
        written.append(path)
        if len(written) == 2:
            raise KeyboardInterrupt
        write(path, content)

    monkeypatch.setattr(writing, "write_whole", second_fails)
    CliRunner().invoke(init.command, ["beir", str(target)])
    assert len(written) == 2
    assert list(tmp_path.rglob("*")) == ([target] if there else [])
