"""Pickles read as data: every plain value of every protocol, and hostile ones within bounds, for each allow-list."""

from __future__ import annotations

import io
import pickle
import random
import struct
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from ragdatakit.files.containers import pickles
from ragdatakit.files.containers.pickle_opcodes import opened_pickle, read_pickle
from ragdatakit.files.containers.pickles import Allowed, PickledValues, PickleError
from ragdatakit.files.paths.boundary import ANYWHERE
from ragdatakit.files.raptor.pickled_names import ALLOWED as TREE
from tests.broad import chosen
from tests.raptor_trees import pickled, sample

STORE = Allowed(noun="store")
BOTH = pytest.mark.parametrize("allowed", [STORE, TREE], ids=["store", "tree"])


def read(data: bytes, allowed: Allowed = STORE) -> PickledValues:
    return read_pickle(io.BytesIO(data), allowed)


def python_value(values: PickledValues, value: int) -> Any:
    """The value that a pickle of plain values would be opened as."""
    kind = values.kind(value)
    if kind == pickles.DICT:
        return {python_value(values, k): python_value(values, v) for k, v in values.pairs(value)}
    if kind in (pickles.LIST, pickles.TUPLE):
        members: list[Any] = []
        for item in values.items(value):
            if values.kind(item) == pickles.RUN:
                members += values.numbers(values.of_items(pickles.LIST, [item])).tolist()
            else:
                members.append(python_value(values, item))
        return members if kind == pickles.LIST else tuple(members)
    return values.plain(value, values.data(value))


def some_value(dice: random.Random, depth: int = 0) -> Any:
    kind = dice.randrange(9 if depth < 4 else 6)
    if kind > 5:
        members = [some_value(dice, depth + 1) for _ in range(dice.randrange(6))]
        named = {dice.choice([str(n), n, n + 0.5]): member for n, member in enumerate(members)}
        return members if kind == 6 else tuple(members) if kind == 7 else named
    number = dice.randrange(-(2 ** dice.randrange(1, 200)), 2 ** dice.randrange(1, 200))
    text = "".join(dice.choice("aé漢\n\\ '😀") for _ in range(dice.randrange(300)))
    vector = [dice.random() for _ in range(dice.randrange(2100))]
    return (None, dice.random() < 0.5, number, dice.uniform(-9, 9), text, vector)[kind]


@pytest.mark.parametrize("protocol", range(6))
def test_plain_values_are_those_that_python_reads(protocol: int) -> None:
    dice = random.Random(protocol)
    for _ in range(60):
        value = some_value(dice)
        values = read(pickle.dumps(value, protocol))

        assert python_value(values, values.root) == value


@BOTH
def test_cut_anywhere_is_broken(allowed: Allowed) -> None:
    whole = pickled(sample()) if allowed is TREE else pickle.dumps({"a": [0.5, 1.5, [2]], "b": "text", "c": 2**70})
    old = pickled(sample(), 2) if allowed is TREE else pickle.dumps({"a": [1.5], "b": 2**70}, 0)
    for data in (whole, old):
        for cut in range(len(data)):
            with pytest.raises(PickleError) as found:
                read(data[:cut], allowed)
            assert found.value.fault in ("broken", "foreign")


@BOTH
@pytest.mark.parametrize(
    "data",
    [
        b"\x80\x04cos\nsystem\n.", b"\x80\x04\x8c\x02os\x8c\x06system\x93.", b"\x80\x04(ios\nsystem\n.",
        b"\x80\x04Pid\n.", b"\x80\x04NQ.", b"\x80\x04\x82\x01.", b"\x80\x05\x97.", b"\x80\x04(cos\nsystem\no.",
        b"\x80\x04N)R.", b"\x80\x04N)\x81.", b"\x80\x04]}b.", b"\x80\x04cbuiltins\nset\n)}\x92.",
        b"\x80\x04c" + b"x" * 5000, b"\x80\x04X\x88\x13\x00\x00" + b"x" * 5000 + b"\x8c\x01y\x93.",
    ],
)  # fmt: skip
def test_what_names_or_calls_is_code(data: bytes, allowed: Allowed) -> None:
    with pytest.raises(PickleError) as found:
        read(data, allowed)

    assert found.value.fault == "code"


@BOTH
@pytest.mark.parametrize("code", [b"X", b"\x8c", b"\x8d", b"B", b"C", b"\x8e", b"\x96", b"\x8a", b"\x8b", b"T"])
def test_lengths_that_lie_take_no_memory(code: bytes, allowed: Allowed) -> None:
    data = b"\x80\x04" + code + b"\xff\xff\xff\x7f" + b"\xff" * 4 + b"."
    tracemalloc.start()
    with pytest.raises(PickleError):
        read(data, allowed)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 1 << 20


@BOTH
def test_cycles_and_bombs_are_values_like_others(allowed: Allowed) -> None:
    cycle = read(b"\x80\x04]\x94h\x00a.", allowed)
    levels = b"".join(b"](" + b"h%c" % n * 200 + b"e\x94" for n in range(200))
    bomb = read(b"\x80\x04](]\x94" + levels + b"e.", allowed)

    assert cycle.items(cycle.root).tolist() == [cycle.root]
    assert cycle.measure(cycle.root) is None
    assert bomb.count(bomb.root) == 201
    assert bomb.entries < 60_000


@BOTH
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"](" + (b"G" + b"\x01" * 8) * 90_000 + b"0" * 89_000 + b"e.", id="floats taken one by one"),
        pytest.param(b"](" + b"K\x01" * 90_000 + b"e\x94" + b"]" + b"h\x00a" * 60_000 + b".", id="one list often"),
        pytest.param(b"]\x94]\x94" + b"h\x00h\x01ah\x010a0" * 60_000 + b"h\x00.", id="lists that grow by turns"),
        pytest.param(b"I" + b"1" * 100_000 + b"\n.", id="a number of many digits"),
        pytest.param(b"\x8b\x40\x42\x0f\x00" + b"\x01" * 1_000_000 + b".", id="a number of a million bytes"),
    ],
)
def test_work_grows_with_the_bytes(body: bytes, allowed: Allowed) -> None:
    begin = time.process_time()
    try:
        values = read(b"\x80\x04" + body, allowed)
        for item in values.items(values.root) if values.kind(values.root) == pickles.LIST else [values.root]:
            values.measure(item)
            values.plain(item)
    except PickleError as error:
        assert error.fault in ("limit", "broken")  # noqa: PT017 - both ends are right

    assert time.process_time() - begin < 3


@BOTH
def test_any_bytes_end_as_values_or_as_an_error(allowed: Allowed) -> None:
    dice = random.Random(11)
    codes = (
        b"(.012FGIJKLMNRVX]abcdeghijlopqrstu}\x80\x81\x85\x86\x87\x88\x89\x8a\x8b\x8c\x8d\x8e\x8f\x90\x93\x94\x95\x96"
    )
    for number in range(3000):
        body = bytes(dice.choice(codes) if dice.random() < 0.8 else dice.randrange(256) for _ in range(40))
        if not chosen(f"pickle {number}"):
            continue
        try:
            values = read(b"\x80\x04" + body, allowed)
        except PickleError:
            continue
        values.plain(values.root, values.data(values.root))


def test_a_file_that_changes_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "values.pkl"
    path.write_bytes(pickle.dumps([12345678901234567890123, 0.5, "text"], 0))

    with pytest.raises(PickleError, match="changed") as found, opened_pickle(path, ANYWHERE, STORE) as values:  # noqa: PT012
        path.write_bytes(b"x" * path.stat().st_size)
        list(map(values.plain, values.items(values.root)))

    assert found.value.fault == "broken"


def test_the_signs_of_numbers_are_looked_at() -> None:
    for numbers, finite, nonzero in (
        ([0.0, -0.0], True, False), ([0.0, 5e-324], True, True), ([1.0, float("inf")], False, True),
        ([float("nan"), 0.0], False, True), ([1.7e308, -1.7e308], True, True),
    ):  # fmt: skip
        body = b"".join(b"G" + struct.pack(">d", n) for n in numbers)
        values = read(b"\x80\x04](" + body + b"e.")

        assert values.measure(values.root) == (len(numbers), finite, nonzero)
