"""The keys of records, which findings and baselines name them by."""

from __future__ import annotations

from typing import Any

import pytest

from ragdatakit.files.containers.positions import Located
from ragdatakit.files.containers.record_forms import JSON
from ragdatakit.validators.identity import record_key

RAW = b'{"id": 1}'


def key(fields: tuple[str, ...], record: Any) -> str:
    return record_key(fields, Located(0, 1, 0, RAW), record, JSON, lambda found: {"@pair": found.get("id")})


@pytest.mark.parametrize(
    "value", [5, -(2**63), 2**64 - 1, 2**64, -(10**70), True, 1.5, "q1", "é", "x" * 190, "\ud800", [1]]
)
def test_a_key_of_one_field_is_written_as_each_of_several(value: Any) -> None:
    both = key(("id", "of"), {"id": value, "of": 0})

    assert key(("id",), {"id": value}) == both.removesuffix(", of=0")
    assert key(("@pair",), {"id": value}) == both.replace("id=", "pair=", 1).removesuffix(", of=0")


@pytest.mark.parametrize("value", [None, "", "x" * 198, "x" * 500, "é" * 500])
def test_what_is_no_short_key_is_a_digest(value: Any) -> None:
    found = key(("id",), {"id": value})

    assert "#" in found[-17:]
    assert found.startswith("#" if not value else "id=x" if value[0] == "x" else "id=é")
    assert len(found) <= 200
