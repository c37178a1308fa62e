"""`ragdata convert`: words into options, the conversion, what it did and lost, the exit code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragdatakit.cli import wants_colour
from ragdatakit.cli.dataset_options import (
    cache_dir_option,
    chosen_engine,
    config_options,
    dataset_name_option,
    engine_options,
    follow_links_option,
    named_value,
    read_words,
)
from ragdatakit.cli.declared_options import DataPath, Known, Names, Number, Whole, given, options_of
from ragdatakit.cli.output_format import check_place, chosen_form, output_options
from ragdatakit.cli.standard_output import write_output
from ragdatakit.schemas.options import ConvertOptions

if TYPE_CHECKING:
    from ragdatakit.schemas.conversions import ConversionResult

_FORMS = ("text", "json")

_option = options_of(ConvertOptions)


@click.command("convert", short_help="Write a dataset in another format.")
@click.argument("source", default=".", type=DataPath(readable=False, path_type=Path), metavar="[SRC]")
@click.argument("target", required=False, type=DataPath(path_type=Path), metavar="[DST]")
@_option(
    "--from",
    "source_format",
    type=Known("format"),
    metavar="FORMAT",
    help="The source's format (default: auto-detected). gfm-rag-raw: raw/ only; a graph is made for what has one.",
)
@_option("--to", type=Known("format"), metavar="FORMAT", default="", help="The format to write.")
@click.option(
    "--list", "show_list", is_flag=True, help="What converts to what; with --from and --to: one pair, its options."
)
@_option(
    "--container", metavar="NAME", help="What records are written in: parquet (arag, beir, gfm-rag, light-splade)."
)
@_option(
    "--shard-size",
    metavar="SIZE",
    help="Several files of at most SIZE, as 512MB, for each (light-splade; in Parquet about SIZE).",
)
@_option("--profile", type=Known("profile"), metavar="NAME", help="A variant of the target format, such as distil.")
@_option("--name", metavar="NAME", help="What to call the dataset (default: its folder's name).")
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
    "--chunk-size", type=Whole(0), metavar="N", help="Cut documents into chunks of at most this many units (0: do not)."
)
@click.option("--chunk-overlap", type=Whole(0), metavar="N", help="Units that a chunk repeats of the one before.")
@click.option(
    "--chunk-by", type=Names(["tokens", "sentences", "characters"], "unit"), help="The unit (default: tokens)."
)
@click.option(
    "--tokenizer", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="A tokenizer.json to count by."
)
@click.option(
    "--chunk-language", metavar="CODE", help="For sentences: whose abbreviations do not end one (default: en)."
)
@click.option(
    "--extractor",
    type=Names(["names", "openai"], "extractor"),
    help="Make a graph of the texts: of the names in them, or by a language model (an OpenAI-compatible server), which "
    "also writes summaries (raptor), contexts (contextual-retrieval) and reports (graphrag).",
)
@click.option("--model", metavar="NAME", help="Extractor openai: the model to ask.")
@click.option("--base-url", metavar="URL", help="The server of models (default: OpenAI's).")
@click.option("--api-key-env", metavar="NAME", help="The environment variable that has its key [OPENAI_API_KEY].")
@click.option(
    "--linker", type=Names(["bm25", "embeddings"], "linker"), help="How questions are linked that name no node."
)
@click.option(
    "--embedder",
    metavar="KIND:MODEL",
    help="Linker embeddings, and vectors with a model: openai:MODEL, sentence-transformers:MODEL.",
)
@click.option("--price-in", type=Number(0), metavar="N", help="Price of a million prompt tokens, to estimate costs.")
@click.option("--price-out", type=Number(0), metavar="N", help="The same of reply tokens.")
@click.option(
    "--extract",
    "extract",
    multiple=True,
    metavar="NAME=VALUE",
    help="Another option of the extractor: least, start-nodes, concurrency, timeout, retries, max-tokens, "
    "most-failures, document-tokens, gleaning, cache, analyzer, stemmer.",
)
@_option(
    "--negatives",
    default=None,
    metavar="METHOD:…",
    help="light-splade: mine hard negatives, as bm25:depth=100,per_query=4,seed=13.",
)
@_option("--seed", metavar="N", show_default=True, help="For what is drawn at random (splits).")
@config_options
@follow_links_option
@cache_dir_option
@_option("--dry-run", help="Write nothing; show the files, the counts and the losses.")
@_option("--overwrite", help="Replace what is in DST, once the new content is whole.")
@_option("--strict", help="Write nothing if anything would be lost (exit code 1).")
@_option("--sidecar", help="Keep what the target cannot hold in files next to it; converting back restores it.")
@_option("--keep-going", help="Leave out records with errors instead of stopping.")
@click.option(
    "--loss-report",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write all losses there, as JSON.",
)
@output_options(_FORMS)
@dataset_name_option
@_option("--memory-limit", show_default=True, help="About how much memory to use.")
@engine_options(
    _option,
    "With --engine local: so many processes (default: one for each processor, at most 8).",
    "Between light-splade and BEIR, and tables to BEIR: convert documents in parts, by processes here (local), or by"
    " the workers of a cluster (ray, spark). The output is the same.",
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

    if words["extractor"] == "openai" and not words["dry_run"] and not words["quiet"]:
        from ragdatakit.reports.conversion import asking_lines

        for estimate in _run({**words, "dry_run": True}).estimates:  # before anything is sent
            click.echo("\n".join(asking_lines(estimate)), err=True)
    with terminal_progress() as progress:
        options = given(
            ConvertOptions,
            words,
            **read_words(words),
            **chosen_engine(words),
            extraction=_extraction(words),
            progress=progress,
        )
        return convert(words["source"], words["target"], **options)


def _extraction(words: dict[str, Any]) -> dict[str, object]:
    names = ("model", "base_url", "api_key_env", "linker", "embedder", "price_in", "price_out")
    found: dict[str, object] = {name: words[name] for name in names if words[name] is not None}
    for text in words["extract"]:
        name, value = named_value("--extract", text)
        found[name.replace("-", "_")] = value
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
        from ragdatakit.reports.findings.text import TextOptions, text_lines

        lines += [
            *text_lines(report, TextOptions(colour=colour, rest=f"`ragdata validate {words['source']}` shows more")),
            "",
        ]
    lines += conversion_lines(result, colour, words["quiet"])
    write_output([f"{line}\n".encode("utf-8", "backslashreplace") for line in lines], words["output_file"])


def _print_list(source: str, target: str) -> int:
    from ragdatakit.api.convert import pairs
    from ragdatakit.reports.format_pairs import matrix_lines, pair_lines

    found, made = pairs(source, target)
    if source and target:
        click.echo("\n".join(pair_lines(found[0])))
        return 0
    click.echo("\n".join(matrix_lines(found)))
    if made:
        click.echo(f"--extractor makes a graph of the texts of any source with documents: {', '.join(made)}.")
    return 0
