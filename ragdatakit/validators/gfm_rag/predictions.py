"""Files of predictions, as the retriever writes them next to a dataset: looked at lightly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ragdatakit.files.containers import strict_json
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.checks import FormatChecks, Needs

if TYPE_CHECKING:
    from ragdatakit.files.datasets import DataFile
    from ragdatakit.validators.checks import Placed
    from ragdatakit.validators.csv_parts import CsvTable


def prediction_problems(value: dict[str, Any]) -> Iterator[Problem]:
    """What the QA step cannot read in the predictions of one sample: the first such place."""
    if "predictions" not in value:
        return
    found = value["predictions"]
    if not isinstance(found, dict):
        yield Problem("malformed-predictions", "/predictions", found, {"found": kind_of(found)})
        return
    for key, ranked in found.items():
        pointer = f"/predictions/{strict_json.escape(key)}"
        if not isinstance(ranked, list):
            yield Problem("malformed-predictions", pointer, ranked, {"found": f"{kind_of(ranked)} under {key}"})
            return
        for i, pair in enumerate(ranked):
            if not (isinstance(pair, list) and pair and isinstance(pair[0], str | int)):
                facts = {"found": f"{kind_of(pair)} in the list of {key}"}
                yield Problem("malformed-predictions", f"{pointer}/{i}", pair, facts)
                return


def kind_of(value: Any) -> str:
    """What a JSON value is, in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, list):
        return "an empty list" if not value else "a list"
    names = {str: "text", int: "a number", float: "a number", dict: "an object"}
    return names.get(type(value), "something else")


class PredictionChecks(FormatChecks):
    """The predictions of one or more runs."""

    def needs(self, kind: str, split: str | None = None) -> Needs:
        """Only those in a list are opened."""
        return Needs(records=kind == "predictions", batches=False, in_ranges=kind == "predictions")

    def record(self, file: DataFile, value: Any) -> Iterable[Problem]:
        """The predictions of one sample."""
        return prediction_problems(value) if isinstance(value, dict) else ()

    def finish_file(self, file: DataFile, records: int, table: CsvTable | None = None) -> Iterator[Placed]:
        """Say what the file is: no dataset."""
        if file.kind == "predictions" and records:
            yield file, Problem("predictions-file")
