"""What `ragdatakit.diff`, `gate` and `evaluate` return."""

from __future__ import annotations

from dataclasses import fields
from typing import Self

from ragdatakit.api.results import Shown, ShownAsPage
from ragdatakit.schemas.diffs import DatasetDiff
from ragdatakit.schemas.evaluations import Evaluation
from ragdatakit.schemas.gates import GateResult


class DiffResult(ShownAsPage, DatasetDiff):
    """The result of `ragdatakit.diff`."""

    __slots__ = ()

    @classmethod
    def of(cls, diff: DatasetDiff) -> Self:
        """The same as a result."""
        return cls(**{field.name: getattr(diff, field.name) for field in fields(diff)})

    def _json(self) -> bytes:
        from ragdatakit.reports.diff.files import diff_json

        return diff_json(self)

    def _page(self) -> bytes:
        from ragdatakit.reports.html.diff import diff_html

        return diff_html(self)


class CheckedGate(ShownAsPage, GateResult):
    """The result of `ragdatakit.gate`."""

    __slots__ = ()

    def _json(self) -> bytes:
        from ragdatakit.reports.gates.output import gate_json

        return gate_json(self)

    def _page(self) -> bytes:
        from ragdatakit.reports.gates.output import gate_page

        return gate_page(self)


class EvaluationResult(Shown, Evaluation):
    """The result of `ragdatakit.evaluate`."""

    __slots__ = ()

    def _json(self) -> bytes:
        from ragdatakit.reports.evaluation_files import evaluation_json

        return evaluation_json(self)
