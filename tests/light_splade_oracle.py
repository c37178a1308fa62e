"""What light-splade's own loader says about a dataset: the oracle of the differential test.

`verdict` runs upstream's classes and says whether they raise; `silent_losses` compares what they hold afterwards with
the raw lines, and lists what was dropped or misread without a word. Nothing here knows ragdata.
"""

from __future__ import annotations

import functools
import gzip
import importlib
import importlib.util
import json
import math
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Literal
from unittest.mock import patch

import yaml  # noqa: F401  # upstream imports it; loaded here, it survives the restoring of sys.modules below

Variant = Literal["triplet", "distil"]
Kind = Literal["queries", "documents", "positives", "triplets", "scores"]

STEMS: dict[str, tuple[str, ...]] = {
    "queries": ("query_master",),
    "documents": ("doc_master",),
    "positives": ("positive_lists",),
    "triplets": ("triplets",),
    "scores": ("hard_negative_scores", "hard-negatives-cross-encoder-scores"),
}
ID_FIELDS: dict[str, tuple[str, ...]] = {
    "queries": ("qid",),
    "documents": ("doc_id",),
    "positives": ("qid",),
    "triplets": ("qid", "pos_doc_id", "neg_doc_id"),
    "scores": ("qid",),
}

# A validation query without a negative loads and cannot be drawn; nothing draws it in upstream's evaluation, so the
# specification calls it a warning (W11).
NO_NEGATIVE = "ValueError: Sample larger than population"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the loader did: ``error`` is ``Type: message`` where it raised.

    ``samples`` are those that could be drawn (tuples of texts, with scores in the distil variant), ``failures`` the
    errors of those that could not, as ``index: Type: message``.
    """

    kind: Literal["accepts", "raises"]
    error: str = ""
    samples: tuple[tuple[Any, ...], ...] = ()
    failures: tuple[str, ...] = ()


def installed() -> bool:
    """Whether upstream's package is there (its heavy dependencies are not needed)."""
    return importlib.util.find_spec("light_splade") is not None


def verdict(root: Path, variant: Variant, split: str) -> Verdict:
    """Load one split as upstream's trainer would, and draw every sample once."""
    try:
        dataset = _load(root, variant, split)
    except Exception as error:  # noqa: BLE001  # whatever it raises is upstream's answer
        return Verdict("raises", _worded(error))
    samples, failures = _drawn(dataset)
    return Verdict("accepts", "", tuple(samples), tuple(failures))


def silent_losses(root: Path, variant: Variant, split: str) -> list[str]:
    """What the loader dropped or misread of a split that it accepts (see `verdict`), and samples it cannot draw."""
    dataset = _load(root, variant, split)
    losses = [loss for kind, path in _paths(root, variant, split).items() for loss in _raw_losses(kind, path)]
    losses += _text_losses("queries", dataset.queries) + _text_losses("documents", dataset.docs)
    losses += _triplet_losses(dataset) if variant == "triplet" and split != "validation" else []
    losses += _score_losses(dataset) if variant == "distil" else []
    _, failures = _drawn(dataset)
    return losses + [f for f in failures if not (split == "validation" and NO_NEGATIVE in f)]


def _drawn(dataset: Any) -> tuple[list[tuple[Any, ...]], list[str]]:
    """Every sample, drawn once, and the errors of those that cannot be."""
    samples: list[tuple[Any, ...]] = []
    failures: list[str] = []
    for index in range(len(dataset)):
        try:
            samples.append(dataset[index])
        except Exception as error:  # noqa: BLE001  # a trainer would meet it in the middle of an epoch
            failures.append(f"{index}: {_worded(error)}")
    return samples, failures


def _worded(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


@functools.cache
def _upstream() -> tuple[Any, Any, Any]:
    """Upstream's two dataset classes and its function that lists files, imported without torch and transformers.

    The packages' ``__init__`` modules import both, the dataset modules need the name ``Dataset`` only. Everything
    put into ``sys.modules`` for that is taken out again, so that no other test meets a torch that is none.
    """
    spec = importlib.util.find_spec("light_splade")
    assert spec is not None and spec.submodule_search_locations, "light-splade is not installed"
    home = Path(next(iter(spec.submodule_search_locations)))
    stubs = {name: ModuleType(name) for name in ("torch", "torch.utils", "torch.utils.data", "tqdm")}
    stubs["torch.utils.data"].Dataset = type("Dataset", (), {})  # type: ignore[attr-defined]  # made here
    stubs["tqdm"].tqdm = iter  # type: ignore[attr-defined]  # the same lines, without a progress bar
    for name in ("", "data", "utils", "schemas"):
        package = ModuleType(f"light_splade.{name}".rstrip("."))
        package.__path__ = [str(home / name)]
        stubs[package.__name__] = package
    with patch.dict(sys.modules, stubs):
        loader = importlib.import_module("light_splade.data.ndjson_loader")
        triplet = importlib.import_module("light_splade.data.triplet_dataset")
        distil = importlib.import_module("light_splade.data.triplet_distil_dataset")
    return triplet.TripletDataset, distil.TripletDistilDataset, loader._get_file_list


def _load(root: Path, variant: Variant, split: str) -> Any:
    triplet, distil, _ = _upstream()
    paths = _paths(root, variant, split)
    masters = [paths["queries"], paths["documents"], paths["positives"]]
    if variant == "triplet":
        return triplet(*masters, paths.get("triplets"))
    state = random.getstate()  # the class seeds Python's generator for the whole process
    try:
        return distil(*masters, paths["scores"], is_validation_set=split == "validation")
    finally:
        random.setstate(state)


def _paths(root: Path, variant: Variant, split: str) -> dict[str, Path]:
    """The paths that a data config would name; ``split`` is empty where the files lie in ``root`` itself.

    No trainer reads the triplets of the validation split.
    """
    folder = root / split
    paths = {kind: _path(folder, STEMS[kind]) for kind in ("queries", "documents", "positives")}
    if variant == "distil":
        paths["scores"] = _path(root, STEMS["scores"])
    elif split != "validation":
        paths["triplets"] = _path(folder, STEMS["triplets"])
    return paths


def _path(folder: Path, stems: tuple[str, ...]) -> Path:
    """The file or folder of that name, whatever its ending: a config names what is there."""
    for stem in stems:
        for path in sorted(folder.glob(f"{stem}*")):
            if path.name == stem or path.name.startswith(f"{stem}."):
                return path
    return folder / f"{stems[0]}.ndjson"


class _Pairs(list[tuple[str, Any]]):
    """The members of a JSON object in file order, repeated keys and all."""


def _raw_rows(path: Path) -> Iterator[_Pairs]:
    for file in _upstream()[2](path):
        opener: Any = gzip.open if file.suffix == ".gz" else open
        with opener(file, "rt", encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line, object_pairs_hook=_Pairs)


def _raw_losses(kind: str, path: Path) -> list[str]:
    """What the raw lines of one path tell: files never read, keys and ids repeated, ids that are no integers."""
    losses = [f"{kind}: {name} is never read" for name in _unread(path)]
    seen: set[Any] = set()
    for number, pairs in enumerate(_raw_rows(path)):
        row = dict(pairs)
        place = f"{kind} record {number}"
        if _repeats(pairs):
            losses.append(f"{place}: a key repeated, the last wins")
        ids = [row[name] for name in ID_FIELDS[kind]]
        if kind == "positives":
            ids += row["positive_doc_ids"]
        losses += [f"{place}: id {i!r} is not an integer" for i in ids if type(i) is not int]
        if kind != "triplets" and row[ID_FIELDS[kind][0]] in seen:
            losses.append(f"{place}: id repeated, the last wins")
        if kind != "triplets":
            seen.add(row[ID_FIELDS[kind][0]])
        if kind == "scores" and len(_numbers(row)) < len(dict(row["scores"])):
            losses.append(f"{place}: score keys meet after int()")
    return losses


def _unread(path: Path) -> list[str]:
    if not path.is_dir():
        return []
    read = set(_upstream()[2](path))
    return sorted(p.relative_to(path).as_posix() for p in path.rglob("*") if p.is_file() and p not in read)


def _repeats(value: Any) -> bool:
    if isinstance(value, _Pairs):
        return len(dict(value)) < len(value) or any(_repeats(v) for _, v in value)
    return isinstance(value, list) and any(_repeats(v) for v in value)


def _numbers(row: dict[str, Any]) -> set[int]:
    return {int(key) for key in dict(row["scores"])}


def _text_losses(kind: str, master: Any) -> list[str]:
    """Texts that the tokenizer refuses in the middle of training."""
    return [f"{kind}: text of {key!r} cannot be encoded" for key, text in master.data.items() if not _encodable(text)]


def _encodable(text: Any) -> bool:
    try:
        return isinstance(text, str) and bool(text.encode() or True)
    except UnicodeEncodeError:
        return False


def _triplet_losses(dataset: Any) -> list[str]:
    """Samples that train on a wrong pair (what cannot be drawn is told by `verdict`)."""
    losses = [] if len(dataset) else ["triplets: the training set is empty"]
    positives = dataset.positive_list.positives
    for qid, positive, negative in dataset.triplets:
        known = positives.get(qid, ()) if type(qid) is int else ()
        if known and positive not in known:
            losses.append(f"triplets: {positive!r} is not a positive of {qid!r}")
        if negative in known or negative == positive:
            losses.append(f"triplets: negative {negative!r} is a positive of {qid!r}")
    return losses


def _score_losses(dataset: Any) -> list[str]:
    """Scores that may be drawn and make the collator or the loss fail, or the loss ``nan`` or ``inf``."""
    losses = []
    for qid, scores in dataset.similarities.pair_scores.items():
        drawn = {doc: score for doc, score in scores.items() if qid in dataset.queries and doc in dataset.docs}
        losses += [f"scores: {s!r} of ({qid!r}, {doc}) is not a number" for doc, s in drawn.items() if not _finite(s)]
    return losses


def _finite(score: Any) -> bool:
    try:
        return type(score) in (int, float) and math.isfinite(score)
    except OverflowError:
        return False


def records(root: Path, variant: Variant, split: str) -> dict[str, Any] | str:
    """All that the loader holds of one split, or the error that it raises."""
    try:
        dataset = _load(root, variant, split)
    except Exception as error:  # noqa: BLE001  # whatever it raises is upstream's answer
        return _worded(error)
    held = {
        "queries": dataset.queries.data,
        "documents": dataset.docs.data,
        "positives": dataset.positive_list.positives,
    }
    held |= {"order of queries": dataset.queries.id_list, "order of documents": dataset.docs.id_list}
    if variant == "distil":
        return held | {"scores": dataset.similarities.pair_scores}
    return held | {"triplets": dataset.triplets.triplets if dataset.triplets is not None else []}
