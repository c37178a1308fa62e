"""Structure-aware damage: members, cells, records, bytes and whole files of a dataset, drawn from a seed."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from tests.block_mutations import TOKENS
from tests.command_line import FIXTURES

RECORDS = {".json", ".jsonl", ".ndjson"}
CELLS = {".csv", ".tsv", ".txt", ".qrels", ".run", ".trec"}
OTHERS = {".yaml", ".yml", ".sgml", ".xml", ".md"}
_PLACE = "@@HERE@@"

# Any value where another was: raw JSON, so that it need not be what Python can write.
VALUES = (
    *("null", "true", "false", "0", "-1", "1", "1.0", "0.5", "1e999", "-1e999", "NaN", "Infinity", "-0", "1e3"),
    *("9007199254740993", "9223372036854775808", "-9223372036854775809", "1" * 400, '""', '" "', '"0"', '"1"', '"1.0"'),
    *('"\\ud83d"', '"\\u0000"', '"\\u001b[2J"', '"\\u202e"', '"\\u200b"', '"true"', '"null"', '"nan"', '" x "', '"é"'),
    *(
        '"::error::x"',
        '"\\n##vso[task.setvariable variable=x]y"',
        '"=1+1"',
        '"../../x"',
        '"/etc/passwd"',
        '"</script>"',
    ),
    *("[]", "{}", "[null]", "[true]", "[[]]", "[{}]", "[1e999]", '[""]', '["a", 1]', '[0, "0", false]', '{"": ""}'),
    *('{"a": {"b": [1, {"c": null}]}}', '{"a": 1, "a": 2}', '["x", "x"]', "[" * 60 + "]" * 60, '"' + "x" * 5000 + '"'),
)
ODD_CELLS = (
    *(
        "",
        " ",
        "0",
        "-1",
        "1.0",
        "1e999",
        "nan",
        "NaN",
        "null",
        "true",
        "abc",
        "é",
        "\x00",
        "\x1b[2J",
        "\u200b",
        "\ufeff",
    ),
    *(
        '"',
        '""',
        '"a',
        'a"b',
        '"a,b"',
        '"a\nb"',
        "a\tb",
        "a b",
        "9223372036854775808",
        "[]",
        "{}",
        "[1]",
        "['a']",
        "{'a': 1}",
    ),
    *(
        "1" * 400,
        "x" * 5000,
        "::error::x",
        "=1+1",
        "{'a': " * 40,
        "__import__('os')",
        "\\",
        "'",
        "#",
        "0x10",
        "1_000",
        "١",
    ),
)


def fixtures() -> list[Path]:
    """All folders of ours that hold a dataset, valid and broken."""
    found = [p for kind in ("valid", "broken") for p in FIXTURES.glob(f"*/{kind}/*") if p.is_dir()]
    found += [p for p in (FIXTURES / "plain").iterdir() if p.is_dir()]
    found += [p for p in (FIXTURES / "quality").iterdir() if p.is_dir()]
    return sorted([*found, FIXTURES / "demo-broken", FIXTURES / "demo-search"])


def draw_base(rng: Random) -> Path:
    """A fixture: each format as often as another, and valid ones as often as broken ones."""
    every = fixtures()
    room = rng.choice(sorted({p.relative_to(FIXTURES).parts[0] for p in every}))
    mine = [p for p in every if p.relative_to(FIXTURES).parts[0] == room]
    valid = [p for p in mine if p.parent.name == "valid"]
    return rng.choice(valid if valid and rng.random() < 0.6 else mine)


def data_of(base: Path, folder: Path) -> Path:
    """A copy of the dataset of a fixture, and the path to give to commands."""
    shutil.copytree(base, folder, symlinks=True)
    expected = folder / "expected.json"
    if not expected.exists():
        return folder
    target = json.loads(expected.read_text(encoding="utf-8")).get("target", "data")
    expected.unlink()
    return folder / target if (folder / target).exists() else folder


def mutate(folder: Path, rng: Random, times: int) -> list[str]:
    """Damage the dataset in the folder; what was done, in words."""
    return [said for _ in range(times) if (said := _mutate_one(folder, rng))]


def _mutate_one(folder: Path, rng: Random) -> str:
    files = [p for p in sorted(folder.rglob("*")) if p.is_file() and not p.is_symlink()]
    if not files:
        return ""
    path = rng.choice(files)
    name = path.relative_to(folder).as_posix()
    if rng.random() < 0.12:
        change = rng.choice(WHOLE_FILES)
        change(path, rng, files)
        return f"{change.__name__} {name}"
    data = _read(path)
    changes = _changes(path.name)
    change = rng.choice(changes)
    try:
        _write(path, change(data, rng))
    except (ValueError, IndexError, RecursionError):  # an earlier change left nothing that this one could act on
        return ""
    return f"{change.__name__} {name}"


Change = Callable[[bytes, Random], bytes]


def _changes(name: str) -> tuple[Change, ...]:
    suffixes = set(Path(name).suffixes)
    if suffixes & RECORDS:
        return (
            swap_value,
            swap_value,
            swap_value,
            member_twice,
            member_gone,
            member_moved,
            records_moved,
            bytes_changed,
        )
    if suffixes & CELLS:
        return (cell_changed, cell_changed, cell_changed, columns_changed, lines_moved, bytes_changed)
    return (lines_moved, bytes_changed)


def _read(path: Path) -> bytes:
    data = path.read_bytes()
    try:
        return gzip.decompress(data) if path.suffix == ".gz" else data
    except (OSError, EOFError):
        return data


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def _documents(data: bytes) -> tuple[list[Any], str]:
    """The JSON values of a file, and what stands between them: a file of one value has one."""
    text = data.decode("utf-8")
    try:
        return [json.loads(text)], ""
    except ValueError:
        return [json.loads(line) for line in text.splitlines()], "\n"


def _nodes(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each member or element of a value: its container, and its key or index."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in list(items):
        yield value, key
        yield from _nodes(item)


def _changed(data: bytes, rng: Random, change: Callable[[Any, Any], None], raw: str = "") -> bytes:
    documents, between = _documents(data)
    change(*rng.choice([n for document in documents for n in _nodes(document)] or [(documents, 0)]))
    texts = [json.dumps(d, ensure_ascii=rng.random() < 0.3, indent=None if between else 1) for d in documents]
    text = (between or "\n").join(texts) + "\n"
    return text.replace(json.dumps(_PLACE), raw).encode("utf-8", "surrogatepass")


def swap_value(data: bytes, rng: Random) -> bytes:
    """Any value in the place of one."""

    def change(home: Any, key: Any) -> None:
        home[key] = _PLACE

    return _changed(data, rng, change, rng.choice(VALUES))


def member_twice(data: bytes, rng: Random) -> bytes:
    """A key stands twice in an object, or an element in an array."""
    raw: list[str] = [""]

    def change(home: Any, key: Any) -> None:
        if isinstance(home, list):
            home.insert(key, home[key])
            return
        raw[0] = f"{json.dumps(home[key])}, {json.dumps(key)}: {rng.choice(VALUES)}"
        home[key] = _PLACE

    documents, between = _documents(data)
    change(*rng.choice([n for document in documents for n in _nodes(document)]))
    text = (between or "\n").join(json.dumps(d, ensure_ascii=False) for d in documents) + "\n"
    return text.replace(json.dumps(_PLACE), raw[0]).encode("utf-8", "surrogatepass")


def member_gone(data: bytes, rng: Random) -> bytes:
    """A member or an element is away."""
    return _changed(data, rng, lambda home, key: home.pop(key))


def member_moved(data: bytes, rng: Random) -> bytes:
    """A key is written otherwise, or a key of its own is added."""

    def change(home: Any, key: Any) -> None:
        if isinstance(home, list):
            home.append(_PLACE)
        elif rng.random() < 0.5:
            home[rng.choice((key.upper(), f" {key}", "", "\x00", f"{key}.x", "/~0", "rowid"))] = home.pop(key)
        else:
            home[f"own{rng.randrange(10**6)}"] = _PLACE

    return _changed(data, rng, change, rng.choice(VALUES))


def records_moved(data: bytes, rng: Random) -> bytes:
    """Records copied, dropped, shuffled, wrapped in an array or freed of it."""
    documents, between = _documents(data)
    rows = documents if between else documents[0] if isinstance(documents[0], list) else [documents[0]]
    how = rng.randrange(5)
    if how == 0:
        rows = [*rows, rng.choice(rows)]
    elif how == 1:
        rows.pop(rng.randrange(len(rows)))
    elif how == 2:
        rng.shuffle(rows)
    elif how == 3:
        between = "" if between else "\n"
    else:
        rows = rows[: rng.randrange(len(rows) + 1)]
    text = json.dumps(rows) if not between else "".join(json.dumps(row) + "\n" for row in rows)
    return text.encode("utf-8", "surrogatepass")


def cell_changed(data: bytes, rng: Random) -> bytes:
    """Any cell in the place of one."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    separator = next((s for s in (b"\t", b",", b" ") if s in lines[at]), b",")
    cells = lines[at].split(separator)
    cells[rng.randrange(len(cells))] = rng.choice(ODD_CELLS).encode()
    lines[at] = separator.join(cells)
    return b"\n".join(lines)


def columns_changed(data: bytes, rng: Random) -> bytes:
    """A cell too many or too few in one row or in all."""
    lines = data.split(b"\n")
    separator = next((s for s in (b"\t", b",", b" ") if s in lines[0]), b",")
    chosen = range(len(lines)) if rng.random() < 0.4 else [rng.randrange(len(lines))]
    how, at = rng.randrange(3), rng.randrange(lines[0].count(separator) + 1)
    for i in chosen:
        cells = lines[i].split(separator)
        if how == 0:
            cells.insert(at, b"x")
        elif how == 1 and len(cells) > at:
            cells.pop(at)
        else:
            cells.reverse()
        lines[i] = separator.join(cells) if lines[i] else b""
    return b"\n".join(lines)


def lines_moved(data: bytes, rng: Random) -> bytes:
    """Lines copied, dropped, ended otherwise, or blank."""
    lines = data.splitlines(keepends=True)
    at = rng.randrange(len(lines))
    how = rng.randrange(5)
    if how == 0:
        lines.insert(at, rng.choice(lines))
    elif how == 1:
        lines.pop(at)
    elif how == 2:
        lines[at] = lines[at].rstrip(b"\r\n") + rng.choice((b"", b"\r", b"\r\n", b"\x0c", b"\xe2\x80\xa8"))
    elif how == 3:
        lines.insert(at, rng.choice((b"\n", b" \n", b"\t\n", b"\r\n")))
    else:
        rng.shuffle(lines)
    return b"".join(lines)


def bytes_changed(data: bytes, rng: Random) -> bytes:
    """Some bytes go, and a telling piece comes."""
    at = rng.randrange(len(data) + 1)
    how = rng.randrange(4)
    if how == 0 and data:
        at = min(at, len(data) - 1)
        return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
    if how == 1:
        return data[:at]
    return data[:at] + rng.choice(TOKENS) + data[at + (rng.randrange(6) if how == 2 else 0) :]


def file_emptied(path: Path, rng: Random, files: list[Path]) -> None:
    """Nothing is left in a file, or not much."""
    path.write_bytes(rng.choice((b"", b"\n", b"\0", b"\xef\xbb\xbf", b"[]", b"{}", b"null", b"\x1f\x8b")))


def file_gone(path: Path, rng: Random, files: list[Path]) -> None:
    """A file is away, or a folder has its name."""
    path.unlink()
    if rng.random() < 0.3:
        path.mkdir()


def file_packed(path: Path, rng: Random, files: list[Path]) -> None:
    """Packed under its own name, beside itself, or unpacked under the name of a packed one."""
    data = path.read_bytes()
    packed = gzip.compress(data, mtime=0)
    how = rng.randrange(4)
    if how == 0:
        path.write_bytes(packed)
    elif how == 1:
        path.with_name(f"{path.name}.gz").write_bytes(packed)
    elif how == 2:
        path.with_name(f"{path.name}.gz").write_bytes(data)
    else:
        path.unlink()
        path.with_name(f"{path.name}.gz").write_bytes(packed[: rng.randrange(len(packed) + 1)])


def file_encoded(path: Path, rng: Random, files: list[Path]) -> None:
    """Written in another encoding."""
    text = path.read_bytes().decode("utf-8", "replace")
    path.write_bytes(text.encode(rng.choice(("utf-16", "utf-16-le", "utf-32", "utf-8-sig", "latin-1")), "replace"))


def file_swapped(path: Path, rng: Random, files: list[Path]) -> None:
    """The content of another file of the dataset."""
    path.write_bytes(rng.choice(files).read_bytes())


def file_named(path: Path, rng: Random, files: list[Path]) -> None:
    """Under another name, or a copy of it there."""
    ending = path.suffix
    name = rng.choice(
        (path.name.upper(), f"{path.stem} {ending}", f"x{path.name}", f"{path.stem}\u200b{ending}", f".{path.name}")
    )
    if rng.random() < 0.5:
        shutil.copy(path, path.with_name(name))
    else:
        path.rename(path.with_name(name))


WHOLE_FILES = (file_emptied, file_gone, file_packed, file_encoded, file_swapped, file_named)


def pad(folder: Path, rng: Random, size: int) -> str:
    """Make the dataset larger than ``size``: by one record again and again, or by blanks."""
    files = [p for p in sorted(folder.rglob("*")) if p.suffix in RECORDS | CELLS and p.is_file() and not p.is_symlink()]
    if not files:
        return ""
    path = rng.choice(files)
    data = path.read_bytes()
    lines = data.splitlines(keepends=True)
    if len(lines) < 3 or not lines[-1].endswith(b"\n") or path.suffix == ".json":
        path.write_bytes(data + b" " * size + b"\n")
        return f"blanks at the end of {path.name}"
    line = rng.choice(lines[1:])
    path.write_bytes(data + line * (size // max(1, len(line)) + 1 if len(line) > 20 else 2000))
    return f"a line of {path.name} again and again"
