"""A record that is nested too deeply gets a finding and is left out elsewhere: it never ends the process."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragdatakit.files.containers.nesting import MOST_NESTED, has_deep_line
from ragdatakit.files.containers.strict_json import decode
from tests.command_line import spawn

VALUES = {"objects": '{"a":' * 300_000 + "1" + "}" * 300_000, "arrays": "[" * 700_000 + "]" * 700_000}


@pytest.fixture(params=VALUES, scope="module")
def deep(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp(request.param)
    (folder / "qrels").mkdir()
    (folder / "corpus.jsonl").write_text(
        '{"_id": "d1", "title": "t", "text": "some text"}\n'
        f'{{"_id": "d2", "title": "u", "text": "other text", "metadata": {VALUES[request.param]}}}\n'
    )
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "which?"}\n')
    (folder / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    return folder


@pytest.mark.broad(3)
@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("validate",), 1, "nested too deeply"),
        (("report",), 0, "nested too deeply"),
        (("query", "select count(*) from documents"), 0, "nested too deeply"),
        (("query", "select json_contains(metadata, '1') from files.corpus"), 2, "corpus.jsonl:2 is nested too deeply"),
        (("gate", "--init"), 0, ""),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_no_command_ends_over_it(deep: Path, words: tuple[str, ...], code: int, message: str) -> None:
    shown = spawn(words[0], str(deep), *words[1:])

    assert shown.code == code, shown.err[-500:]
    assert message in shown.out + shown.err


@pytest.mark.parametrize("levels", [940, 960, 990])
def test_how_deep_python_reads_is_the_same_wherever_it_is_called(levels: int) -> None:
    """Some calls deep, fewer levels are left than in a thread of its own."""
    text = "[" * levels + "]" * levels

    def called(deep: int) -> bool:
        return called(deep - 1) if deep else decode(text + "x").position == len(text)

    assert len({called(deep) for deep in (0, 20, 50, 100)}) == 1


@pytest.mark.parametrize("opening", [b'{"a":', b"[", b'{"a":['])
def test_deep_lines_are_found_whatever_holds_what(opening: bytes) -> None:
    levels = opening.count(b"{") + opening.count(b"[")
    deep, flat = (b"\n" + opening * ((MOST_NESTED + more) // levels) + b'"[["\n' for more in (levels, 0))

    assert has_deep_line(deep) and not has_deep_line(flat)
