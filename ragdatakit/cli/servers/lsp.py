"""`ragdata lsp`: findings in an editor."""

from __future__ import annotations

import click


@click.command("lsp", short_help="Answer an editor: findings, fixes, and where ids lead (language server).")
@click.option("--stdio", is_flag=True, help="Talk on standard input and output, as is done in any case.")
def command(stdio: bool) -> None:
    """Answer an editor by the Language Server Protocol, on standard input and output.

    Findings of the dataset that a file belongs to are shown when the file is opened and when it is saved; fixes are
    offered as actions, the rule is shown where the pointer rests, and an id leads to the record that has it. For files
    of up to 50 MB: NDJSON, JSON, CSV. An editor starts it; docs/editors.md says how.
    """
    from ragdatakit.api.editor.server import serve

    serve()
