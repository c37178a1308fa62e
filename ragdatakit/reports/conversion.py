"""What a conversion did, for people and as JSON: the files, the losses, one summary at the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path

import orjson

from ragdatakit.reports.findings.json import dumps
from ragdatakit.reports.terminal import Painter, painter
from ragdatakit.schemas import get_format, rules_by_code
from ragdatakit.schemas.canonical import TABLES
from ragdatakit.schemas.conversions import LOSS_KINDS, Conversion, ConversionResult, ExtractionEstimate, Loss
from ragdatakit.schemas.texts import listed_records, size
from ragdatakit.visible_text import visible_text

_WORDS = {
    "dropped": "Dropped",
    "lost": "Lost",
    "coerced": "Written in another form",
    "renumbered": "Renamed ids",
    "derived": "Made, not given",
}
_MOST_FILES = 12
_EXAMPLES_WIDTH = 100


def conversion_lines(result: ConversionResult, colour: bool = False, quiet: bool = False) -> Iterator[str]:
    """The screen, line by line; refusals are reported by the reports on source and output that come with the result."""
    paint = painter(colour)
    if not quiet:
        for conversion in result.conversions:
            yield from _conversion(conversion, result, paint)
            yield ""
    yield from _summary(result, paint)


def _conversion(done: Conversion, result: ConversionResult, paint: Painter) -> Iterator[str]:
    yield paint("bold", f"{visible_text(done.source)}: {done.source_format} → {done.target_format}")
    counts = ", ".join(_counted(n, table.replace("_", " ")) for table, n in done.counts.items() if n)
    yield f"  read     {counts or 'nothing'}"
    verb = "wrote" if result.written else "would be"
    base = f"{result.target}/{done.folder}".rstrip("/")
    shown = done.files[:_MOST_FILES]
    width = max((len(f"{base}/{f.name}") for f in shown), default=0)
    for number, file in enumerate(shown):
        label = verb if number == 0 else ""
        records = f"{listed_records(file.records):>18}"
        yield f"  {label:8} {visible_text(f'{base}/{file.name}'):{width}}  {records}  {size(file.bytes):>9}"
    if len(done.files) > _MOST_FILES:
        rest = done.files[_MOST_FILES:]
        yield f"           … and {_counted(len(rest), 'more files')}, {size(sum(f.bytes for f in rest))}"
    for kind in LOSS_KINDS:
        losses = [loss for loss in done.losses if loss.kind == kind]
        if losses:
            yield f"  {paint(_colour(kind), _WORDS[kind])}"
            yield from _loss_lines(losses, paint)


_SINGULAR = {"communities": "community", "pair scores": "pair score", "summaries": "summary", "more files": "more file"}


def _counted(number: int, plural: str) -> str:
    """``1 record``, ``2 records``."""
    return f"{number:,} {plural if number != 1 else _SINGULAR.get(plural, plural.removesuffix('s'))}"


def _colour(kind: str) -> str:
    return {"dropped": "error", "lost": "warning", "coerced": "warning"}.get(kind, "info")


def _loss_lines(losses: Iterable[Loss], paint: Painter) -> Iterator[str]:
    for loss in sorted(losses, key=lambda loss: (loss.table, loss.column or "")):
        what = loss.table if loss.column is None else f"{loss.table}.{loss.column}"
        what = what if loss.table in TABLES else f"source: {what}"
        unit = "records" if loss.column is None and loss.kind == "dropped" else "values"
        counted = "" if loss.unread else f"{_counted(loss.count, 'files' if loss.is_of_files else unit)}: "
        yield f"    {what}  {counted}{visible_text(loss.reason)}"
        placed = zip_longest(loss.places, loss.examples, fillvalue="")
        if examples := _examples([f"{place} {example}".strip() for place, example in placed]):
            yield paint("dim", f"        for example {examples}")


def _examples(examples: list[str]) -> str:
    """As many examples as fit one line."""
    joined = ""
    for example in filter(None, map(visible_text, examples)):
        longer = f"{joined}; {example}" if joined else example
        if len(longer) > _EXAMPLES_WIDTH:
            return joined or f"{example[: _EXAMPLES_WIDTH - 1]}…"
        joined = longer
    return joined


def _is_within(target: str, source: str) -> bool:
    """Whether a target is in the folder of a source."""
    folder = Path(source)
    return folder.is_dir() and folder.resolve() in Path(target).resolve().parents


def _summary(result: ConversionResult, paint: Painter) -> Iterator[str]:
    files = [f for c in result.conversions for f in c.files]
    written = f"{_counted(len(files), 'files')}, {size(sum(f.bytes for f in files))}"
    if result.refused:
        yield paint("error", "Nothing was written: the source has errors.")
        yield f"Repair them{_by_fix(result)}, or leave the records out that have them: --keep-going"
        return
    if result.invalid is not None:
        yield paint("error", "Nothing was written: the output would not be valid.")
        if result.invalid.by_rule.get("RD111", 0) == result.invalid.counts["error"]:
            yield "A record of it would be too long to be checked with this much memory: raise --memory-limit"
        else:
            yield "This is a fault of ragdata: please report it, with the findings above"
        return
    if result.strict:
        yield paint("error", "Nothing was written: something would be lost, and --strict was given.")
        return
    if result.estimates:
        for estimate in result.estimates:
            yield from _estimate(estimate)
        return
    place = visible_text(result.target)
    if result.dry_run:
        yield f"Nothing was written (--dry-run). {place} would have {written}."
    else:
        state = "part of a dataset" if result.incomplete else "valid"
        warned = f"{state} with {_counted(result.warnings, 'warnings')}" if result.warnings else state
        yield f"Wrote {place}: {written}, {warned}, in {result.seconds:.1f} s."
        yield from (f"The framework's loader would stop: {reason}." for reason in result.incomplete)
        if result.warnings:
            yield f"`ragdata validate {place}` shows {'it' if result.warnings == 1 else 'them'}."
    for source in dict.fromkeys(done.source for done in result.conversions if _is_within(result.target, done.source)):
        words = f"{place} is in the folder of the source: {visible_text(source)} has two datasets then, name which"
        yield f"{paint('warning', words)}."
    if result.lossless:
        yield paint("good", "Nothing is lost.")
    elif result.sidecar:
        if any(c.sidecar for c in result.conversions):
            yield "What the target has no place for is kept in ragdata.sidecar/; converting back restores it."
        if any(x.kind == "dropped" and x.table not in TABLES for c in result.conversions for x in c.losses):
            yield "What was not read, of records or of files, is kept nowhere (--loss-report FILE lists it)."
    else:
        yield "Not everything fits; --sidecar keeps the rest next to the output, --loss-report FILE lists it."


def _by_fix(result: ConversionResult) -> str:
    """With which options ``validate`` repairs some of the errors of the source, where it does."""
    report = result.source_report
    if report is None:
        return ""
    formats = [get_format(name) for name in dict.fromkeys(dataset.format for dataset in report.datasets)]
    fixes = {fix for code, rule in rules_by_code(formats).items() if code in report.by_rule for fix in rule.fixes}
    options = "--fix" if "safe" in fixes else "--fix --unsafe-fixes" if "unsafe" in fixes else ""
    return f" (`ragdata validate {options}` repairs some)" if options else ""


def _estimate(estimate: ExtractionEstimate) -> Iterator[str]:
    yield f"Nothing was asked and nothing was written (--dry-run). {_model(estimate)}:"
    yield from _estimate_lines(estimate)


def asking_lines(estimate: ExtractionEstimate) -> list[str]:
    """What asking a model will take, for the beginning of a run."""
    return [f"Asking {_model(estimate)}:", *_estimate_lines(estimate)]


def _model(estimate: ExtractionEstimate) -> str:
    return f"{visible_text(estimate.model)} at {visible_text(estimate.server)}"


def _estimate_lines(estimate: ExtractionEstimate) -> Iterator[str]:
    asked = estimate.passages - estimate.cached
    if estimate.what == "clusters" and estimate.embedded:  # whose texts are known when there are vectors
        yield f"  about {_counted(estimate.passages, estimate.what)}, which the vectors will show"
        yield f"  about {_counted(asked, 'requests')} to send, without those that have a reply in the cache"
    else:
        yield f"  {_counted(estimate.passages, estimate.what)}, {estimate.cached:,} of them with a reply in the cache"
        yield f"  {_counted(asked, 'requests')} to send"
    if estimate.embedded:
        texts = _counted(estimate.embedded, "texts")
        yield f"  vectors of {texts} by {estimate.embedder}, as far as they are not in the cache"
    if estimate.further:
        yield f"  and later, depending on the replies: {estimate.further}"
    if not asked:
        return
    yield f"  about {estimate.prompt_tokens:,} tokens in prompts (words and signs; a model may count a third more)"
    as_long = ", taken to be as long as the texts" if estimate.what == "passages" else ""
    yield f"  about {estimate.completion_tokens:,} tokens in replies{as_long}"
    if estimate.what == "chunks":
        yield "  (each chunk is sent with its document; --extract document-tokens=N sends a part of it)"
    if estimate.cost is None:
        yield "  give --price-in and --price-out, for a million tokens each, to see the cost"
    else:
        yield f"  cost about {estimate.cost:,.2f}" if estimate.cost >= 1 else f"  cost about {estimate.cost:.4f}"


def conversion_json(result: ConversionResult) -> bytes:
    """The JSON document, version 1, with a line end."""
    return dumps(result.as_dict(), orjson.OPT_INDENT_2)


def loss_report(result: ConversionResult) -> bytes:
    """The losses of all conversions as JSON."""
    document = {
        "version": 1,
        "lossless": result.lossless,
        "conversions": [
            {
                "source": c.source,
                "from": c.source_format,
                "to": c.target_format,
                "losses": [x.as_dict() for x in c.losses],
            }
            for c in result.conversions
        ],
    }
    return dumps(document, orjson.OPT_INDENT_2)
