"""Makes the benchmark sets: ``python benchmarks/generate.py splade --scale 1 --faults 100``.

A set is made once, in a folder named by what is in it, and used again; the same seed gives the same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from sets.arag import write_arag
from sets.beir import write_beir
from sets.changes import datamind_changes, splade_changes
from sets.contextual import write_contextual
from sets.datamind import write_datamind
from sets.datamind_faults import datamind_faults
from sets.faults import Fault, Planted, plant, write_list
from sets.gfm_rag import write_gfm_rag
from sets.gfm_rag_faults import gfm_rag_faults
from sets.graphrag import write_graphrag
from sets.hipporag import write_hipporag
from sets.lightrag import write_lightrag, write_lightrag_all_bad
from sets.names import Set, default_folder
from sets.ragchecker import write_ragchecker
from sets.raptor import write_raptor
from sets.sage import write_sage
from sets.sage_faults import sage_faults
from sets.splade import DOCUMENTS, SpladePlan, write_numbers, write_splade, write_tiny
from sets.splade_faults import splade_faults
from sets.trec import write_trec
from sets.zipf import write_zipf

SEED = 7
KINDS = (
    "splade", "splade-tiny", "splade-long-line", "splade-all-bad", "splade-all-good",
    "lightrag", "lightrag-all-bad", "ragchecker", "raptor", "contextual",
    "datamind", "arag-one-line", "arag-pretty", "gfm-rag", "sage", "graphrag", "beir", "zipf", "hipporag", "trec",
    "splade-tiny-many",
)  # fmt: skip
FAULTS: dict[str, Callable[[float, int], dict[str, list[Fault]]]] = {
    "splade": lambda scale, seed: splade_faults(SpladePlan(scale, seed)),
    "datamind": lambda scale, seed: datamind_faults(),
    "gfm-rag": lambda scale, seed: gfm_rag_faults(),
    "sage": lambda scale, seed: sage_faults(),
}
CHANGES: dict[str, Callable[[float, int], dict[str, list[Fault]]]] = {
    "splade": lambda scale, seed: splade_changes(SpladePlan(scale, seed)),
    "datamind": lambda scale, seed: datamind_changes(),
}
ARAG_MEGABYTES = 500
LONG_LINE_MEGABYTES = 200
MANY = 300


def make(folder: Path, wanted: Set, seed: int = SEED) -> Path:
    """The folder of this set; written unless it is there already."""
    name = wanted.name
    target = folder / name
    if target.exists():
        return target
    unfinished = folder / f"{name}.part"
    shutil.rmtree(unfinished, ignore_errors=True)
    if wanted.gz:
        _compress(make(folder, replace(wanted, gz=False), seed), unfinished)
    elif wanted.faults:
        source = make(folder, replace(wanted, faults=0), seed)
        kinds = FAULTS[wanted.kind](wanted.scale, seed)
        write_list(plant(source, unfinished, kinds, wanted.faults, seed), folder / f"{name}.faults.json")
    elif wanted.changes:
        kinds = CHANGES[wanted.kind](wanted.scale, seed)
        plant(make(folder, replace(wanted, changes=0), seed), unfinished, kinds, wanted.changes, seed)
    else:
        _write(folder, unfinished, wanted.kind, wanted.scale, seed)
    unfinished.rename(target)
    return target


def _write(folder: Path, target: Path, kind: str, scale: float, seed: int) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    writers: dict[str, Callable[[], None]] = {
        "splade": lambda: write_splade(target, scale, seed),
        "datamind": lambda: write_datamind(target, scale, seed),
        "gfm-rag": lambda: write_gfm_rag(target, scale, seed),
        "sage": lambda: write_sage(target, scale, seed),
        "graphrag": lambda: write_graphrag(target, scale, seed),
        "beir": lambda: write_beir(target, scale, seed),
        "zipf": lambda: write_zipf(target, scale, seed),
        "lightrag": lambda: write_lightrag(target, scale, seed),
        "lightrag-all-bad": lambda: write_lightrag_all_bad(make(folder, Set("lightrag", scale), seed), target),
        "ragchecker": lambda: write_ragchecker(target, scale, seed),
        "raptor": lambda: write_raptor(target, scale, seed),
        "contextual": lambda: write_contextual(target, scale, seed),
        "arag-one-line": lambda: write_arag(target, ARAG_MEGABYTES * scale, seed, one_line=True),
        "arag-pretty": lambda: write_arag(target, ARAG_MEGABYTES * scale, seed, one_line=False),
        "splade-tiny": lambda: write_tiny(target),
        "splade-tiny-many": lambda: _write_many(target),
        "hipporag": lambda: write_hipporag(target, scale, seed),
        "trec": lambda: write_trec(target, scale, seed),
        "splade-long-line": lambda: _write_long_line(make(folder, Set("splade", 0.01), seed), target, scale, folder),
        "splade-all-bad": lambda: _write_numbers(target, scale, '{"doc_id": %d, "text": %d}\n'),
        "splade-all-good": lambda: _write_numbers(target, scale, '{"doc_id": %d, "text": "n%d"}\n'),
    }
    writers[kind]()


def _write_many(target: Path) -> None:
    for number in range(MANY):
        write_tiny(target / f"set-{number:03}")


def _write_long_line(source: Path, target: Path, scale: float, folder: Path) -> None:
    """A small set with one huge document in the middle, and a fault behind it that must still be found."""
    shutil.copytree(source, target)
    name = "train/doc_master.ndjson"
    master = target / name
    lines = master.read_text(encoding="utf-8").splitlines(keepends=True)
    middle = len(lines) // 2
    words = "one very long document " * round(LONG_LINE_MEGABYTES * scale * 1_000_000 / 23)
    lines[middle] = lines[middle].replace('"text": "', f'"text": "{words}', 1)
    lines[-10] = lines[-10].replace('"text": ', '"lang": "en", "text": ', 1)
    master.write_text("".join(lines), encoding="utf-8", newline="\n")
    write_list([Planted(name, len(lines) - 9, "extra-key")], folder / f"{target.stem}.faults.json")


def _write_numbers(target: Path, scale: float, template: str) -> None:
    """A lone document master in which every record fails, or its twin in which none does."""
    target.mkdir(parents=True)
    write_numbers(target / "doc_master.ndjson", round(DOCUMENTS * scale), template)


def _compress(source: Path, target: Path) -> None:
    for path in source.rglob("*"):
        if path.is_file():
            copy = target / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            with path.open("rb") as reading, gzip.open(f"{copy}.gz", "wb", compresslevel=6) as writing:
                shutil.copyfileobj(reading, writing, 1 << 20)


def main() -> None:
    """Make one set and print its folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument(
        "--faults", type=int, default=0, metavar="N", help="plant N faults; their list stands beside the set"
    )
    parser.add_argument("--changes", type=int, default=0, metavar="N", help="make N sound changes")
    parser.add_argument("--gz", action="store_true", help="compress every file")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--folder", type=Path, default=default_folder())
    words = parser.parse_args()
    if words.faults and words.kind not in FAULTS:
        parser.error(f"--faults is for {', '.join(FAULTS)}")
    if words.changes and (words.kind not in CHANGES or words.faults):
        parser.error(f"--changes is for {', '.join(CHANGES)}, without faults")
    if words.gz and words.kind != "splade":
        parser.error("--gz is for splade: no other format here is read compressed")
    print(make(words.folder, Set(words.kind, words.scale, words.faults, words.gz, words.changes), words.seed))


if __name__ == "__main__":
    main()
