"""A process that reads described datasets as others do: ``python -W ignore -m tests.export_readers LIBRARY FOLDER …``.

The libraries warn, and leave files open, which is theirs. It prints for each folder what they found, as JSON.
"""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path
from typing import Any


def by_mlcroissant(folder: Path) -> Any:
    """Each set of records: how many there are, and the columns of the first."""
    import mlcroissant

    dataset = mlcroissant.Dataset(jsonld=folder / "croissant.json")
    found = {}
    for records in dataset.metadata.record_sets:
        read = list(dataset.records(records.uuid))
        found[records.uuid] = [len(read), sorted(read[0])]
    return found


def by_frictionless(folder: Path) -> Any:
    """What is wrong; what frictionless does not count, such as the bytes of a JSON document, it cannot compare."""
    import frictionless

    found = frictionless.validate(str(folder / "datapackage.json")).flatten(["name", "type", "message"])
    return [each for each in found if not str(each[2]).endswith('"None"')]


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    readers = {"mlcroissant": by_mlcroissant, "frictionless": by_frictionless}
    for name in sys.argv[2:]:
        sys.stdout.write(f"{json.dumps(readers[sys.argv[1]](Path(name)))}\n")
