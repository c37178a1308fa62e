"""Types of numbers and names that have bounds, for the results that outputs print: their JSON Schemas say them.

msgspec's own marks are not used, so that a run of `validate` need not import it.
"""

from __future__ import annotations

from typing import Annotated

from ragdatakit.late_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bounds:
    """The least and the most of a number, the pattern of a text; named as msgspec names them."""

    ge: float | None = None
    le: float | None = None
    pattern: str | None = None


Place = Annotated[int, Bounds(ge=1)]
"""A number counted from 1: a line, a column, a rank."""
Signed = Annotated[int, Bounds()]
"""An integer that may be negative; all others of an output are 0 or more."""
Share = Annotated[float, Bounds(ge=0, le=1)]
"""A number from 0 to 1."""
RuleCode = Annotated[str, Bounds(pattern="^([A-Z]{2}[0-9]{3}|[A-Z]{3,12}[0-9]{1,6})$")]
RuleName = Annotated[str, Bounds(pattern="^[a-z0-9]+(-[a-z0-9]+)*$")]
Fingerprint = Annotated[str, Bounds(pattern="^([0-9a-f]{16})?$")]
"""What identifies a finding from one run to the next; empty where nobody made it."""
OWN_CODE = "^[A-Z]{3,12}[0-9]{1,6}$"
"""What the codes of own rules are like; two letters are ours."""
TABLE_NAME = "^(?:files[.])?[A-Za-z][A-Za-z0-9_-]*$"
"""A table of `ragdata query`."""
MODEL_NAME = "^[A-Za-z_][A-Za-z0-9_]*(?:[.][A-Za-z_][A-Za-z0-9_]*)*:[A-Za-z_][A-Za-z0-9_]*$"
"""A module and the model in it."""
