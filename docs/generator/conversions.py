"""Every pair of formats, converted there and back: what went in, what came out, what was lost on the way."""

from __future__ import annotations

import inspect
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import ragdatakit
from docs.generator.markdown import code, plain, table
from docs.generator.workspaces import ROOT
from ragdatakit.converters import CONVERTERS, get_converter
from ragdatakit.converters.column_maps import TARGETS, USUAL_NAMES
from ragdatakit.converters.format_pairs import pair_of, readable, writable
from ragdatakit.files.paths.own_files import RENAMED_IDS
from ragdatakit.schemas.canonical import TABLES
from ragdatakit.schemas.conversions import Conversion
from ragdatakit.schemas.errors import RagdataError

SAMPLES: dict[str, tuple[str, dict[str, str]]] = {
    "arag": ("arag/valid/published-manner", {}),
    "datamind": ("datamind/valid/repository", {}),
    "gfm-rag": ("gfm-rag/valid/both-loaders", {}),
    "light-splade": ("light-splade/valid/both", {}),
    "sage": ("sage/valid/documented", {}),
    "beir": ("beir/valid/splits", {}),
    "trec": ("trec/valid/collection", {}),
    "hipporag": ("hipporag/valid/musique", {}),
    "ragchecker": ("ragchecker/valid/outputs", {}),
    "raptor": ("raptor/valid/two-layers", {}),
    "lightrag": ("lightrag/valid/ingested", {}),
    "graphrag": ("graphrag/valid/parquet", {}),
    "text": ("plain/texts", {}),
    "table": ("plain/notes.csv", {"map": "text=body,id=note_id,title=headline"}),
    "contextual-retrieval": ("contextual-retrieval/valid/cookbook", {}),
}
"""Format to the fixture that is converted, and the options it needs."""
NEEDED = {"light-splade": {"random-negatives": "1"}}
"""Options without which a format cannot be written from all of the fixtures that have questions and judgements."""


@dataclass(frozen=True, slots=True)
class Passage:
    """One pair: rows in by table, files and records out, losses, and whether the way back gives the same rows."""

    source: str
    target: str
    rows: dict[str, int]
    records: int
    lost: tuple[str, ...]
    back: str
    note: str = ""


def rows_of(path: Path, source_format: str = "", options: dict[str, str] | None = None) -> dict[str, list[object]]:
    """All canonical rows of a dataset, by table; tables without rows are left out."""
    with ragdatakit.read(path, source_format=source_format, options=options) as dataset:
        found = {table: [_settled(row) for row in dataset.rows(table)] for table in dataset.tables}
    return {table: rows for table, rows in found.items() if rows}


@cache
def _rows_of_source(path: Path) -> dict[str, list[object]]:
    """Each source goes to every other format, and is read once."""
    return rows_of(path)


def _settled(row: object) -> object:
    """A row with the content of its file instead of the place where that stands."""
    content = getattr(row, "content", None)
    return row._replace(content=content.read_bytes()) if isinstance(content, Path) else row  # type: ignore[attr-defined]


def passage(source: str, target: str, path: Path, options: dict[str, str]) -> Passage | None:
    """Convert there and back; None where the pair has nothing in common with this dataset."""
    given = source if source in ("text", "table") else ""
    with tempfile.TemporaryDirectory(prefix="ragdata-docs-") as scratch:
        folder = Path(scratch)
        try:
            done = ragdatakit.convert(path, folder / "there", to=target, source_format=given, options=options)
        except RagdataError as error:
            return Passage(source, target, {}, 0, (), "", str(error)) if pair_of(source, target).mark else None
        if not done.written:
            findings = (done.invalid or done.source_report or ragdatakit.Report()).findings
            raise AssertionError(f"{source} → {target}: {[f.message for f in findings[:3]]}")
        (conversion,) = done.conversions
        back = ""
        if get_converter(source).write is not None:
            back = _back(target, source, path, folder)
    return Passage(
        source,
        target,
        {table: n for table, n in conversion.counts.items() if n},
        sum(f.records or 0 for f in conversion.files if f.name != RENAMED_IDS),
        _lost(conversion),
        back,
    )


def _lost(conversion: Conversion) -> tuple[str, ...]:
    words = {"dropped": "", "lost": "", "coerced": " (another form)"}
    return tuple(
        dict.fromkeys(
            f"`{loss.table if loss.column is None else f'{loss.table}.{loss.column}'}`{words[loss.kind]}"
            for loss in conversion.losses
            if loss.kind in words
        )
    )


def _back(target: str, source: str, path: Path, folder: Path) -> str:
    """Whether the way back gives the same rows: without a sidecar, with one, or which tables differ."""
    before = _rows_of_source(path)
    if not _differing(source, folder / "there", folder / "back", before, fields_in_order=False):
        return "same"
    ragdatakit.convert(path, folder / "kept", to=target, sidecar=True, options=NEEDED.get(target))
    differing = _differing(source, folder / "kept", folder / "kept-back", before, fields_in_order=True)
    return f"differs in {', '.join(map(code, differing))}" if differing else "same with `--sidecar`"


def _differing(
    source: str, there: Path, back: Path, before: dict[str, list[object]], *, fields_in_order: bool
) -> list[str]:
    """The tables that have other rows after the way back; the order of a record's fields may count or not."""
    try:
        done = ragdatakit.convert(there, back, to=source)
    except RagdataError:
        return list(before)
    if not done.written:
        raise AssertionError(f"{done.conversions[0].source_format} → {source}: not written")
    one, other = (
        {table: rows if fields_in_order else [*map(_without_field_order, rows)] for table, rows in found.items()}
        for found in (before, rows_of(back))
    )
    return [table for table in TABLES if one.get(table) != other.get(table)]


def _without_field_order(row: object) -> object:
    return row._replace(field_order=()) if hasattr(row, "field_order") else row  # type: ignore[attr-defined]


def passages() -> list[Passage]:
    """All pairs that have something in common, in the order of the list of converters."""
    made = (
        passage(source, target, ROOT / "fixtures" / SAMPLES[source][0], SAMPLES[source][1] | NEEDED.get(target, {}))
        for source in readable()
        for target in writable()
    )
    return [one for one in made if one is not None]


def proof_table() -> str:
    """The passages as a Markdown table."""
    rows = []
    for one in passages():
        counts = ", ".join(f"{n:,} {name}" for name, n in one.rows.items())
        if one.note:
            rows.append([one.source, one.target, "–", "–", plain(one.note), "–"])
            continue
        lost = ", ".join(one.lost) or "nothing"
        rows.append([one.source, one.target, counts, f"{one.records:,}", lost, one.back or "–"])
    return table(("from", "to", "rows read", "records written", "lost", "there and back"), rows)


def matrix_table() -> str:
    """Which format converts to which; behind it what there is to be said of the exact ones."""
    signs = {"exact": "**exact**", "lossy": "lossy", "": "–"}
    targets = writable()
    notes: list[str] = []
    rows = []
    for source in readable():
        row = [code(source)]
        for pair in (pair_of(source, target) for target in targets):
            cell = signs[pair.mark]
            if pair.condition:
                notes.append(f"{len(notes) + 1}. {pair.source} → {pair.target}: {pair.condition}.")
                cell += f" ({len(notes)})"
            row.append(cell)
        rows.append(row)
    return "\n".join((table(("from ↓ to →", *map(code, targets)), rows), "", *notes))


def canonical_table() -> str:
    """The canonical tables: columns (those that tell a row from the others in bold) and what a row is."""
    rows = []
    for name, declared in TABLES.items():
        columns = ", ".join(f"**{code(c)}**" if c in declared.key else code(c) for c in declared.columns)
        words = " ".join((inspect.getdoc(declared.row) or "").split()).replace("``", "`")
        rows.append([code(name), columns, plain(words)])
    return table(("table", "columns", "a row is"), rows)


def options_table() -> str:
    """The options of all converters."""
    rows = []
    for name in CONVERTERS:
        for option in get_converter(name).options:
            found = plain(option.help).rstrip(".")
            if found.partition(":")[0] not in option.choices:
                found = found[:1].upper() + found[1:]
            default = option.default
            shown = (
                "–" if default is None else code(str(default).lower() if isinstance(default, bool) else str(default))
            )
            values = ", ".join(map(code, option.choices)) or {
                bool: "`true`, `false`",
                int: "an integer",
                float: "a number",
            }.get(type(default), "text")
            rows.append(
                [code(name), {"read": "from", "write": "to"}[option.side], code(option.name), values, shown, found]
            )
    return table(("format", "when converting", "option", "values", "default", "meaning"), rows)


def columns_table() -> str:
    """What columns of a table may be, and the names by which they are known without a map."""
    rows = []
    for target, each in TARGETS.items():
        usual = ", ".join(map(code, USUAL_NAMES.get(target, ()))) or "–"
        rows.append([code(target), f"{each[:1].upper()}{plain(each)[1:]}.", usual])
    return table(("field", "the column holds", "known without a map as"), rows)
