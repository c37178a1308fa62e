"""`ragdata convert`: words into options, the conversion, what it did and lost, the exit code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragdatakit.cli import wants_colour
from ragdatakit.cli.dataset_options import dataset_name_option, follow_links_option
from ragdatakit.cli.output_format import chosen_form, output_options
from ragdatakit.cli.output_place import check_place
from ragdatakit.cli.standard_output import write_output
from ragdatakit.cli.validate import DataPath, MemorySize

if TYPE_CHECKING:
    from ragdatakit.schemas.conversions import ConversionResult

_FORMS = ("text", "json")


@click.command("convert", short_help="Write a dataset in another format.")
@click.argument("source", default=".", type=DataPath(readable=False, path_type=Path), metavar="[SRC]")
@click.argument("target", required=False, type=DataPath(path_type=Path), metavar="[DST]")
@click.option(
    "--from",
    "source_format",
    metavar="FORMAT",
    default="",
    help="The source's format (default: auto-detected). gfm-rag-raw: raw/ only; a graph is made for what has one.",
)
@click.option("--to", "to", metavar="FORMAT", default="", help="The format to write.")
@click.option(
    "--list", "show_list", is_flag=True, help="What converts to what; with --from and --to: one pair, its options."
)
@click.option("--profile", default="", metavar="NAME", help="A variant of the target format, such as distil.")
@click.option("--name", default="", metavar="NAME", help="What to call the dataset (default: its folder's name).")
@click.option(
    "--map",
    "maps",
    multiple=True,
    metavar="FIELD=COLUMN,…",
    help="Tables: which column is what, as text=body,id=doc_id.",
)
@click.option(
    "-o", "--option", "options", multiple=True, metavar="NAME=VALUE", help="An option of the formats; see --list."
)
@click.option(
    "--chunk-size",
    type=click.IntRange(0),
    metavar="N",
    help="Cut documents into chunks of at most so many units (0: do not).",
)
@click.option(
    "--chunk-overlap", type=click.IntRange(0), metavar="N", help="Units that a chunk repeats of the one before."
)
@click.option(
    "--chunk-by", type=click.Choice(["tokens", "sentences", "characters"]), help="The unit (default: tokens)."
)
@click.option(
    "--tokenizer", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="A tokenizer.json to count by."
)
@click.option(
    "--chunk-language", metavar="CODE", help="For sentences: whose abbreviations do not end one (default: en)."
)
@click.option(
    "--extractor",
    type=click.Choice(["names", "openai"]),
    help="Make a graph of the texts: of the names in them, or by a language model (an OpenAI-compatible server).",
)
@click.option("--model", metavar="NAME", help="Extractor openai: the model to ask.")
@click.option("--base-url", metavar="URL", help="The server of models (default: OpenAI's).")
@click.option("--api-key-env", metavar="NAME", help="The environment variable that has its key [OPENAI_API_KEY].")
@click.option("--linker", type=click.Choice(["bm25", "embeddings"]), help="How questions are linked that name no node.")
@click.option("--embedder", metavar="KIND:MODEL", help="Linker embeddings: openai:MODEL, sentence-transformers:MODEL.")
@click.option("--price-in", type=click.FloatRange(0), metavar="N", help="--dry-run: price of a million prompt tokens.")
@click.option("--price-out", type=click.FloatRange(0), metavar="N", help="--dry-run: the same of reply tokens.")
@click.option(
    "--extract",
    "extract",
    multiple=True,
    metavar="NAME=VALUE",
    help="Another option of the extractor: least, start-nodes, concurrency, timeout, retries, max-tokens, "
    "most-failures, cache, analyzer, stemmer.",
)
@click.option(
    "--negatives",
    metavar="METHOD:…",
    help="light-splade: mine hard negatives, as bm25:depth=100,per_query=4,seed=13.",
)
@click.option(
    "--seed",
    type=click.IntRange(-(2**63) + 1, 2**63 - 1),
    metavar="N",
    default=13,
    show_default=True,
    help="For what is drawn at random (splits).",
)
@follow_links_option
@click.option("--dry-run", is_flag=True, help="Write nothing; show the files, the counts and the losses.")
@click.option("--overwrite", is_flag=True, help="Replace what is in DST, once the new content is whole.")
@click.option("--strict", is_flag=True, help="Write nothing if anything would be lost (exit code 1).")
@click.option(
    "--sidecar", is_flag=True, help="Keep what the target cannot hold beside it; converting back restores it."
)
@click.option("--keep-going", is_flag=True, help="Leave out records with errors instead of stopping.")
@click.option(
    "--loss-report",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write all losses there, as JSON.",
)
@output_options(_FORMS)
@dataset_name_option
@click.option(
    "--memory-limit", type=MemorySize(), default="1GiB", show_default=True, help="About how much memory to use."
)
@click.option("-q", "--quiet", is_flag=True, help="Only the summary.")
def command(**words: Any) -> int:
    """Write the datasets at SRC (default: here) in another format, to the folder DST (default: ./FORMAT).

    The source is validated first and the output afterwards. DST appears when it is whole, and says in ragdata.json how
    it was made (see `ragdata verify`). What the target cannot hold is counted and shown, never dropped silently.
    Exit code: 0 done, 1 stopped by errors in the data (or losses, with --strict), 2 failed.

    \b
    ragdata convert --from arag --to datamind
    ragdata convert --to light-splade scifact/ scifact-splade/
    ragdata convert --from table --map text=body,id=doc_id --to beir notes.csv notes-beir/
    """
    if words["show_list"]:
        if words["source"] != Path() or words["target"] is not None:
            raise click.UsageError("--list takes no paths; one pair: --list --from FORMAT --to FORMAT")
        return _print_list(words["source_format"], words["to"])
    if not words["to"]:
        raise click.UsageError("give the format to write: --to FORMAT (ragdata convert --list shows them)")
    if words["negatives"] is not None and not words["negatives"].strip():
        raise click.UsageError("--negatives is empty: expected METHOD:…, as bm25:depth=100,per_query=4,seed=13")
    words["output_format"] = chosen_form(words, _FORMS)
    check_place(words["output_file"], (words["source"],))
    report = words["loss_report"]
    if report is not None and not report.absolute().parent.is_dir():
        raise click.UsageError(f"--loss-report: there is no folder {report.absolute().parent}")
    result = _run(words)
    if report is not None:
        from ragdatakit.reports.conversion import loss_report

        write_output([loss_report(result)], report, "json")
    _print(result, words)
    return 0 if result.ok else 1


def _run(words: dict[str, Any]) -> ConversionResult:
    from ragdatakit.api.convert import convert
    from ragdatakit.cli.progress import terminal_progress

    with terminal_progress() as progress:
        return convert(
            words["source"],
            words["target"],
            to=words["to"],
            source_format=words["source_format"],
            profile=words["profile"],
            name=words["name"],
            dataset=words["dataset"],
            seed=words["seed"],
            options=_options(words),
            chunking=_chunking(words),
            extractor=words["extractor"] or "",
            extraction=_extraction(words),
            negatives=words["negatives"] or "",
            sidecar=words["sidecar"],
            overwrite=words["overwrite"],
            strict=words["strict"],
            keep_going=words["keep_going"],
            dry_run=words["dry_run"],
            follow_links=words["follow_links"],
            memory_limit=words["memory_limit"],
            progress=progress,
        )


def _options(words: dict[str, Any]) -> dict[str, object]:
    found: dict[str, object] = {}
    for text in words["options"]:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise click.UsageError(f"--option {text}: expected NAME=VALUE")
        found[name.strip()] = value
    if words["maps"]:
        found["map"] = ",".join(words["maps"])
    return found


def _extraction(words: dict[str, Any]) -> dict[str, object]:
    names = ("model", "base_url", "api_key_env", "linker", "embedder", "price_in", "price_out")
    found: dict[str, object] = {name: words[name] for name in names if words[name] is not None}
    for text in words["extract"]:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise click.UsageError(f"--extract {text}: expected NAME=VALUE")
        found[name.strip().replace("-", "_")] = value
    return found


def _chunking(words: dict[str, Any]) -> dict[str, object]:
    names = {"by": "chunk_by", "size": "chunk_size", "overlap": "chunk_overlap", "language": "chunk_language"}
    given = {option: words[name] for option, name in names.items()}
    found: dict[str, object] = {name: value for name, value in given.items() if value is not None}
    if words["tokenizer"] is not None:
        found["tokenizer"] = words["tokenizer"]
    return found


def _print(result: ConversionResult, words: dict[str, Any]) -> None:
    from ragdatakit.reports.conversion import conversion_json, conversion_lines

    if words["output_format"] == "json":
        write_output([conversion_json(result)], words["output_file"], "json")
        return
    colour = words["output_file"] is None and wants_colour()
    lines: list[str] = []
    report = result.source_report if result.refused else result.invalid
    if report is not None:
        from ragdatakit.reports.text import TextOptions, text_lines

        lines += [
            *text_lines(report, TextOptions(colour=colour, rest=f"`ragdata validate {words['source']}` shows more")),
            "",
        ]
    lines += conversion_lines(result, colour, words["quiet"])
    write_output([f"{line}\n".encode("utf-8", "backslashreplace") for line in lines], words["output_file"])


def _print_list(source: str, target: str) -> int:
    from ragdatakit.converters.pairs import graph_targets, pair_of, sources, writable
    from ragdatakit.reports.pairs import matrix_lines, pair_lines

    if source and target:
        click.echo("\n".join(pair_lines(pair_of(source, target))))
        return 0
    listed = [source] if source else sources()
    targets = [target] if target else writable()
    click.echo("\n".join(matrix_lines([pair_of(a, b) for a in listed for b in targets])))
    if made := [name for name in targets if name in graph_targets()]:
        click.echo(f"--extractor makes a graph of the texts of any source with documents: {', '.join(made)}.")
    return 0
