"""JSON objects whose members are records, of any layout, cut anywhere: every member at its place, broken or not."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ragdatakit.files.containers import element_scans, strict_json
from ragdatakit.files.containers.arrays import ObjectSource
from ragdatakit.files.containers.record_forms import REFUSED, MemberForm
from ragdatakit.files.containers.sources import Source
from ragdatakit.schemas.findings import Finding
from tests.arrays_of_elements import places
from tests.block_mutations import TOKENS, tries
from tests.json_containers import run, validate, written
from tests.objects_of_members import pairs, read, written_object

SEEDS = range(4)
SIZES = (1, 7, 16, 50, 200, 5000)
FORM = MemberForm("title", "text")


def loaded(data: bytes) -> list[tuple[str, Any]]:
    """The members as Python's reader gives them, in order, also those of one name."""
    top: list[tuple[str, Any]] = []

    def keep(found: list[tuple[str, Any]]) -> dict[str, Any]:
        top[:] = found
        return dict(found)

    json.loads(data, object_pairs_hook=keep)
    return top


@pytest.mark.broad
@pytest.mark.parametrize("seed", SEEDS)
def test_members_are_those_of_json_and_stand_where_they_are_said_to(seed: int, tmp_path: Path) -> None:
    rng = Random(seed)

    for _ in range(tries(1000) // len(SEEDS)):
        made = written_object(rng, pairs(rng))
        found, top = read(tmp_path / "o.json", made.data, rng.choice(SIZES))

        assert top == ("object" if made.values else "empty")
        assert [e.error for e in found] == [""] * len(made.values)
        assert [tuple(FORM.value(e.raw.decode()).values()) for e in found] == loaded(made.data)
        assert [e.raw for e in found] == list(made.raws)
        assert [e.byte_offset for e in found] == list(made.offsets)
        assert [e.line for e in found] == [made.line(i) for i in range(len(found))]
        assert [e.record for e in found] == list(range(len(found)))
        for element in found:
            line = made.data[: element.byte_offset].rsplit(b"\n", 1)[-1].removeprefix(b"\xef\xbb\xbf")
            assert element.indent.characters == len(line.decode())


@pytest.mark.broad
@pytest.mark.parametrize("seed", SEEDS)
def test_proved_parts_hold_the_members_and_number_them(seed: int, tmp_path: Path) -> None:
    rng = Random(seed + 50)

    for _ in range(tries(400) // len(SEEDS)):
        made = written_object(rng, pairs(rng, 30))
        path = written(tmp_path / "o.json", made.data)
        records = 0
        values: list[tuple[str, Any]] = []
        for part in ObjectSource(Source(path, gz=False, block_bytes=rng.choice((40, 200, 1000)))).parts():
            assert part.first_record == records
            assert part.count == len(part.elements())
            records += part.count
            if part.proved:
                values += part.values.items()
            else:
                values += [tuple(FORM.value(e.raw.decode()).values()) for e in part.elements()]

        assert values == loaded(made.data)


BREAKS = (
    b'"m4": {"a": 1,}',
    b"'m4': \"x\"",
    b'm4: "x"',
    b'"m4" "x"',
    b'"m4": {"a": 1 "b": 2}',
    b'"m4": None',
    b'"m4": 01',
    b'"m4": "x\ty"',
    b'"m4": "\xff"',
    b'"m4": "\\ud800"',
    b'"m4": NaN',
    b'"m4": "a\\x41"',
    b'"m4": 12 13',
    b"",
    b'"m4"',
    b'"m4":',
    b'"m4": {"a": 1}}',
    b'"m4": "a" "b"',
    b'"m4": "a',
    b'"m4: "a"',
    b'"m4": ["a"',
    b'"m4": "a "quoted" word"',
    b'"m4": "a", "b"',
    b'"m4": "a"]',
    b'"m4"= "a"',
    b'{"m4": "a"}',
    b'"m4": {"a": "x}',
    b'7: "a"',
)


@pytest.mark.broad
@pytest.mark.parametrize("broken", BREAKS)
@pytest.mark.parametrize("block_bytes", [7, 60, 100_000])
@pytest.mark.parametrize("margin", [b"", b"  ", b"\t"])
def test_a_broken_member_costs_no_other_one(broken: bytes, block_bytes: int, margin: bytes, tmp_path: Path) -> None:
    rows = [margin + b'"m%d": ' % i + json.dumps({"n": i, "text": f"tide {i}"}).encode() for i in range(9)]
    rows[4] = margin + broken
    data = b"{\n" + b",\n".join(rows) + b"\n}\n"

    found, _ = read(tmp_path / "o.json", data, block_bytes)

    sound = {e.line: e for e in found if not e.error and margin + e.raw == rows[e.line - 2]}
    assert set(sound) >= {2, 3, 4, 5, 7, 8, 9, 10}
    for line, element in sound.items():
        assert data[element.byte_offset :].startswith(rows[line - 2].removeprefix(margin))


@pytest.mark.parametrize("broken", [b for b in BREAKS if b != b'"m4": "\\ud800"' and b != b'"m4": NaN'])
def test_a_broken_member_is_reported_at_its_line(broken: bytes, tmp_path: Path) -> None:
    rows = [b'  "m%d": "tide"' % i for i in range(9)]
    rows[4] = b"  " + broken
    data = b"{\n" + b",\n".join(rows) + b"\n}\n"

    findings = validate({"notes": written(tmp_path / "o.json", data)})

    assert {f.line for f in findings} & {6, 7}
    assert {f.rule for f in findings} <= {"not-json", "invalid-utf8", "no-text"}
    with pytest.raises(ValueError):  # noqa: PT011 - any reason will do
        json.loads(data.decode("utf-8"))


@pytest.mark.broad
@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_that_happens_to_an_object_stops_the_reading(seed: int, tmp_path: Path) -> None:
    rng = Random(-seed - 1)

    for _ in range(tries(1000) // len(SEEDS)):
        data = written_object(rng, pairs(rng, 8)).data
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(data) + 1)
            data = data[:at] + rng.choice((*TOKENS, b"")) + data[at + rng.randrange(4) :]

        by_size = [read(tmp_path / "o.json", data, size)[0] for size in (rng.choice((1, 9, 40)), 100_000)]

        assert places(by_size[0]) == places(by_size[1])
        for found in by_size:
            offsets = [e.byte_offset for e in found]
            assert offsets == sorted(offsets)
            for element in found:
                assert data[element.byte_offset :].startswith(element.raw)
                assert element.line == data[: element.byte_offset].count(b"\n") + 1
            records = [e.record for e in found if not e.error]
            assert records == list(range(len(records)))


@pytest.mark.parametrize(
    "data",
    [
        b'{"a": 1}, "b": "' + b"x" * 5000 + b'"\n "c": 2}',  # closed too early: does the next line go on?
        b'{"a": 1\n,"b": ["x\n"], "c": 1}\n,"d": "' + b"x" * 900 + b'"\n "e": 3}',  # a text that is not closed
    ],
)
def test_a_break_costs_the_same_however_much_is_read_at_a_time(data: bytes, tmp_path: Path) -> None:
    found = {size: places(read(tmp_path / "o.json", data, size)[0]) for size in (9, 100, 700, 100_000)}

    assert [size for size in found if found[size] != found[9]] == []


@pytest.mark.broad
@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_no_json_is_reported_whatever_happened(seed: int, tmp_path: Path) -> None:
    """Damage that Python's reader refuses is an error of the file; without such damage there is none."""
    rng = Random(seed + 300)

    for _ in range(tries(400) // len(SEEDS)):
        data = written_object(rng, [(f"n{i}", f"tide {i}") for i in range(rng.randrange(1, 8))]).data
        for _ in range(rng.randrange(1, 3)):
            at = rng.randrange(len(data) + 1)
            data = data[:at] + rng.choice((*TOKENS, b"")) + data[at + rng.randrange(4) :]
        refused = True
        try:
            refused = not isinstance(json.loads(data.decode("utf-8-sig")), dict)
        except (ValueError, RecursionError):
            pass
        files = {"notes": written(tmp_path / "o.json", data)}
        by_way = [validate(files, size, scanned) for size, scanned in ((rng.choice(SIZES), True), (1 << 19, False))]

        for findings in by_way:
            rules = {f.rule for f in findings} & {"not-json", "not-records", "only-text", "invalid-utf8"}
            assert bool(rules) == refused, data


@pytest.mark.broad
@pytest.mark.parametrize("seed", SEEDS)
def test_lines_behind_a_break_are_read(seed: int, tmp_path: Path) -> None:
    """In an object with a member a line, what befalls one line leaves all but it and the next one alone."""
    rng = Random(seed + 100)

    for _ in range(tries(1000) // len(SEEDS)):
        texts = ("tide", "a } b", "x, y", 'a: "b"')
        rows = [f'"n{i}": '.encode() + json.dumps(rng.choice(texts)).encode() for i in range(8)]
        at = rng.randrange(len(rows[3]) + 1)
        rows[3] = rows[3][:at] + rng.choice([t for t in TOKENS if b"\n" not in t]) + rows[3][at + rng.randrange(4) :]
        data = b"{\n" + b",\n".join(rows) + b"\n}\n"
        found, _ = read(tmp_path / "o.json", data, rng.choice((20, 100_000)))

        sound = {e.line for e in found if not e.error and e.raw == rows[e.line - 2]}
        assert sound >= {2, 3, 4, 7, 8, 9}, data


PLANTS = {
    "sound": ("", '"tide {}"'),
    "accents": ("", '"é漢 \U0001f311 {}"'),
    "number": ("no-text", "{}"),
    "null": ("no-text", "null"),
    "list": ("no-text", '["é", {}]'),
    "nested": ("no-text", '{{"a": {{"b": "{}"}}}}'),
    "key twice": ("duplicate-key", '{{"é": 1, "é": {}}}'),
    "loud": ("shouted", '"É LOUD {}"'),
    "surrogate": ("lone-surrogate", '"\\ud800{}"'),
    "no JSON": ("not-json", '"a\\x{}"'),
    "colon": ("", '"say \\"a\\": {}"'),
    "large": ("no-text", "9007199254740993"),
}


def planted(rng: Random) -> tuple[bytes, list[bytes], list[int], list[tuple[str, int]]]:
    """An object with faults: its bytes, the members, their offsets, and (rule, record) of each fault."""
    between = rng.choice((",", ", ", ",\n", ",\n  ", "\n, ", ",\r\n", ",\n\n\t", " ,\n"))
    colon = rng.choice((": ", ":", " :\n  "))
    data = rng.choice((b"", b"\xef\xbb\xbf")) + b"{" + rng.choice((b"", b"\n", b"\n  ", b" "))
    raws, offsets, faults = [], [], []
    for number in range(rng.randrange(1, 14)):
        rule, text = PLANTS[rng.choice(list(PLANTS))]
        name = f"é{number}"
        if number and rng.random() < 0.2:
            name = "é0"
            faults.append(("title-twice", number))
        raw = f'"{name}"{colon}{text.format(number)}'.encode()
        if rule:
            faults.append((rule, number))
        data += between.encode() if number else b""
        offsets.append(len(data))
        raws.append(raw)
        data += raw
    return data + b"\n}\n", raws, offsets, faults


def expected(faults: list[tuple[str, int]]) -> set[tuple[str, int]]:
    """What must be reported: a member that is no JSON has no name, and an object is no text."""
    broken = {number for rule, number in faults if rule == "not-json"}
    first = min((n for n in range(20) if n not in broken and (not n or ("title-twice", n) in faults)), default=0)
    found = {(r, n) for r, n in faults if r != "title-twice" or (n not in broken and n != first)}
    return found | {("no-text", n) for r, n in faults if r == "duplicate-key"}


def check_place(finding: Finding, data: bytes, raws: list[bytes], offsets: list[int]) -> None:
    """Offset, line and column of a finding are where its value stands."""
    assert finding.record is not None
    assert finding.line is not None
    assert finding.byte_offset == offsets[finding.record]
    first = data.count(b"\n", 0, finding.byte_offset) + 1
    assert first <= finding.line <= first + raws[finding.record].count(b"\n")
    if finding.column is not None and finding.pointer in ("/title", "/text") and finding.rule != "lone-surrogate":
        line = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")[finding.line - 1].decode()
        value = finding.value if isinstance(finding.value, str | int) and str(finding.value)[:1] not in "{[" else None
        wanted = json.dumps(value, ensure_ascii=False) if value is not None else ""
        assert line[finding.column - 1 :].startswith(wanted)


@pytest.mark.broad
@pytest.mark.parametrize("seed", SEEDS)
def test_faults_are_found_at_their_places_by_both_engines(seed: int, tmp_path: Path) -> None:
    rng = Random(seed + 200)

    for _ in range(tries(200) // len(SEEDS)):
        data, raws, offsets, faults = planted(rng)
        zipped = rng.random() < 0.3
        path = written(tmp_path / f"o.json{'.gz' if zipped else ''}", data, zipped)
        findings = validate({"notes": path})

        assert validate({"notes": path}, rng.choice(SIZES[1:]), scanned=True) == findings
        assert validate({"notes": path}, rng.choice(SIZES[1:])) == findings
        rules = {(f.rule, f.record) for f in findings if f.rule != "byte-order-mark"}
        assert rules == expected(faults)
        for finding in findings:
            if finding.rule != "byte-order-mark":
                check_place(finding, data, raws, offsets)


def test_a_name_that_stands_twice_is_two_records(tmp_path: Path) -> None:
    members = [f'"title {i % 900}": "text {i}"' for i in range(1000)]
    path = written(tmp_path / "o.json", ("{\n" + ",\n".join(members) + "\n}").encode())

    for scanned in (False, True):
        done = run({"notes": path}, 300, scanned)
        assert done.dataset.files[0].records == 1000
        found = done.collector.kept
        assert [(f.rule, f.line, f.value) for f in found] == [
            ("title-twice", i + 2, f"title {i - 900}") for i in range(900, 1000)
        ]
        assert [f.related[0].line for f in found] == [i - 900 + 2 for i in range(900, 1000)]
        assert {(f.column, f.pointer) for f in found} == {(1, "/title")}


def test_other_files_refer_to_the_names(tmp_path: Path) -> None:
    notes = written(tmp_path / "o.json", b'{"tide": "x", "moon": "y"}')
    traces = written(tmp_path / "t.json", b'[{"title": "a", "cites": ["moon", "sun"]}, {"title": "b", "cites": []}]')

    for scanned in (False, True):
        findings = validate({"notes": notes, "traces": traces}, scanned=scanned)
        assert [(f.rule, f.pointer, f.value) for f in findings] == [("unknown-title", "/cites/1", "sun")]


TOP_LEVELS = (
    (b"[1]", ["not-records"], 1, None),
    (b'["a"]\n', ["not-records"], 1, None),
    (b'"abc"', ["only-text"], 1, None),
    (b"12", ["not-records"], 1, None),
    (b"null", ["not-records"], 1, None),
    (b"", ["not-json"], 1, None),
    (b" \n ", ["not-json"], 1, None),
    (b"{}", ["nothing-there"], None, None),
    (b" {\n} ", ["nothing-there"], None, None),
    (b'{"a": "x"', ["not-json"], 1, 10),
    (b'{"a": "x",', ["not-json"], 1, 11),
    (b'{"a": "x', ["not-json"], 1, 7),
    (b'{"a": ', ["not-json"], 1, 6),
    (b"{", ["not-json"], 1, 2),
    (b'{"a": "x"} y', ["not-json"], 1, 12),
    (b'{"a": "x"}}', ["not-json"], 1, 11),
    (b'{"a": "x",}', ["not-json"], 1, 10),
    (b'{,"a": "x"}', ["not-json"], 1, 2),
    (b'{"a": "x",, "b": "y"}', ["not-json"], 1, 11),
    (b'{"a": "x" "b": "y"}', ["not-json"], 1, 11),
    (b'{"a": "x"}\n{"b": "y"}\n', ["not-json"], 2, 1),
    (b'\xef\xbb\xbf{"a": "x"}', ["byte-order-mark"], 1, None),
    (b"a title: a text", ["not-json"], 1, None),
)


@pytest.mark.parametrize(("data", "rules", "line", "column"), TOP_LEVELS)
def test_what_the_file_is(data: bytes, rules: list[str], line: int | None, column: int | None, tmp_path: Path) -> None:
    path = written(tmp_path / "o.json", data)

    for scanned in (False, True):
        findings = validate({"notes": path}, scanned=scanned)
        assert [f.rule for f in findings] == rules
        assert findings[0].line == line
        assert column is None or findings[0].column == column


def test_a_missing_comma_between_elements_of_an_array_is_reported(tmp_path: Path) -> None:
    path = written(tmp_path / "a.json", b'[\n  {"title": "a"}\n  {"title": "b"},\n  {"title": "c"}\n]\n')

    findings = validate({"traces": path})

    assert [(f.rule, f.line, f.column, f.message) for f in findings] == [
        ("not-json", 3, 3, "a missing comma; it is lost")
    ]


def below(value: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    """Every value below (and with) ``value``, with its JSON Pointer."""
    yield pointer, value
    named = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in named:
        yield from below(each, f"{pointer}/{strict_json.escape(str(name))}")


@pytest.mark.broad
@pytest.mark.parametrize("seed", SEEDS)
def test_spans_of_members(seed: int) -> None:
    """Where a value is said to stand, it stands."""
    rng = Random(seed)

    for _ in range(tries(400) // len(SEEDS)):
        made = written_object(rng, pairs(rng, 4))
        for raw in made.raws:
            text = raw.decode()
            record = FORM.value(text)
            for pointer, value in below(record):
                span = FORM.span(text, pointer)
                assert span is not None, (text, pointer)
                shown = text[span[0] : span[0] + span[1]]
                if pointer:
                    assert json.loads(shown) == value
                else:
                    assert shown == text


def test_the_form_of_members() -> None:
    assert FORM.value('"a": 1') == {"title": "a", "text": 1}
    assert FORM.value('"a" 1') is None
    assert FORM.value('"a": 1, "b": 2') is None
    assert FORM.value("") is None
    assert FORM.plain(b'"a": {"b": 1}') == {"title": "a", "text": {"b": 1}}
    assert FORM.plain(b'"a": {"b": 1, "b": 2}') is REFUSED
    assert FORM.decode('"a/b": {"c": [NaN, 1e999], "c": 1}').repeated == [("/text/c", "c")]
    assert FORM.decode('"a/b": [NaN, 1e999, "\\ud800"]').non_finite == [("/text/0", "NaN")]
    assert FORM.decode('"a": nul').position == 5
    assert FORM.span('"a": {"b": 1}', "/text/c") is None
    assert FORM.span('"a": {"b": 1}', "/other") is None
    assert FORM.span("a: 1", "/title") is None
    assert FORM.glimpse('"long": "xxx', "title") == "long"
    assert FORM.glimpse('"long": "xxx', "text") is None


def test_a_broken_member_over_several_lines_costs_itself(tmp_path: Path) -> None:
    members = [json.dumps({f"n{i}": {"text": f"tide {i}", "more": [1, 2]}}, indent=2)[2:-2] for i in range(5)]
    members[2] = members[2].replace("]", "", 1)
    data = ("{\n" + ",\n".join(members) + "\n}\n").encode()

    for size in (9, 100, 100_000):
        found, _ = read(tmp_path / "o.json", data, size)
        sound = [e.raw.decode() for e in found if not e.error and FORM.value(e.raw.decode()) is not None]
        assert [s.split('"')[1] for s in sound] == ["n0", "n1", "n3", "n4"]


def test_deep_nesting_and_long_texts(tmp_path: Path) -> None:
    deep = "[" * 100_000 + "]" * 100_000
    data = f'{{"a": {deep}, "b": "{"x" * 3_000_000}", "c": {deep[:-1]}, "d": "y"}}'.encode()

    for size in (1000, 1 << 19):
        findings = validate({"notes": written(tmp_path / "o.json", data)}, size)
        assert {f.rule for f in findings} == {"not-json"}


@pytest.mark.parametrize(
    ("kind", "line"),
    [("notes", b'"a": {\n'), ("notes", b'"a": {"b": [\n'), ("traces", b'{"a":\n'), ("traces", b"{[\n")],
)
def test_much_that_is_never_closed_does_not_take_forever(
    kind: str, line: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(element_scans, "MOST_IN_VAIN", 1 << 19)
    opening = b"{" if kind == "notes" else b"["
    path = written(tmp_path / "o.json", opening + b"\n" + line * 20_000 + b"}")

    done = run({kind: path}, container="json-array")

    last = done.collector.kept[-1]
    assert (last.rule, "so much before this is broken" in last.message) == ("not-json", True)
    assert not done.dataset.files[0].readable


def test_of_a_cut_object_nothing_is_said_to_be_missing(tmp_path: Path) -> None:
    notes = written(tmp_path / "o.json", b'{"tide": "x",')
    traces = written(tmp_path / "t.json", b'[{"title": "a", "cites": ["moon"]}]')

    assert [f.rule for f in validate({"notes": notes, "traces": traces})] == ["unchecked-references", "not-json"]


MEMORY = """
import sys
from pathlib import Path
from tests.json_containers import run
done = run({"notes": Path(sys.argv[1])}, 1 << 19, True)
# of this process alone: what getrusage gives has the peak of the parent in it
peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(done.dataset.files[0].records, len(done.collector.kept), peak)
"""


@pytest.mark.parametrize("text", ["plain text " * 50, 'says \\"tide\\": ' * 40], ids=["plain", "quotes"])
def test_memory_does_not_grow_with_the_file(text: str, tmp_path: Path) -> None:
    path = tmp_path / "o.json"
    count = 100_000
    with path.open("w") as file:
        file.write("{\n")
        file.writelines(f'"title {i}": "{text}{i}",\n' for i in range(count))
        file.write('"last": null\n}\n')

    command = [sys.executable, "-c", MEMORY, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1])

    records, findings, kilobytes = map(int, done.stdout.split())
    assert (records, findings) == (count + 1, 1)
    assert kilobytes < 200 << 10
