"""What is kept apart from a dataset that becomes an input of RAGChecker: answers, right answers, a run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ragdatakit.files.datasets import DataFile
from ragdatakit.files.paths.folders import is_regular
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.schemas.canonical import Run
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.errors import RagdataError

_IDS = ("query_id", "qid", "question_id", "id", "_id")
ANSWERS = ("response", "answer", "generated", "pred_answer", "prediction")
GOLD = ("gt_answer", "answer", "gold_answer", "reference", "references", "answers")


def texts_in(name: str, option: str, fields: tuple[str, ...]) -> dict[str, str]:
    """By the id of their question, the texts in a file of JSON objects: lines, a list, or one object of texts by id."""
    reader = RecordReader(Losses())
    found: dict[str, str] = {}
    for number, record in enumerate(reader.values(_file(name, option)), 1):
        if not isinstance(record, dict):
            raise RagdataError(f"--option {option}={name}: record {number} is not an object")
        key = next((record[n] for n in _IDS if isinstance(record.get(n), str | int)), None)
        value = next((record[n] for n in fields if record.get(n) is not None), None)
        if key is None and number == 1 and record and all(isinstance(v, str) for v in record.values()):
            found |= record
            continue
        if key is None or (text := _first(value)) is None:
            wanted = f"an id ({', '.join(_IDS)}) and one of {', '.join(fields)}"
            raise RagdataError(f"--option {option}={name}: record {number} lacks {wanted}")
        found.setdefault(str(key), text)
    return found


def _first(value: Any) -> str | None:
    """A text, or the first of several."""
    if isinstance(value, list):
        return next((item for item in value if isinstance(item, str)), None)
    return value if isinstance(value, str) else None


def run_in(name: str) -> Iterator[Run]:
    """The results in a TREC run: six cells a line."""
    places: dict[str, int] = {}
    for number, line in enumerate(RecordReader(Losses()).lines(_file(name, "run")), 1):
        cells = line.split()
        if not cells:
            continue
        try:
            question_id, _, target, _, score, stage = cells
            value = float(score)
        except ValueError:
            raise RagdataError(f"--option run={name}: line {number} is not a line of a TREC run") from None
        places[question_id] = places.get(question_id, 0) + 1
        yield Run(question_id, stage, places[question_id], target, None, value)


def _file(name: str, option: str) -> DataFile:
    path = Path(name)
    if not is_regular(path):
        raise RagdataError(f"--option {option}={name}: there is no such file")
    return DataFile(path, name, path.name, option)
