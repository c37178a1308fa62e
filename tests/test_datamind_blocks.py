"""Big DataMind files, block by block: nothing that the record checks would say is overlooked, nothing counted twice."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.schemas.datamind.format import DATAMIND
from ragdatakit.validators.datamind.checks import DataMindChecks
from tests.scanner_tools import BothWays, needs_scanner

EDGES = [
    "",
    " ",
    "A ",
    '"',
    "\t",
    "\x1c",
    "\x85",
    "\xa0",
    "\u1680",
    "\u2003",
    "\u2028",
    "\u3000",
    "é",
    "漢",
    "。",
    "“",
    "\u200b",
    "É",
    "e\u0301",
    "ａ",
    "한",
    "\u1161",
    "İ",
    "ß",
]


TEXTS = st.builds(
    lambda a, b, c: a + b + c, st.sampled_from(EDGES), st.text(max_size=12), st.sampled_from(EDGES)
).filter(lambda t: t.isprintable() or not any(0xD800 <= ord(c) < 0xE000 for c in t))
CHUNKS = st.lists(
    st.fixed_dictionaries(
        {"text": TEXTS},
        optional={
            "id": st.sampled_from(["", "a", "b", "17", 17, 0, "0", None, 0.5, True]),
            "source": st.sampled_from(["", "x.md", "a.jsonl", "\\", None, 5, ["x"]]),
            "modality": st.sampled_from(["text", "image", "text_image"]),
            "image_path": st.sampled_from(["a.png", "../b.png"]),
            "metadata": st.fixed_dictionaries(
                {},
                optional={
                    "source": st.sampled_from(["x.md", "a.jsonl", "\\", "", 5, None]),
                    "_x": st.integers(0, 5),
                    "doc_id": st.text(max_size=3),
                    "score": st.sampled_from([0.5, 1e19]),
                    "": st.integers(0, 1),
                    "nested": st.just({"k": 1}),
                },
            ),
        },
    ),
    min_size=1,
    max_size=8,
)
TRIPLES = st.lists(
    st.fixed_dictionaries(
        {"subject": TEXTS, "relation": TEXTS, "object": TEXTS},
        optional={
            "confidence": st.floats(0, 1),
            "source": st.text(max_size=3),
            "subject_properties": st.sampled_from([{"image": "../a.png"}, {"born": [1969]}, {}]),
            "properties": st.just({"k": 1}),
        },
    ),
    min_size=1,
    max_size=8,
)


def ways(kind: str) -> BothWays:
    """Chunks or triples of a lone file, read in both ways."""
    file = DataFile(Path("a.jsonl"), "a.jsonl", "a.jsonl", kind)
    checks = DataMindChecks(Dataset(Path(), "", DATAMIND, "file", []), ())
    checks.start_file(file)
    predicates = checks.scanning(file).predicates or ()
    return BothWays(DATAMIND.file(kind), predicates, lambda value: checks.record(file, value), checks)


@pytest.fixture(scope="module")
def of_kind() -> dict[str, BothWays]:
    """Both ways of each kind."""
    return {kind: ways(kind) for kind in ("chunks", "triplets")}


@needs_scanner
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(records=CHUNKS | TRIPLES, ascii_only=st.booleans())
def test_findings_keys_and_counts_are_those_of_line_by_line(
    of_kind: dict[str, BothWays], records: list[dict[str, Any]], ascii_only: bool
) -> None:
    data = "\n".join(json.dumps(record, ensure_ascii=ascii_only) for record in records).encode()

    assert not [*of_kind["chunks" if "text" in records[0] else "triplets"].differences(data)]


def write(root: Path, files: dict[str, list[dict[str, Any]]]) -> None:
    for name, rows in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(r) + "\n" for r in rows), "utf-8")


def codes(path: Path, **options: Any) -> list[tuple[str, str, int | None]]:
    import ragdatakit

    return [(f.code, Path(f.path).name, f.line) for f in ragdatakit.validate(path, **options).findings]


@pytest.mark.parametrize("padding", [0, 4 << 20])
def test_small_and_big_profiles_give_the_same_findings(tmp_path: Path, padding: int) -> None:
    filler = [{"text": f"Tide table number {i}, " + "low water, " * 80 + "and high"} for i in range(padding // 900)]
    write(
        tmp_path,
        {
            "chunks/a.jsonl": [
                *filler,
                {"text": "Spring tides follow the moon.", "metadata": {"a": {"b": 1}}},
                {"text": "Neap tides follow the quarters."},
                {"text": "Neap tides follow the quarters.", "source": "a.jsonl"},
                {"id": "x", "text": " Tides of the bay"},
            ],
            "chunks/b.jsonl": [{"text": "Neap tides follow the quarters."}, {"id": "x", "text": "Another bay"}],
        },
    )
    n = len(filler)

    found = sorted(codes(tmp_path))

    assert [f for f in found if f[0] != "DM225"] == [
        ("DM207", "a.jsonl", n + 4),
        ("DM211", "a.jsonl", n + 1),
        ("DM218", "b.jsonl", 2),
        ("DM219", "a.jsonl", n + 3),
        ("DM222", "a.jsonl", None),
        ("DM222", "b.jsonl", None),
    ]
    assert bool(padding) == any(f[0] == "DM225" for f in found)


def test_an_index_older_than_its_data_is_reported(tmp_path: Path) -> None:
    profile = tmp_path / "data" / "profiles" / "bay"
    write(profile, {"chunks/a.jsonl": [{"text": "Spring tides follow the moon."}]})
    storage = tmp_path / "storage" / "bay"
    storage.mkdir(parents=True)
    built = storage / "chroma.sqlite3"
    built.write_bytes(b"")

    os.utime(built, (1_000, 1_000))

    assert codes(tmp_path) == [("DM105", "a.jsonl", None)]
    os.utime(built)
    assert codes(tmp_path) == []
