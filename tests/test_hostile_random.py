"""Random damage to every kind of file: never an exception, never a write, always an exit code that was promised."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragdatakit.schemas import all_formats
from tests.broad import examples
from tests.command_line import FIXTURES
from tests.hostile import endure

SETTINGS = settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
CASES = ["light-splade/valid/both", "light-splade/valid/gz", "light-splade/valid/config"]
CASES += ["arag/valid/predictions", "arag/valid/objects", "datamind/valid/repository", "datamind/valid/both-loaders"]
CASES += [
    "lightrag/valid/ingested",
    "lightrag/valid/nano-graphrag",
    "lightrag/valid/payload",
    "lightrag/valid/extraction",
]
FILES = [
    (case, path.relative_to(FIXTURES / case).as_posix())
    for case in CASES
    for path in sorted((FIXTURES / case).rglob("*"))
    if path.is_file() and path.suffix not in (".png", ".pkl")
]

TELLING = [b"", b"\n", b"\r", b"\r\n\r\n", b"\0", b"\xff", b"\xef\xbb\xbf", b"\x1f\x8b", b"\x1b[2J", b"\xe2\x80\xae"]
TELLING += [b'"', b"{", b"}", b"[", b"]", b",", b":", b"NaN", b"1e400", b'"\\ud83d"', b"null", b"9" * 30]
TELLING += [b"--", b";", b"'", b"${.A}", b"*a", b"<", b"&a;", b"<!DOCTYPE g [<!ENTITY a 'b'>]>", b"=", b"<SEP>"]
pieces = st.one_of(st.sampled_from(TELLING), st.binary(max_size=20))
edits = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 40), pieces), min_size=1, max_size=4)


def damaged(data: bytes, changes: list[tuple[float, int, bytes]]) -> bytes:
    """At each place (a share of the length) some bytes go and others come."""
    for share, gone, come in changes:
        at = int(share * len(data))
        data = data[:at] + come + data[at + gone :]
    return data


def endure_with(case: str, name: str, data: bytes) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "set"
        shutil.copytree(FIXTURES / case, folder)
        (folder / name).write_bytes(data)
        configs = sorted(folder.glob("config/**/*.yaml"))
        endure(configs[0] if configs else folder, watched=folder)
        endure(folder / name, watched=folder)


@SETTINGS
@given(st.sampled_from(FILES), edits)
def test_damaged_files(where: tuple[str, str], changes: list[tuple[float, int, bytes]]) -> None:
    case, name = where
    endure_with(case, name, damaged((FIXTURES / case / name).read_bytes(), changes))


@SETTINGS
@given(st.sampled_from(FILES), st.binary(max_size=400))
def test_random_bytes(where: tuple[str, str], data: bytes) -> None:
    endure_with(*where, data)


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(st.characters(codec=None), max_size=8),
    st.sampled_from(["1", "10", "0:a", "x.png", "../x", "/dev/zero", ""]),
)
values = st.recursive(
    scalars, lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(max_size=4), v, max_size=3), max_leaves=6
)
KINDS = [(fmt, file) for fmt in all_formats() for file in fmt.files if file.records]
NAMES = {
    "light-splade": {"queries": "train/query_master.ndjson", "documents": "train/doc_master.ndjson"}
    | {"positives": "train/positive_lists.ndjson", "triplets": "train/triplets.ndjson"}
    | {"scores": "hard_negative_scores.ndjson"},
    "arag": {"chunks": "chunks.json", "questions": "questions.json", "predictions": "predictions.jsonl"},
    "datamind": {"chunks": "chunks/notes.jsonl", "triplets": "triplets/notes.jsonl"},
}
BASES = {"light-splade": "both", "arag": "predictions", "datamind": "both-loaders"}


@st.composite
def records(draw: st.DrawFn) -> tuple[str, str, bytes]:
    """A file of records whose fields have the right names and anything for values."""
    fmt, file = draw(st.sampled_from([(f, k) for f, k in KINDS if k.kind in NAMES.get(f.name, {})]))
    names = st.sampled_from([field.name for record in file.records for field in record.fields] or ["x"])
    objects = st.dictionaries(names | st.text(max_size=3), values, max_size=5)
    rows: list[Any] = draw(st.lists(objects | values, max_size=5))
    ascii_only = draw(st.booleans())
    lines = [json.dumps(row, ensure_ascii=ascii_only) for row in rows]
    text = "[" + ",\n".join(lines) + "]" if file.container == "json-array" else "\n".join(lines)
    return f"{fmt.name}/valid/{BASES[fmt.name]}", NAMES[fmt.name][file.kind], text.encode("utf-8", "surrogatepass")


@SETTINGS
@given(records())
def test_records_of_anything(drawn: tuple[str, str, bytes]) -> None:
    endure_with(*drawn)
