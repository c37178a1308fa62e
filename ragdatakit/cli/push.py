"""`ragdata push`: check a dataset, then upload it with a card."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragdatakit.cli import wants_colour
from ragdatakit.cli.dataset_options import follow_links_option
from ragdatakit.cli.declared_options import DataPath, Known, given, old_spelling, options_of
from ragdatakit.schemas.options import PushOptions
from ragdatakit.visible_text import visible_text

if TYPE_CHECKING:
    from ragdatakit.api.hub import PushPlan
    from ragdatakit.schemas.results import Report
_option = options_of(PushOptions)


@click.command("push", short_help="Upload a dataset to the Hugging Face hub.")
@click.argument("folder", metavar="DIR", type=DataPath(exists=True, file_okay=False, path_type=Path))
@click.argument("repo", metavar="OWNER/NAME")
@_option(
    "--from",
    "source_format",
    type=Known("format"),
    metavar="FORMAT",
    help="Take the files as this format (default: auto-detected).",
)
@old_spelling("--format", "--from", "source_format")
@_option("--private", help="Make a new repository a private one.")
@_option("--revision", metavar="BRANCH", help="Commit to this branch; it is made where there is none.")
@_option("--message", metavar="TEXT", help="What the commit says.")
@_option("--license", metavar="ID", help="For the card: the licence, such as apache-2.0.")
@_option("--language", "languages", multiple=True, metavar="CODE", help="For the card, such as en; may be repeated.")
@_option("--title", metavar="TEXT", help="For the card: how the dataset is called.")
@follow_links_option
@_option("--keep-going", help="Push even when the check finds errors; the card lists them.")
@click.option("--dry-run", is_flag=True, help="Show the files and the card, upload nothing.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def command(**words: Any) -> int:
    """Check the data in DIR and upload it to the dataset repository OWNER/NAME, with a card, in one commit.

    The card (README.md) shows format, files, counts, the result of the check, and what `datasets.load_dataset` is to
    read. Of a card that is there, your own words stay. Hidden files, pickles and what is built from the data stay at
    home. HF_TOKEN and HF_ENDPOINT hold. Exit code: 0 pushed, 1 the check found errors, 2 failed.

    \b
    ragdata push data OWNER/NAME --license apache-2.0 --language en --dry-run
    """
    from ragdatakit.api.hub import checked, planned

    options = PushOptions(**given(PushOptions, words))
    report = checked(words["folder"], options)
    if not report.ok and not words["keep_going"]:
        _show_findings(report)
        click.echo("\nnothing was pushed; --keep-going pushes it as it is", err=True)
        return 1
    plan = planned(words["folder"], words["repo"], report, options)
    _show_plan(plan, report, words)
    if words["dry_run"]:
        _show_card(plan)
        return 0
    if not words["yes"] and sys.stdin.isatty():
        click.confirm("Upload this?", abort=True)
    _push(plan, options)
    return 0


def _show_findings(report: Report) -> None:
    from ragdatakit.reports.findings.text import TextOptions, text_lines

    options = TextOptions(colour=wants_colour(), quiet=False, verbose=False, statistics=False)
    for line in text_lines(report, options):
        click.echo(line)


def _show_plan(plan: PushPlan, report: Report, words: dict[str, Any]) -> None:
    counts = report.counts
    click.echo(f"checked: errors {counts['error']:,}, warnings {counts['warning']:,}")
    listed = plan.uploads if words["dry_run"] else plan.uploads[:20]
    width = max(len(f"{upload.bytes:,}") for upload in plan.uploads)
    for upload in listed:
        click.echo(f"  {upload.bytes:>{width},}  {visible_text(upload.name)}")
    if len(listed) < len(plan.uploads):
        click.echo(f"  … and {len(plan.uploads) - len(listed):,} more")
    for left in plan.left_out:
        click.echo(f"  left out: {visible_text(left.name)} ({left.reason})")
    count = f"{len(plan.uploads):,} file{'' if len(plan.uploads) == 1 else 's'}, {plan.bytes:,} bytes"
    kind = "private" if words["private"] else "public, unless the owner's default is private"
    click.echo(f"{count}, and a card to {plan.repo} (a new repository is {kind})")


def _show_card(plan: PushPlan) -> None:
    made = plan.card()
    click.echo(f"\n{made.text}\nnothing was uploaded")
    for note in made.notes:
        click.echo(f"note: {note}")
    if plan.own_card is None:
        click.echo("note: if the repository has a card, its words stay and only our part is put into it")


def _push(plan: PushPlan, options: PushOptions) -> None:
    from ragdatakit.api.hub import upload

    done = upload(plan, options, show_progress=sys.stderr.isatty())
    for note in done.notes:
        click.echo(f"note: {note}")
    if done.changed:
        click.echo(f"pushed: {done.url}\ncommit: {done.commit_url}")
    else:
        click.echo(f"nothing has changed: {done.url}")
