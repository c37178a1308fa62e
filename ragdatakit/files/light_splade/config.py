"""light-splade's data config (Hydra YAML): which files it names, with interpolations resolved."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.paths.boundary import Boundary
from ragdatakit.files.paths.folders import is_regular
from ragdatakit.quick_values import NamedTuple
from ragdatakit.schemas.declarations import Format
from ragdatakit.schemas.errors import RagdataError, UnrecognisedError

_MASTERS = {"query_master": "queries", "doc_master": "documents", "positives": "positives"}
PATH_KEYS: dict[str, tuple[str, str | None]] = {
    **{f"{split}_{stem}": (kind, split) for split in ("train", "validation") for stem, kind in _MASTERS.items()},
    "train_triplets": ("triplets", "train"),
    "hard_negative_scores": ("scores", None),
}
REQUIRED_KEYS = (*(k for k in PATH_KEYS if k not in ("train_triplets", "hard_negative_scores")), "eval_loss_size")
_MAX_BYTES = 1 << 20
_DEEPEST = 100
"""How many lists and mappings in one line may hold each other: YAML takes seconds to give up on more of them."""
_INTERPOLATION = re.compile(r"\$\{([^${}]*)\}")
_MARKS = re.compile(r"(\0\d+\0)")


def read_config(path: Path, fmt: Format, boundary: Boundary) -> Dataset:
    """The dataset a data config describes.

    The files and folders that it names are read wherever they are, as the trainer does it; of a folder only what lies
    in it.

    ``options`` gets ``missing_keys``, ``missing_paths`` (key, value as it may be shown, reason), ``problems`` (key,
    text), the ``eval_loss_size`` and ``lines`` (of the keys).

    Raises `UnrecognisedError` if the file is no data config at all, `RagdataError` if it cannot be read.
    """
    dataset = Dataset(path.parent, str(path), fmt, "config")
    dataset.config = DataFile(path, str(path), path.name, "config")
    mapping = _load(path)
    if isinstance(mapping, dict) and isinstance(mapping.get("data"), dict):
        mapping = mapping["data"]
    if not isinstance(mapping, dict) or not any(k in mapping for k in PATH_KEYS):
        raise UnrecognisedError(
            f"{path}: not a light-splade data config (none of {', '.join(list(PATH_KEYS)[:3])} … in it)"
        )
    dataset.options["missing_keys"] = [k for k in REQUIRED_KEYS if k not in mapping]
    if not any(k in mapping for k in ("train_triplets", "hard_negative_scores")):
        dataset.options["missing_keys"].append("train_triplets")
    dataset.options["eval_loss_size"] = mapping.get("eval_loss_size")
    dataset.options["lines"] = _lines_of_keys(path)
    missing: list[tuple[str, str, str]] = []
    problems: list[tuple[str, str]] = []
    for key, (kind, split) in PATH_KEYS.items():
        if key not in mapping:
            continue
        try:
            named = interpolate(mapping[key], mapping)
        except ValueError as error:
            problems.append((key, f"cannot be used: {key}: {error}"))
            continue
        files, place, reason = _files(named.value, path, fmt.file(kind).suffixes)
        if reason:
            missing.append((key, named.shown, reason))
        if place is not None:
            boundary = boundary.with_root(place)
        dataset.files += [DataFile(f, str(f), f.name, kind, split) for f in files]
    dataset.options.update(missing_paths=missing, problems=problems)
    order = {f.kind: i for i, f in enumerate(fmt.files)}
    splits = ("train", "validation")
    dataset.files.sort(key=lambda f: (splits.index(f.split) if f.split else -1, order[f.kind]))
    dataset.confine(boundary)
    return dataset


def _lines_of_keys(path: Path) -> dict[str, int]:
    """The 1-based line on which each key is (the last, where one is written twice)."""
    text = path.read_text("utf-8", "replace")
    found = re.finditer(r"^[ \t]*([A-Za-z_]\w*)[ \t]*:", text, re.M)
    return {match.group(1): text.count("\n", 0, match.start(1)) + 1 for match in found}


def _load(path: Path) -> Any:
    import yaml

    if not is_regular(path):
        raise UnrecognisedError(f"{path}: not a regular file")
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            raise UnrecognisedError(f"{path}: larger than 1 MiB, not a data config")
        if _is_deep(data):
            raise UnrecognisedError(f"{path}: not YAML: nested too deeply")
        return yaml.safe_load(data)
    except OSError as error:
        raise RagdataError(f"{path}: {error.strerror}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = str(error).replace("\n", " ")[:200]
        raise UnrecognisedError(f"{path}: not YAML: {reason}") from error


def _is_deep(data: bytes) -> bool:
    depth = 0
    for bracket in re.findall(rb"[\[\]{}]", data):
        depth += 1 if bracket in b"[{" else -1
        if depth > _DEEPEST:
            return True
    return False


class Interpolated(NamedTuple):
    """A config value with its interpolations filled in, and the same as messages may show it.

    There, what comes from the environment is ``${oc.env:NAME}``: whoever wrote the config may have named a variable
    that holds a secret, and messages end up in logs.
    """

    value: str
    shown: str


def interpolate(named: Any, mapping: dict[str, Any]) -> Interpolated:
    """A config value with ``${.KEY}``, ``${KEY}``, ``${data.KEY}`` and ``${oc.env:NAME,default}`` filled in.

    Raises `ValueError` where that cannot be done; its words hold no value of the environment either.
    """
    text = named if isinstance(named, str) else ""
    if not text:
        raise ValueError(f"it is {type(named).__name__}, not a path")
    taken: dict[str, Interpolated] = {}  # from the environment, by the marks that stand for it in the text
    for _ in range(20):
        match = _INTERPOLATION.search(text)
        if match is None:
            return _unmarked(text, taken)
        text = text[: match.start()] + _lookup(match.group(1).strip(), mapping, taken) + text[match.end() :]
    raise ValueError("its interpolations go round in a circle")


def _lookup(text: str, mapping: dict[str, Any], taken: dict[str, Interpolated]) -> str:
    name = _unmarked(text, taken)
    if name.value.startswith("oc.env:"):
        variable, _, default = text.removeprefix("oc.env:").partition(",")
        value = os.environ.get(_unmarked(variable, taken).value.strip())
        if value is not None:
            mark = f"\0{len(taken)}\0"
            taken[mark] = Interpolated(value, f"${{{name.shown}}}")
            return mark
        if not default.strip():
            raise ValueError(f"the environment variable {_unmarked(variable, taken).shown.strip()} is not set")
        return default.strip()
    if name.value == "hydra:runtime.cwd":
        return str(Path.cwd())
    found = mapping.get(name.value.removeprefix("data.").lstrip("."))
    if not isinstance(found, str | int):
        raise ValueError(f"${{{name.shown}}} names no key of the config")
    return str(found)


def _unmarked(text: str, taken: dict[str, Interpolated]) -> Interpolated:
    """A text with what the marks in it stand for."""
    parts = [taken.get(part) or Interpolated(part, part) for part in _MARKS.split(text)]
    return Interpolated("".join(part.value for part in parts), "".join(part.shown for part in parts))


def _files(named: str, config: Path, suffixes: tuple[str, ...]) -> tuple[list[Path], Path | None, str]:
    """The files at a path of the config (a folder gives its shards), where that is, or why there are none."""
    path = _place(named, config)
    if path is None:
        return [], None, "which does not exist"
    if not path.is_dir():
        return [path], path, ""
    shards = sorted(p for p in path.iterdir() if p.name.endswith(suffixes) and not p.is_dir())
    return shards, path, "" if shards else "a folder without .ndjson or .ndjson.gz files"


def _place(named: str, config: Path) -> Path | None:
    """Trainers run in the project's root: the folder we are in, else the nearest one above the config that has it."""
    path = Path(named)
    try:
        if path.is_absolute():
            return path if path.exists() else None
        for base in (Path(), *config.parents):
            if (base / path).exists():
                return base / path
    except OSError:  # a name that is too long
        return None
    return None
