"""What a short run does not import: the price of a tiny dataset must not be that of a big one."""

from __future__ import annotations

import importlib
import inspect
from functools import cache
from pathlib import Path

import pytest

from ragdatakit.cli import main
from ragdatakit.late_modules import cleandoc, late_module
from ragdatakit.scanner.library import library
from ragdatakit.schemas import all_formats
from ragdatakit.schemas.texts import text_hash
from tests.command_line import FIXTURES, GOOD, spawn

HEAVY = set(
    "numpy pandas pandera polars pyarrow duckdb jsonschema great_expectations yaml isal msgspec asyncio".split()
)

SCRIPT = """
import sys
from ragdatakit.__main__ import main
try:
    main()
except SystemExit as stop:
    print("exit", stop.code)
print("\\n".join(sorted(sys.modules)))
"""


LARGE = set(
    "logging hashlib html difflib pickle tempfile shutil random ctypes gzip csv heapq shlex decimal"
    " threading signal uuid zlib orjson copy ntpath unicodedata".split()
)
"""Modules of Python that take a tenth of what a tiny dataset does, and that only large or faulty ones need."""
PUT_OFF = {"inspect", "gettext", "locale", "platform", "urllib.parse"}
"""Modules that other modules import and hardly use."""


@cache
def imported(*words: str) -> set[str]:
    outcome = spawn(*words, code=("-c", SCRIPT))
    assert "exit 0" in outcome.out, outcome.err
    return {name.strip() for name in outcome.out.splitlines()}


@pytest.mark.parametrize(
    "words",
    [
        ("--help",),
        ("--version",),
        ("validate", "--help"),
        ("validate", str(GOOD)),
        ("validate", str(FIXTURES / "light-splade/valid/gz")),
        ("validate", str(GOOD), "--output-format", "json"),
        ("validate", str(FIXTURES / "arag/valid/strings")),
        ("validate", str(FIXTURES / "datamind/valid/profile")),
        ("rules",),
        ("explain", "SP201"),
    ],
    ids=lambda words: " ".join(w.replace(str(FIXTURES), "") for w in words),
)
def test_no_heavy_library(words: tuple[str, ...]) -> None:
    names = imported(*words)

    assert names & HEAVY == set()


@pytest.mark.parametrize(
    "words",
    [("--help",), ("validate", "--help"), ("validate", str(GOOD)), ("validate", "--isolated", str(GOOD))],
    ids=["help", "help of a command", "tiny", "tiny with click"],
)
def test_what_click_hardly_uses_is_not_imported(words: tuple[str, ...]) -> None:
    assert imported(*words).isdisjoint(PUT_OFF)


def test_what_is_put_off_is_there_when_it_is_asked_for() -> None:
    code = """
import sys
from ragdatakit.late_modules import put_off
with put_off("datetime", "gettext", "inspect", "threading", "uuid"):
    import click
assert not {"datetime", "threading"} & sys.modules.keys()
assert click.DateTime().convert("2026-11-27", None, None).day == 27
with put_off("copy", "ntpath", "urllib.parse"):
    import pathlib
assert not {"gettext", "inspect", "urllib.parse", "uuid"} & sys.modules.keys()
assert click.UUID("7e3d1c58-02a4-4b8e-9d6f-5a90c1e2b347").version == 4
assert pathlib.Path("/a b").as_uri() == "file:///a%20b"
import inspect, uuid
assert click.core.inspect.signature is inspect.signature and click.types.uuid.UUID is uuid.UUID
assert uuid.uuid4().version == 4
"""

    assert spawn(code=("-c", code)).code == 0


def test_hashes_are_the_same_in_a_python_without_its_own_blake2() -> None:
    code = """
import hashlib, sys
sys.modules["_blake2"] = None
from ragdatakit.schemas.texts import text_hash
print(text_hash("é"))
"""

    assert int(spawn(code=("-c", code)).out) == text_hash("é")


def test_a_late_module_is_imported_when_it_is_asked() -> None:
    colorsys = late_module("colorsys")

    assert colorsys.rgb_to_hsv(0, 0, 0) == (0, 0, 0)
    assert colorsys.rgb_to_hsv is importlib.import_module("colorsys").rgb_to_hsv


def test_modules_found_at_once_are_those_that_a_search_finds(tmp_path: Path) -> None:
    code = """
import importlib.util
from ragdatakit.own_modules import find_at_once
import ragdatakit
def all_specs():
    names = ["ragdatakit.schemas", "ragdatakit.schemas.options", "ragdatakit.fixes.nothing"]
    found = [importlib.util.find_spec(name) for name in names]
    facts = [(s.origin, s.cached, s.submodule_search_locations) if s else s for s in found]
    return facts, [s.loader.get_code(s.name) for s in found if s]
before = all_specs()
find_at_once()
assert all_specs() == before and before[0][2] is None
"""

    for options in ((), ("-O",), ("-X", f"pycache_prefix={tmp_path}")):
        assert spawn(code=(*options, "-c", code)).code == 0


def test_code_of_a_module_is_that_of_its_source_now(tmp_path: Path) -> None:
    code = f"""
import os, sys
sys.path.insert(0, {str(tmp_path)!r})
from pathlib import Path
from ragdatakit import own_modules
own_modules.find_at_once()
sys.dont_write_bytecode = False
folder = Path({str(tmp_path)!r})
source = folder / "some.py"
def number():
    spec = own_modules._OwnModules.find_spec("ragdatakit.some", [str(folder)])
    made = {{}}
    exec(spec.loader.get_code(spec.name), made)
    return made["number"], made["text"]
source.write_text("number, text = 1, 'a' * 3")
assert number() == (1, "aaa")
kept = Path(own_modules._OwnModules.find_spec("ragdatakit.some", [str(folder)]).cached)
assert kept.exists() and number() == (1, "aaa")
kept.write_bytes(kept.read_bytes()[:9])
assert number() == (1, "aaa")
source.write_text("number, text = 2, " + repr("b" * 200_000))
os.utime(source, (7, 7))
assert [number() for _ in range(2)] == [(2, "b" * 200_000)] * 2
"""

    assert spawn(code=("-c", code)).code == 0


def test_texts_of_help_lose_their_indentation_as_in_python() -> None:
    texts = ["", "one", "  one  ", "\n", "a\n\n    b\n      c\n    ", "\n  a\n\tb\n\n", "a\n   \nb", main.__doc__ or ""]

    assert [cleandoc(text) for text in texts] == [inspect.cleandoc(text) for text in texts]


def test_a_tiny_dataset_needs_little_of_python() -> None:
    assert imported("validate", str(GOOD)).isdisjoint(LARGE)


def test_a_plain_command_line_is_read_without_click() -> None:
    assert "click" not in imported("validate", str(GOOD), "--from", "light-splade", "-q")
    assert "click" in imported("validate", str(GOOD), "--isolated")


def test_large_files_of_lines_need_no_more_than_numpy(tmp_path: Path) -> None:
    triples = "".join(f'{{"subject": "S{n}", "relation": "r", "object": "O{n}"}}\n' for n in range(1 << 16))
    path = tmp_path / "triplets/triples.jsonl"
    path.parent.mkdir()
    path.write_text(triples * 2)

    names = imported("validate", "--exit-zero", str(tmp_path))

    assert {"numpy", "ragdatakit.arrays.keys"} <= names
    assert names.isdisjoint({"_hashlib", "concurrent.futures", "logging", "sqlite3"})


def test_options_of_one_letter_are_not_compared_with_all_others() -> None:
    assert "difflib" not in imported("validate", "-q", "--isolated", str(GOOD))
    for words, meant in (
        (("validate", "--quit", str(GOOD)), "--quiet"),
        (("validate", "-quiet", str(GOOD)), "'-u'"),
        (("validate", "-Z", str(GOOD)), "-Z"),
        (("validate", "--from", "light-spade", str(GOOD)), "light-splade"),
    ):
        outcome = spawn(*words)
        assert outcome.code == 2 and meant in outcome.err


def test_what_does_without_a_module_leaves_it_to_others() -> None:
    code = """
import sys
from ragdatakit.late_modules import without
with without("typing_extensions"):
    import msgspec
assert "typing_extensions" not in sys.modules
import typing_extensions
with without("typing_extensions"):
    import typing_extensions
assert sys.modules["typing_extensions"] is typing_extensions
class Some(msgspec.Struct):
    names: list[str | None] = []
    facts: dict[str, float] = {}
assert msgspec.json.decode(b'{"names": ["a", null]}', type=Some).names == ["a", None]
"""

    assert spawn(code=("-c", code)).code == 0


def test_what_the_decoder_does_without_is_there_when_it_is_asked_for() -> None:
    code = """
import sys
from ragdatakit.late_modules import import_decoder
import_decoder()
import msgspec
assert not {"msgspec._json_schema", "msgspec.inspect", "msgspec.toml", "msgspec.yaml"} & sys.modules.keys()
assert msgspec.json.schema(int) == {"type": "integer"}
assert msgspec.json.schema_components([int]) == (({"type": "integer"},), {})
assert msgspec.toml.decode("a = 1") == {"a": 1}
import msgspec.inspect
assert msgspec.inspect.type_info(int) == msgspec.inspect.IntType()
"""

    assert spawn(code=("-c", code)).code == 0


def test_docstrings_of_numpy_are_nowhere_missed() -> None:
    code = """
from ragdatakit.late_modules import leave_out
leave_out("numpy._core._add_newdocs")
import numpy
assert numpy.sort(numpy.array([2, 1])).tolist() == [1, 2] and not numpy.array.__doc__
"""

    assert spawn(code=("-c", code)).code == 0


def test_tables_of_little_import_no_more_than_they_need() -> None:
    names = imported("report", str(GOOD))

    assert ("duckdb" in names) is (library() is None)
    assert names.isdisjoint({"pandas", "pyarrow.compute", "scipy", "great_expectations"})
    assert names.isdisjoint({"logging", "numpy.ma", "ragdatakit.database.views"})


WRITING = {"csv", "hashlib", "ragdatakit.outputs.file_writers", "ragdatakit.converters.run"}
"""Modules that only those need who write a dataset."""
OTHER_RESULTS = {"ragdatakit.schemas.diffs", "ragdatakit.schemas.gates", "ragdatakit.schemas.evaluations"}
UNUSED = {"typing_extensions", "_socket", "ragdatakit.files.paths.manifest_document"}
"""Modules that others import which a report needs."""


@pytest.mark.skipif(library() is None, reason="without the scanner DuckDB reads the tables")
def test_a_report_imports_nothing_of_writing_nor_of_other_results() -> None:
    names = imported("report", str(FIXTURES / "beir/valid/folder"))

    assert names.isdisjoint(HEAVY - {"numpy", "msgspec"})
    assert names.isdisjoint(WRITING | OTHER_RESULTS | {"ragdatakit.converters.chunking", "ragdatakit.outputs.sidecars"})
    assert names.isdisjoint(UNUSED)


def test_a_query_opens_the_database_in_its_own_process_only() -> None:
    assert imported("query", str(GOOD), "from documents").isdisjoint({"duckdb", "pandas", "pyarrow"})


def test_a_diff_of_the_same_files_opens_no_database() -> None:
    assert imported("diff", str(GOOD), str(GOOD)).isdisjoint({"duckdb", "numpy", "pyarrow"})


def test_a_diff_of_little_imports_no_more_than_it_needs() -> None:
    names = imported("diff", "--exit-zero", str(GOOD), str(FIXTURES / "light-splade/valid/gz"))

    assert "duckdb" in names
    assert names.isdisjoint({"pandas", "pyarrow.compute", "scipy"})


def test_a_tiny_dataset_needs_few_modules() -> None:
    """Each takes as long as to read and check the records of several tiny datasets."""
    ours = [name for name in imported("validate", str(GOOD)) if name.startswith("ragdatakit")]

    assert len(ours) <= 127


def test_help_imports_no_room_but_its_own() -> None:
    assert imported("--help").isdisjoint({"pathlib", "dataclasses", "shutil"})
    names = {name for name in imported("--help") if name.startswith("ragdatakit.")}

    names -= {f"ragdatakit.reports{part}" for part in ("", ".findings", ".findings.ci_commands")}  # of every output
    rooms = {"__main__", "cli", "late_modules", "late_patterns", "own_modules", "schemas", "stopping", "version"}
    assert {name.split(".")[1] for name in names} <= rooms
    assert "ragdatakit.schemas.declarations" not in names


def test_one_format_costs_no_other() -> None:
    names = imported("validate", str(GOOD))

    others = tuple(fmt.name.replace("-", "_") for fmt in all_formats() if fmt.name != "light-splade")
    ours = [name for name in names if name.startswith(("ragdatakit.schemas.", "ragdatakit.validators."))]
    assert [name for name in ours if name.split(".")[2].startswith(others)] == []
