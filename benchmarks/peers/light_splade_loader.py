"""light-splade's own `TripletDataset`: reads everything into Python objects and runs its own checks.

Leaves out types, duplicate ids and keys, unknown queries and wrong positives or negatives of triplets; stops at the
first error, without its file or line. Its package imports torch and transformers, the dataset modules need only the
name ``torch.utils.data.Dataset``: empty modules stand in for them.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

from tables import time_and_print

os.environ["TQDM_DISABLE"] = "1"


def _stand_in() -> None:
    spec = importlib.util.find_spec("light_splade")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("light-splade is not installed")
    home = Path(spec.submodule_search_locations[0])
    for name in ("light_splade", "light_splade.data", "light_splade.utils", "light_splade.schemas"):
        package = ModuleType(name)
        package.__path__ = [str(home.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = package
    for name in ("torch", "torch.utils", "torch.utils.data"):
        sys.modules[name] = ModuleType(name)
    sys.modules["torch.utils.data"].Dataset = type("Dataset", (), {})  # type: ignore[attr-defined]  # the stand-in


_stand_in()
from light_splade.data.triplet_dataset import TripletDataset  # noqa: E402  # after the stand-ins


def load(root: Path, kind: str) -> int:
    """Load the training split as a trainer does; returns the number of records."""
    train = root / "train"
    names = ("query_master", "doc_master", "positive_lists", "triplets")
    dataset = TripletDataset(*(train / f"{name}.ndjson" for name in names))
    return 2 * len(dataset.qid_list) + len(dataset.docs.get_id_list()) + len(dataset)


if __name__ == "__main__":
    time_and_print(load)
