"""The fast check of a record and `jsonschema` with the exported schema give the same verdict.

What only the text of a record shows (a key twice, NaN) is out of a schema's reach and left out. To JSON Schema 12.0 is
an integer, to the loaders it is none: here it is none, nor is true.
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from jsonschema.validators import extend

from ragdatakit.files.containers.record_forms import REFUSED, form_of
from ragdatakit.files.containers.tagged_text import ElementFinder
from ragdatakit.schemas import all_formats
from ragdatakit.schemas.declarations import Field, File, Format, Record
from ragdatakit.schemas.json_schema import file_schema, record_schema
from ragdatakit.validators.records import RecordChecker
from tests.block_mutations import record_value
from tests.broad import examples
from tests.faults.values import field_variants

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

FIXTURES = Path(__file__).parents[1] / "fixtures"
_CHECKER = Draft202012Validator.TYPE_CHECKER.redefine_many(
    {"integer": lambda checker, value: type(value) is int, "number": lambda checker, value: type(value) in (int, float)}
)
Strict = extend(Draft202012Validator, type_checker=_CHECKER)  # type: ignore[no-untyped-call]

# The columns of a table are its header's affair, its cells are text: see the test at the end.
FILES = [
    pytest.param(fmt, file, id=f"{fmt.name} {file.kind}")
    for fmt in all_formats()
    for file in fmt.files
    if file.records and file.container not in ("csv", "table")
]
RECORDS = [
    pytest.param(record, id=f"{fmt.name} {record.name}")
    for fmt in all_formats()
    for file in fmt.files
    if file.container not in ("csv", "table")
    for record in file.records
]


def disagreement(checker: RecordChecker, validator: Validator, value: Any) -> str:
    """What the two say, where one finds fault and the other none."""
    problems = checker.declared_problems(value)
    errors = [e.message[:200] for e in validator.iter_errors(value)]
    if bool(problems) == bool(errors):
        return ""
    return f"{[(p.rule, p.pointer) for p in problems]} and {errors} for {value!r}"


def of_record(record: Record) -> tuple[RecordChecker, Validator]:
    return RecordChecker((record,)), Strict(record_schema(record))


def is_json(value: Any) -> bool:
    """Whether a value can stand in a JSON text (infinite numbers cannot)."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, list | dict):
        return all(map(is_json, value.values() if isinstance(value, dict) else value))
    return True


@pytest.mark.parametrize(("fmt", "file"), FILES)
def test_schemas_are_schemas(fmt: Format, file: File) -> None:
    Draft202012Validator.check_schema(file_schema(fmt, file))


@pytest.mark.parametrize("record", RECORDS)
def test_the_examples_of_a_record_pass_both(record: Record) -> None:
    checker, validator = of_record(record)

    assert record.examples
    for example in record.examples:
        assert not checker.declared_problems(example)
        assert validator.is_valid(example)


def fixture_values(fmt: Format, file: File) -> Iterator[Any]:
    """Every value of every fixture of the format that a reader of such a file would see, sound or not."""
    endings = (".ndjson", ".jsonl", ".ndjson.gz") if file.container in ("ndjson", "json") else ()
    endings += (".json",) if file.container != "ndjson" else ()
    endings = (".tsv", ".txt", ".trec", ".xml", ".sgml", ".gz") if file.container in ("columns", "tagged") else endings
    for path in sorted((FIXTURES / fmt.name).rglob("*")):
        if not path.name.endswith(endings) or path.name == "expected.json" or not path.is_file():
            continue
        try:
            data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            text = data.decode("utf-8-sig")
        except (OSError, EOFError, UnicodeDecodeError):
            continue
        yield from _values_of(text, file)


def _values_of(text: str, file: File) -> Iterator[Any]:
    if file.container in ("columns", "tagged"):
        raws = text.encode().split(b"\n")
        if file.container == "tagged":
            raws = [e.raw for e in ElementFinder(file.tags).elements([text.encode()])]
        yield from (v for v in map(form_of(file).plain, raws) if v is not REFUSED)
        return
    lines = file.container == "ndjson" or (file.container == "json" and not text.lstrip().startswith("["))
    for part in text.splitlines() if lines else [text]:
        try:
            value = json.loads(part)
        except ValueError:
            continue
        if file.container == "json-wrapped":
            found = value.get(file.wrapper[0]) if isinstance(value, dict) else None
            yield from found if isinstance(found, list) else []
        elif file.container == "json-object":
            names = [f.name for f in file.record.fields[:2]]
            yield from (dict(zip(names, member, strict=True)) for member in getattr(value, "items", dict)())
        else:
            yield from value if not lines and isinstance(value, list) else [value]


@pytest.mark.parametrize(("fmt", "file"), FILES)
def test_they_agree_on_all_fixtures(fmt: Format, file: File) -> None:
    checker, validator = RecordChecker(file.records), Strict(file_schema(fmt, file))

    said = [disagreement(checker, validator, v) for v in fixture_values(fmt, file) if is_json(v)]

    assert not [s for s in said if s]
    assert said or not (FIXTURES / fmt.name).exists()


@pytest.mark.parametrize("record", RECORDS)
def test_they_agree_on_every_damage_of_every_field(record: Record) -> None:
    checker, validator = of_record(record)
    rng = Random(record.name)
    said = []
    for _ in range(10):
        sound = _sound(record, rng.randrange(1000))
        said.append(disagreement(checker, validator, sound))
        for field in record.fields:
            without = {k: v for k, v in sound.items() if k != field.name}
            said.append(disagreement(checker, validator, without))
            for variant in field_variants(field, sound.get(field.name)):
                value = json.loads(variant.text)
                if is_json(value):
                    said.append(disagreement(checker, validator, {**sound, field.name: value}))

    assert not [s for s in said if s]


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0, 1, 0.0, 1.0, 12.0, -0.0, 1e308, 2**63, 2**63 - 1, -(2**63), 10**400, -(10**400), 1.0000001]),
    st.text(max_size=4),
    st.sampled_from(["", " ", "12", "12\n", "1_0", "1e5", "nan", "-inf", "0x1", "١٢", "text", "image", "text_image"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda below: st.one_of(st.lists(below, max_size=3), st.dictionaries(st.text(max_size=3), below, max_size=3)),
    max_leaves=6,
)


def values_for(field: Field) -> Any:
    """Anything at all, and often what the field is meant to hold."""
    meant: dict[str, Any] = {
        "array": st.lists(SCALARS, max_size=3),
        "object": st.dictionaries(st.text(max_size=3), SCALARS, max_size=3),
        "integer": st.integers(),
        "string": st.text(max_size=4),
    }
    return st.one_of(meant.get(field.type, SCALARS), VALUES)


@pytest.mark.parametrize("record", RECORDS)
@given(data=st.data())
@settings(max_examples=examples(50), deadline=None)
def test_they_agree_on_generated_records(record: Record, data: st.DataObject) -> None:
    checker, validator = of_record(record)
    objects = st.fixed_dictionaries({}, optional={f.name: values_for(f) for f in record.fields})
    sound = st.integers(0, 10**6).map(lambda seed: _sound(record, seed))

    value: Any
    one_field: bool = data.draw(st.booleans())
    if record.fields and one_field:
        field = data.draw(st.sampled_from(record.fields))
        value = {**data.draw(sound), field.name: data.draw(values_for(field))}
    else:
        value = data.draw(st.one_of(sound, objects, VALUES))
        if isinstance(value, dict):
            value = {**value, **data.draw(st.dictionaries(st.text(max_size=3), SCALARS, max_size=1))}

    assert not disagreement(checker, validator, value)


def _sound(record: Record, seed: int) -> Any:
    return record_value(record, Random(seed), plain=seed % 2 == 0) if record.shape == "object" else f"{seed}:A text."


TABLES = [
    pytest.param(fmt, file, id=f"{fmt.name} {file.kind}")
    for fmt in all_formats()
    for file in fmt.files
    if file.container == "csv"
]


@pytest.mark.parametrize(("fmt", "file"), TABLES)
def test_a_row_has_the_columns_that_the_header_needs(fmt: Format, file: File) -> None:
    validator = Strict(file_schema(fmt, file))
    row = dict(file.record.examples[0])
    stand_ins = {f.replaces: f.name for f in file.record.fields if f.replaces}

    assert validator.is_valid(row)
    for field in file.record.fields:
        without = {name: cell for name, cell in row.items() if name != field.name}
        assert validator.is_valid(without) != field.required
        assert not validator.is_valid({**row, field.name: 7})
        if field.name in stand_ins:
            assert validator.is_valid({**without, stand_ins[field.name]: "7"})
