"""Hostile content: depth, length, control characters, numbers without end, and configs made to burst."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ragdatakit import validate
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.light_splade.checks import LightSpladeChecks
from tests.command_line import run
from tests.hostile import codes, copy, endure

LINES = {
    "light-splade/valid/both": ("train/triplets.ndjson", "train/query_master.ndjson", "hard_negative_scores.ndjson"),
    "arag/valid/predictions": ("predictions.jsonl",),
    "datamind/valid/both-loaders": ("chunks/notes.jsonl", "triplets/notes.jsonl"),
}
EACH_FILE = [(case, name) for case, names in LINES.items() for name in names]
each_file = pytest.mark.parametrize(("case", "name"), EACH_FILE, ids=[f"{c.split('/')[0]}-{n}" for c, n in EACH_FILE])

DEEP = {
    "lists": "[" * 10_000 + "]" * 10_000,
    "objects": '{"qid":' * 10_000 + "1" + "}" * 10_000,
    "unclosed": "[" * 10_000,
    "in-a-field": '{"qid": 1, "text": ' + "[" * 10_000 + "]" * 10_000 + "}",
    "scores": '{"qid": 1, "scores": ' + '{"10":' * 10_000 + "1" + "}" * 10_000 + "}",
}
ENDLESS = {
    "integer": '{"qid": ' + "9" * 5_000 + "}",
    "decimal": '{"qid": 0.' + "9" * 5_000 + "}",
    "exponent": '{"qid": 1e999999999999999999}',
    "key": '{"' + "k" * 100_000 + '": 1}',
    "value": '{"qid": "' + "v" * 100_000 + '"}',
    "many-keys": "{" + ", ".join(f'"k{i}": {i}' for i in range(300)) + "}",
    "score-key": '{"qid": 1, "scores": {"' + "9" * 5_000 + '": 1}}',
}
TRICKS = ["\x1b[31m", "\x1b]0;title\x07", "\x9b31m", "\r", "\x00", "\x7f"]  # what a terminal obeys
TRICKS += ["\u202e", "\u2066", "\u200b", "\u2028", "\ud83d"]  # what turns, hides, breaks or cannot be encoded


def append(path: Path, *lines: str) -> None:
    with path.open("ab") as file:
        file.writelines(line.encode("utf-8", "surrogatepass") + b"\n" for line in lines)


@pytest.mark.broad
@each_file
@pytest.mark.parametrize("kind", DEEP)
def test_depth_of_ten_thousand(tmp_path: Path, case: str, name: str, kind: str) -> None:
    folder = copy(case, tmp_path)
    append(folder / name, DEEP[kind], '{"after": "it"}')

    outcome = endure(folder)

    assert "after" in outcome.out


@pytest.mark.broad
@pytest.mark.parametrize("name", ["chunks.json", "questions.json"])
@pytest.mark.parametrize("kind", DEEP)
@pytest.mark.parametrize("form", ["[{}]", "[\n{},\n1\n]", "{}"])
def test_depth_in_an_array(tmp_path: Path, name: str, kind: str, form: str) -> None:
    folder = copy("arag/valid/predictions", tmp_path)
    (folder / name).write_text(form.replace("{}", DEEP[kind]), encoding="utf-8")

    assert endure(folder).code in (0, 1)


@pytest.mark.parametrize("command", ["validate", "report"])
def test_objects_in_each_other_that_never_end(tmp_path: Path, command: str) -> None:
    folder = copy("contextual-retrieval/valid/cookbook", tmp_path)
    (folder / "codebase_chunks.json").write_text("[" + '{"chunks":[' * 50_000)

    outcome = run(command, folder)

    assert outcome.code == (1 if command == "validate" else 0)
    assert "please report it" not in outcome.err


@pytest.mark.broad
@each_file
@pytest.mark.parametrize("kind", ENDLESS)
def test_numbers_keys_and_values_without_end(tmp_path: Path, case: str, name: str, kind: str) -> None:
    folder = copy(case, tmp_path)
    append(folder / name, ENDLESS[kind])

    outcome = endure(folder)

    assert max(map(len, outcome.out.splitlines())) < 2_000


@pytest.mark.broad
@each_file
@pytest.mark.parametrize("trick", TRICKS, ids=ascii)
def test_tricks_on_the_terminal(tmp_path: Path, case: str, name: str, trick: str) -> None:
    """In keys and values, escaped as JSON allows and raw as it does not."""
    folder = copy(case, tmp_path)
    first = json.loads((folder / name).read_text(encoding="utf-8").splitlines()[0])
    records = [dict.fromkeys(first, trick), {f"{key}{trick}": 1 for key in first}, {**first, trick: trick}]
    records += [{**first, key: trick} for key in first] + [{**first, key: [trick, {trick: trick}]} for key in first]
    for ascii_only in (True, False):
        append(folder / name, *(json.dumps(r, ensure_ascii=ascii_only) for r in records))
    append(folder / name, trick, f'{{"{trick}": "{trick}"}}', f"{trick}{{")

    assert endure(folder).code == 1


@pytest.mark.parametrize("trick", TRICKS, ids=ascii)
def test_tricks_in_an_array(tmp_path: Path, trick: str) -> None:
    folder = copy("arag/valid/predictions", tmp_path)
    quoted = json.dumps(trick)
    (folder / "chunks.json").write_text(f'["0:a.", {quoted}, [{quoted}], {{{quoted}: 1}}]', encoding="utf-8")
    (folder / "questions.json").write_text(
        f'[{{"id": {quoted}, "question": {quoted}, {quoted}: {quoted}}}, {quoted}]', encoding="utf-8"
    )

    assert endure(folder).code == 1


@each_file
def test_nul_bytes(tmp_path: Path, case: str, name: str) -> None:
    folder = copy(case, tmp_path)
    (folder / name).write_bytes(b"\0\0\0\n\0{}\0\n\0")

    assert endure(folder).code == 1


@pytest.mark.parametrize("compressed", [False, True])
def test_line_longer_than_the_memory_limit_does_not_break_the_rest(tmp_path: Path, compressed: bool) -> None:
    import gzip

    folder = copy("light-splade/valid/triplet", tmp_path)
    path = folder / "train/triplets.ndjson"
    append(path, '{"qid": 1, "x": "' + "y" * (6 << 20) + '"}', '{"qid": 77, "pos_doc_id": 10, "neg_doc_id": 12}')
    if compressed:
        data = path.read_bytes()
        path.unlink()
        path = path.with_name("triplets.ndjson.gz")
        path.write_bytes(gzip.compress(data))

    report = validate(folder, memory_limit=16 << 20, severity="warning")

    assert {(f.rule, f.line) for f in report.findings} == {("line-too-long", 3), ("dangling-qid", 4)}
    endure(folder, "--memory-limit", "16MiB")


def test_check_that_crashes_hides_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = copy("light-splade/broken/invalid-json-3/data", tmp_path)
    check = LightSpladeChecks.record

    def crashing(self: LightSpladeChecks, file: Any, value: Any) -> Iterable[Problem]:
        if isinstance(value, dict) and value.get("doc_id") == 11:
            raise KeyError("\x1b[31mfor the test")
        return check(self, file, value)

    monkeypatch.setattr(LightSpladeChecks, "record", crashing)
    report = validate(folder, severity="warning")

    assert {(f.rule, f.line) for f in report.findings} == {("rule-crashed", 2), ("invalid-json", 4)}
    assert all("\x1b" not in f.message for f in report.findings)


def test_check_of_the_whole_dataset_that_crashes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = copy("light-splade/broken/invalid-json/data", tmp_path)

    def crashing(*_: Any) -> Iterator[Problem]:
        raise ZeroDivisionError

    monkeypatch.setattr(LightSpladeChecks, "finish", crashing)
    report = validate(folder)

    assert {"rule-crashed", "invalid-json"} <= {f.rule for f in report.findings}


def test_half_built_index_is_forereported(tmp_path: Path) -> None:
    """A rule that takes more than 2,048 chunks to show."""
    (tmp_path / "chunks").mkdir()
    lines = [json.dumps({"text": f"Pier {i} is closed in winter and open in spring."}) for i in range(2_100)]
    lines[1_000] = json.dumps({"text": "Pier lights are out.", "metadata": {"lamps": {"red": 1}}})
    append(tmp_path / "chunks/notes.jsonl", *lines)

    report = validate(tmp_path, profile="v1", severity="warning")

    assert "partial-index" in {f.rule for f in report.findings}


def aliases() -> str:
    levels = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    levels += [f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]" for a, b in zip("abcdefg", "bcdefgh", strict=True)]
    return "\n".join([*levels, "train_query_master: *h", "eval_loss_size: *h", ""])


def doubling(times: int) -> str:
    return "".join(f"A{i}: ${{.A{i + 1}}}${{.A{i + 1}}}\n" for i in range(times)) + "train_query_master: ${.A0}\n"


CONFIGS: dict[str, Callable[[], str]] = {
    "aliases": aliases,
    "endless-integer": lambda: f"train_query_master: x\neval_loss_size: {'1' * 5_000}\n",
    "no-such-date": lambda: "train_query_master: x\neval_loss_size: 2024-13-45\n",
    "nul": lambda: 'train_query_master: "x\\0y"\n',
    "long-path": lambda: f"train_query_master: {'a' * 100_000}\n",
    "long-key": lambda: f"train_query_master: ${{.{'a' * 10_000}}}\n",
    "deep": lambda: f"train_query_master: {'[' * 1_100}{']' * 1_100}\n",
    "circle": lambda: "A: ${.B}\nB: ${.A}\ntrain_query_master: ${.A}\n",
    "doubling": lambda: doubling(60),
    "escapes": lambda: 'train_query_master: "\\e[31m"\ntrain_positives: "${\\e[31m}"\neval_loss_size: "\\e[31m"\n',
    "bidi": lambda: "train_query_master: \u202ex\neval_loss_size: \u202e1\n\u202e: 1\n",
    "device": lambda: "train_query_master: /dev/zero\ntrain_doc_master: /dev\neval_loss_size: 1\n",
    "python-object": lambda: "train_query_master: !!python/object/apply:os.system ['true']\n",
    "unhashable-key": lambda: "? [a]\n: b\ntrain_query_master: x\n",
    "no-mapping": lambda: "- train_query_master\n",
    "empty": str,
    "no-yaml": lambda: "a: b: c: [\n",
    "types": lambda: "train_query_master: 1\ntrain_doc_master: null\ntrain_positives: {}\neval_loss_size: true\n",
    "infinite": lambda: "train_query_master: x\neval_loss_size: .inf\n",
}


@pytest.mark.parametrize("kind", CONFIGS)
def test_config_made_to_burst(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "data.yaml"
    path.write_text(CONFIGS[kind](), encoding="utf-8")
    started = time.perf_counter()

    outcome = endure(path)

    assert time.perf_counter() - started < 60
    assert outcome.code in (1, 2)
    assert len(outcome.out) + len(outcome.err) < 20_000


@pytest.mark.parametrize(
    "statement",
    [
        "ATTACH DATABASE '{out}' AS x; CREATE TABLE x.t (a);",
        "VACUUM INTO '{out}';",
        "SELECT writefile('{out}', 'x');",
        "SELECT load_extension('{out}');",
        "PRAGMA temp_store_directory = '{out}';",
        ".output {out}",
        "SELECT length(randomblob(2000000000));",
    ],
    ids=lambda s: s.split()[0] + s.split()[1][:12],
)
def test_sql_does_nothing_outside(tmp_path: Path, statement: str) -> None:
    folder = copy("datamind/valid/both-loaders", tmp_path)
    (tmp_path / "outside").mkdir()
    target = tmp_path / "outside" / "file"
    append(folder / "tables/02_rows.sql", statement.format(out=target))

    endure(folder, watched=tmp_path)

    assert not target.exists()


def test_codes_of_a_screen_are_read() -> None:
    from tests.command_line import DEMO, run

    assert codes(run("validate", DEMO)) >= {"SP111", "SP201", "SP311"}
