"""`ragdata validate --quality`: when it runs, thresholds and where they come from, output, places in containers."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ftfy", reason="needs ragdatakit[quality]")

from ragdatakit import validate
from ragdatakit.api.configuration import configuration_of
from ragdatakit.schemas.errors import RagdataError, UnknownNameError
from ragdatakit.schemas.rules.quality import RULES
from ragdatakit.schemas.settings.thresholds import QualityOptions, thresholds_in
from tests.command_line import FIXTURES, GOOD, run, spawn

QUALITY = FIXTURES / "quality"
CORPUS = QUALITY / "identical-texts" / "data"


def codes(*words: str | Path) -> list[str]:
    return sorted({f["code"] for f in run("validate", *words, "--output-format", "json").json["findings"]})


def test_only_where_it_is_asked_for() -> None:
    assert codes(CORPUS) == []
    assert codes(CORPUS, "--quality") == ["QU202"]
    assert codes(CORPUS, "--select", "QU") == ["QU202"]
    assert codes(CORPUS, "--select", "identical-texts") == ["QU202"]
    assert codes(CORPUS, "--select", "BE") == []
    assert codes(CORPUS, "--quality", "--ignore", "QU2") == []
    assert codes(CORPUS, "--quality", "--severity", "error") == []


def test_what_the_rule_of_a_format_tells_is_reported_once() -> None:
    dataset = QUALITY / "negative-like-positive" / "data"

    assert codes(dataset, "--quality") == ["QU203", "QU401", "SP305"]
    assert codes(dataset, "--quality", "--ignore", "SP") == ["QU202", "QU203", "QU401"]


def test_json_and_library_agree() -> None:
    for folder in sorted(QUALITY.iterdir()):
        document = run("validate", folder / "data", "--quality", "--severity", "info", "--output-format", "json").json
        assert document == json.loads(json.dumps(validate(folder / "data", quality=True).as_dict())), folder.name


def test_counts_agree_with_findings() -> None:
    report = validate(QUALITY / "negative-like-positive" / "data", quality=True, max_per_rule=0, severity="warning")

    assert sum(d.warnings for d in report.datasets) == report.counts["warning"] == len(report.findings)
    assert sum(report.by_rule.values()) == len(report.findings)


def test_most_of_a_rule(tmp_path: Path) -> None:
    lines = [json.dumps({"_id": f"d{n}", "title": "", "text": ""}) for n in range(30)]
    dataset = shutil.copytree(CORPUS, tmp_path / "data")
    (dataset / "corpus.jsonl").write_text("".join(f"{line}\n" for line in lines))

    kept: list[Any] = []
    report = validate(dataset, select="QU", max_per_rule=4, on_finding=kept.append)

    assert [f.line for f in report.findings] == [1, 2, 3, 4]
    assert (report.by_rule, len(kept)) == ({"QU201": 30}, 4)


def test_findings_stand_in_the_order_of_the_file() -> None:
    report = validate(QUALITY / "negative-like-positive" / "data", quality=True)

    assert [(Path(f.path).name, f.line) for f in report.findings] == [
        ("doc_master.ndjson", 3),
        ("doc_master.ndjson", 4),
        ("triplets.ndjson", 2),
        ("triplets.ndjson", 4),
    ]


def test_screen() -> None:
    outcome = run("validate", QUALITY / "near-identical-texts" / "data", "--quality")

    assert "QU203 warning document d3 is 94 % the same as d1\n" in outcome.out
    assert "    = results repeat themselves, and a copy of the gold counts as wrong\n" in outcome.out
    assert "= the earlier one: line 1" in outcome.out
    assert (outcome.code, outcome.err) == (0, "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--quality", "--quality-option", "most-tokens"), "--quality-option most-tokens: expected NAME=VALUE"),
        (("--quality", "--quality-option", "most-token=3"), "did you mean most-tokens"),
        (("--quality", "--quality-option", "most-tokens=many"), "expected an integer of at least 0"),
        (("--quality", "--quality-option", "near-similarity=2"), "expected a share from 0 to 1"),
        (("--quality", "--quality-option", "near-similarity=nan"), "expected a share from 0 to 1"),
        (("--quality-option", "most-tokens=3"), "--quality-option needs --quality"),
        (("--option", "dataset=a"), "--option needs --quality"),
        (("--select", "QU999"), "unknown rule"),
    ],
)
def test_refused(words: tuple[str, ...], message: str) -> None:
    outcome = run("validate", CORPUS, *words)

    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err


def test_thresholds_of_the_library() -> None:
    dataset = QUALITY / "over-token-budget" / "data"

    assert validate(dataset, quality=True).by_rule == {}
    assert validate(dataset, quality={"most-tokens": 30}).by_rule == {"QU206": 1}
    with pytest.raises(UnknownNameError, match="unknown quality option 'most'"):
        validate(dataset, quality={"most": 30})
    with pytest.raises(RagdataError, match="expected an integer"):
        validate(dataset, quality={"most-tokens": True})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ragdata.toml", "[quality]\nmost-tokens = 30\n"),
        ("pyproject.toml", "[tool.ragdata.quality]\nmost_tokens = 30\n"),
    ],
)
def test_thresholds_of_the_project(name: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / name).write_text(text)
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path)
    dataset = shutil.copytree(QUALITY / "over-token-budget" / "data", tmp_path / "below" / "data")

    assert codes(dataset, "--quality") == ["QU206"]
    assert codes(dataset, "--quality", "--quality-option", "most-tokens=100") == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[quality\n", "is not TOML"),
        ("quality = 3\n", "ragdata.toml:1: [quality] is not a table"),
        ("[quality]\nmost = 3\n", "ragdata.toml:2: unknown setting 'most' of [quality], did you mean most-"),
        ("[quality]\nmost-tokens = '3 or 4'\n", "expected an integer"),
    ],
    ids=["broken", "no-table", "unknown", "value"],
)
def test_settings_that_are_wrong(text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ragdata.toml").write_text(text)
    monkeypatch.chdir(tmp_path)

    outcome = run("validate", ".", "--quality")

    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err


def test_settings_end_at_the_repository(tmp_path: Path) -> None:
    (tmp_path / "ragdata.toml").write_text("[quality]\nmost-tokens = 30\n")
    inside = tmp_path / "project" / "data"
    inside.mkdir(parents=True)
    assert configuration_of(inside).value("quality", "most-tokens") == 30

    (tmp_path / "project" / ".git").mkdir()
    assert configuration_of(inside).values == {}


def test_every_threshold_is_named_by_a_rule() -> None:
    named = {name for rule in RULES for name, _, _ in thresholds_in(rule.summary)}

    assert named == {name.replace("_", "-") for name in QualityOptions.__dataclass_fields__}


def test_explain_tells_thresholds() -> None:
    output = run("explain", "QU501").out

    assert "  most-hub-share = 0.05: share of the edges" in output
    assert "  least-hub-edges = 100: edges that a hub has at least" in output
    assert "Thresholds" not in run("explain", "QU205").out + run("explain", "RD101").out


def packed(dataset: Path) -> int:
    path = dataset / "corpus.jsonl"
    (dataset / "corpus.jsonl.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    return 2


def blank_lines(dataset: Path) -> int:
    path = dataset / "corpus.jsonl"
    path.write_bytes(b"\xef\xbb\xbf\n\n" + path.read_bytes().replace(b"\n", b"\r\n\r\n"))
    return 5


@pytest.mark.parametrize("change", [packed, blank_lines])
def test_lines(change: Callable[[Path], int], tmp_path: Path) -> None:
    dataset = shutil.copytree(CORPUS, tmp_path / "data")
    line = change(dataset)

    (found,) = validate(dataset, select="QU202").findings

    assert (found.line, found.pointer, found.record) == (line, "/text", 1)
    assert found.related[0].line == (1 if change is packed else 3)


TEXT = "The mill at the end of the valley has stood there since the first settlers came over the pass in spring."


def arag(folder: Path) -> tuple[str, int]:
    (folder / "chunks.json").write_text(json.dumps(["0:Short text here", f"1:{TEXT}", f"2:{TEXT}"], indent=0))
    return "chunks.json", 4


def hipporag(folder: Path) -> tuple[str, int]:
    rows = [{"title": "A", "text": TEXT, "idx": 0}, {"title": "B", "text": TEXT, "idx": 1}]
    (folder / "towns_corpus.json").write_text(json.dumps(rows, indent=0))
    return "towns_corpus.json", 9


def datamind(folder: Path) -> tuple[str, int]:
    (folder / "chunks").mkdir()
    rows = [{"id": f"c{n}", "text": TEXT} for n in range(2)]
    (folder / "chunks" / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return "chunks/a.jsonl", 2


def gfm_rag(folder: Path) -> tuple[str, int]:
    (folder / "raw").mkdir()
    (folder / "raw" / "documents.json").write_text(json.dumps({"A": TEXT, "B": TEXT}, indent=0))
    return "raw/documents.json", 3


def trec(folder: Path) -> tuple[str, int]:
    rows = [f"<doc>\n<docno>{n}</docno>\n<text>{TEXT}</text>\n</doc>\n" for n in range(2)]
    (folder / "documents.trec").write_text("".join(rows))
    return "documents.trec", 7


@pytest.mark.parametrize("make", [arag, hipporag, datamind, gfm_rag, trec], ids=lambda make: make.__name__)
def test_lines_of_other_formats(make: Callable[[Path], tuple[str, int]], tmp_path: Path) -> None:
    name, line = make(tmp_path)

    (found,) = validate(tmp_path, select="QU202").findings

    assert (Path(found.path).relative_to(tmp_path).as_posix(), found.line) == (name, line)


def two_sets(folder: Path) -> Path:
    """A folder with two data sets, each with two passages of the same words."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("towns", "rivers"):
        rows = [{"title": f"{name} {n}", "text": f"{TEXT} Of {name}.", "idx": n} for n in range(2)]
        (folder / f"{name}_corpus.json").write_text(json.dumps(rows, indent=0))
        asked = {"id": "1", "question": "Who?", "answer": ["The mill"], "paragraphs": []}
        (folder / f"{name}.json").write_text(json.dumps([asked]))
    return folder


def test_each_data_set_of_a_folder_is_checked(tmp_path: Path) -> None:
    two_sets(tmp_path / "two")
    other = tmp_path / "other"
    other.mkdir()
    (other / "lakes_corpus.json").write_text((tmp_path / "two" / "towns_corpus.json").read_text())

    found = validate(tmp_path, select="QU").findings
    chosen = run("validate", tmp_path, "--select", "QU", "--option", "dataset=towns").out

    places = [(f.code, Path(f.path).name) for f in found if f.code in ("QU101", "QU202")]
    assert sorted(places) == [("QU202", f"{name}_corpus.json") for name in ("lakes", "rivers", "towns")]
    assert chosen.count("QU202") == 1 and "towns_corpus.json\n  9:9 QU202" in chosen and "QU101" not in chosen
    unknown = run("validate", tmp_path, "--select", "QU", "--option", "dataset=seas").out
    assert "QU101" in unknown and "has no data set seas" in unknown


def test_dataset_that_cannot_be_read(tmp_path: Path) -> None:
    hub = tmp_path / "hub"
    hub.mkdir()
    for name in ("a", "b"):
        (hub / f"{name}-queries.jsonl").write_text('{"_id": "1", "text": "Who built the mill?"}\n')
    row = '{{"_id": "{}", "title": "", "text": "' + TEXT + '"}}\n'
    (tmp_path / "towns").mkdir()
    (tmp_path / "towns" / "corpus.jsonl").write_text(row.format(1) + row.format(2))

    found = validate(tmp_path, select="QU").findings

    assert {f.code for f in found} >= {"QU101", "QU202"}  # the one does not hide what is wrong with the other
    assert "--option prefix=a" in next(f.message for f in found if f.code == "QU101")
    assert "QU101" not in run("validate", hub, "--select", "QU", "--option", "prefix=a").out


def test_without_the_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    from ragdatakit.quality import run as quality

    monkeypatch.setattr(quality.importlib.util, "find_spec", lambda name: None)

    outcome = run("validate", CORPUS, "--quality")
    assert (outcome.code, outcome.out) == (2, "")
    assert "this needs ftfy: pip install 'ragdatakit[quality]'" in outcome.err
    assert codes(CORPUS, "--select", "QU202") == ["QU202"]


def test_plain_validation_imports_nothing_of_it() -> None:
    code = (
        "import sys, ragdatakit; ragdatakit.validate(sys.argv[1]); "
        "print([m for m in sys.modules if m in ('numpy', 'ftfy') or 'quality_' in m and 'api' not in m])"
    )
    outcome = spawn(GOOD, code=("-c", code))

    assert (outcome.out.strip(), outcome.code) == ("[]", 0)


def test_the_column_of_what_is_written_with_escapes(tmp_path: Path) -> None:
    dataset = shutil.copytree(CORPUS, tmp_path / "data")
    record = '{"_id": "d1", "title": "", "text": "About the World\\u00E2\\u20AC\\u2122s bridges"}\n'
    (dataset / "corpus.jsonl").write_text(record)

    (found,) = validate(dataset, select="QU204").findings
    assert found.column == record.index("World") + 1


def test_the_record_of_texts_that_are_the_same_where_ids_are_places(tmp_path: Path) -> None:
    titled = [{"title": f"Part {n}", "text": "An old story of the sea and of ships." if n else ""} for n in range(3)]
    (tmp_path / "toy_corpus.json").write_text(json.dumps([*titled, {"title": "End", "text": ""}], indent=1))

    findings = validate(tmp_path, select=("QU201", "QU202")).findings
    assert [(f.code, f.record) for f in findings] == [("QU201", 0), ("QU202", 2), ("QU201", 3)]


def test_many_texts_are_looked_at_in_any_number_of_threads(tmp_path: Path) -> None:
    """So many that the library reads them, some lines of which are for Python: faulty, or with another field."""
    lines = [
        f'{{"_id": "d{n}", "text": "{" ".join(f"w{n * k % 9973}" for k in range(60))} {"é" * (n % 3)}"}}'
        for n in range(6000)
    ]
    lines[100] = lines[100].replace("{", '{"more": 1, ', 1)
    lines[2000], lines[4000], lines[5500] = (
        "no JSON",
        lines[10].replace("d10", "again").replace(" w", "  w"),
        '{"_id": "few", "text": "a"}',
    )
    (tmp_path / "corpus.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "queries.jsonl").write_text('{"_id": "q", "text": "What is w17?"}\n')

    found = [[str(f) for f in validate(tmp_path, quality=True, jobs=jobs).findings] for jobs in (1, 2, 7)]

    assert found[0] == found[1] == found[2]
    assert all(any(code in line for line in found[0]) for code in ("QU201", "QU202"))


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*/valid/*")), ids=lambda path: f"{path.parts[-3]}-{path.name}")
def test_sound_data_of_every_format_are_checked_altogether(path: Path) -> None:
    found = validate(path / "data" if (path / "data").exists() else path, quality=True).findings

    assert [f.message for f in found if f.rule == "quality-not-checked"] == []
