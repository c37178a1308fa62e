"""A language server: editors show the findings of the datasets that open files belong to, as they show those of code.

Checked is what is on the disk, when a file is opened and when it is saved: a dataset is more than one file, and half a
line is no fault yet. Runs in this process, on standard input and output; nothing listens on a port.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import field
from pathlib import Path
from typing import Any

from ragdatakit.api.configuration import configuration_of
from ragdatakit.api.editor.checked import Checked, Kind, changes, check, is_safe_alone
from ragdatakit.api.editor.positions import Point, Positions
from ragdatakit.api.editor.references import targets, too_large
from ragdatakit.api.reference import rules
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.reports.rule_addresses import address_of
from ragdatakit.schemas.errors import MissingExtraError, RagdataError
from ragdatakit.schemas.findings import Finding
from ragdatakit.version import __version__

try:
    from lsprotocol import types as lsp
    from pygls.lsp.server import LanguageServer
    from pygls.uris import from_fs_path, to_fs_path
except ImportError:
    raise MissingExtraError("lsp", "pygls") from None

_SEVERITIES = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "info": lsp.DiagnosticSeverity.Information,
}
_FIX_ALL = f"{lsp.CodeActionKind.SourceFixAll.value}.ragdata"


@dataclass(slots=True)
class _Shown:
    """What an editor was given of one file: the file as it was then, its kind, and each finding with its place."""

    positions: Positions
    kind: Kind | None
    findings: list[tuple[lsp.Range, Finding]] = field(default_factory=list)


class Server(LanguageServer):
    """Knows what was found in which file, by its path."""

    def __init__(self) -> None:
        super().__init__("ragdata", __version__)
        self.shown: dict[Path, _Shown] = {}
        self._running = asyncio.Lock()
        self._wanted: set[Path] = set()

    async def check(self, uri: str) -> None:
        """Check the dataset of a file and publish what was found in all its files."""
        path = _path(uri)
        if path is None or path in self._wanted:
            return
        self._wanted.add(path)
        async with self._running:  # one at a time: each uses all processors
            self._wanted.discard(path)
            if reason := too_large(path):
                self._say(f"{path.name} is not checked: {reason}")
                return
            checked = await asyncio.to_thread(check, path)
            if checked.refused:
                self._say(checked.refused)
            self._publish(checked)

    def _say(self, text: str) -> None:
        self.window_log_message(lsp.LogMessageParams(lsp.MessageType.Info, text))

    def _publish(self, checked: Checked) -> None:
        for path, findings in checked.findings.items():
            was_shown = path in self.shown and self.shown[path].findings
            if not findings and not was_shown:
                self.shown.pop(path, None)
                continue
            # Of a large file nothing is kept: its findings are shown by line, and repaired by `--fix`.
            data = b"" if too_large(path) else _bytes(path)
            shown = self.shown[path] = _Shown(Positions(data, self._encoding), checked.kinds.get(path))
            shown.findings = [(self._range(shown.positions, finding), finding) for finding in findings]
            diagnostics = [self._diagnostic(place, finding) for place, finding in shown.findings]
            uri = from_fs_path(str(path)) or ""
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, diagnostics))

    @property
    def _encoding(self) -> str:
        encoding = self.workspace.position_encoding
        return "utf-16" if encoding is None else str(getattr(encoding, "value", encoding))

    def _range(self, positions: Positions, finding: Finding) -> lsp.Range:
        """The value at fault; without one the line, or the beginning of the file."""
        if not positions.data or finding.line is None:
            return _line(finding.line)
        if finding.span is not None:
            return _range(positions, finding.span.start, finding.span.end)
        line = finding.line - 1
        return _range(positions, positions.start_of(line), positions.end_of(line))

    def _diagnostic(self, place: lsp.Range, finding: Finding) -> lsp.Diagnostic:
        address = address_of(finding.code)
        related = [
            lsp.DiagnosticRelatedInformation(
                lsp.Location(from_fs_path(other.path) or "", _line(other.line)), other.message
            )
            for other in finding.related
        ]
        return lsp.Diagnostic(
            range=place,
            message=f"{finding.message}\n→ {finding.hint}" if finding.hint else finding.message,
            severity=_SEVERITIES[finding.severity],
            code=finding.code,
            code_description=lsp.CodeDescription(address) if address else None,
            source="ragdata",
            related_information=related or None,
        )

    def at(self, uri: str, place: lsp.Range) -> list[tuple[lsp.Range, Finding]]:
        """The findings that touch a place, as long as the file is what was checked."""
        path = _path(uri)
        shown = self.shown.get(path) if path is not None else None
        if shown is None:
            return []
        return [(where, finding) for where, finding in shown.findings if _touch(where, place)]

    def is_as_checked(self, uri: str) -> bool:
        """Whether the text in the editor is the one on the disk that was checked: else no byte is where it was."""
        path = _path(uri)
        if path is None or path not in self.shown:
            return False
        data = self.shown[path].positions.data
        if not data or b"\r" in data.replace(b"\r\n", b""):  # editors take a lone one for the end of a line
            return False
        return _bytes(path) == data and _same_text(self.workspace.get_text_document(uri).source, data)

    def is_safe(self, uri: str, finding: Finding) -> bool:
        """Whether a fix is safe by itself, whatever the other records of the dataset are."""
        path = _path(uri)
        return path in self.shown and is_safe_alone(self.shown[path].kind, finding)

    def edit(self, uri: str, findings: list[Finding]) -> lsp.WorkspaceEdit | None:
        """The fixes of findings as one edit; those that touch what an earlier one has touched are left for later."""
        path = _path(uri)
        if path is None:
            return None
        positions, edits, behind = self.shown[path].positions, [], -1
        for finding in findings:
            parts = changes(path, finding)
            if parts and min(start for start, _, _ in parts) >= behind:
                edits += [lsp.TextEdit(_range(positions, start, end), text) for start, end, text in parts]
                behind = max(end for _, end, _ in parts)
        return lsp.WorkspaceEdit(changes={uri: edits}) if edits else None


def serve() -> None:
    """Answer an editor on standard input and output, until it says that it is done."""
    server().start_io()


def server() -> Server:
    """A server that answers: diagnostics, fixes, hovers, and the record that an id leads to."""
    made = Server()

    @made.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        await made.check(params.text_document.uri)

    @made.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        await made.check(params.text_document.uri)

    @made.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix, _FIX_ALL])
    )
    def actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri = params.text_document.uri
        return list(_actions(made, uri, params)) if made.is_as_checked(uri) else []

    @made.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        found = made.at(params.text_document.uri, lsp.Range(params.position, params.position))
        path = _path(params.text_document.uri) or Path()
        texts = [_explained(finding, path) for _, finding in found]
        markdown = lsp.MarkupContent(lsp.MarkupKind.Markdown, "\n\n---\n\n".join(dict.fromkeys(texts)))
        return lsp.Hover(markdown, found[0][0]) if found else None

    @made.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    async def definition(params: lsp.DefinitionParams) -> list[lsp.Location]:
        path = _path(params.text_document.uri)
        if path is None or too_large(path):
            return []
        offset = Positions(_bytes(path), made._encoding).offset(Point(params.position.line, params.position.character))
        try:
            found = await asyncio.to_thread(targets, path, offset)
        except RagdataError:
            return []
        return [
            lsp.Location(
                from_fs_path(str(one.path)) or "",
                _range(Positions(_bytes(one.path), made._encoding), one.start, one.end),
            )
            for one in found
        ]

    return made


def _actions(made: Server, uri: str, params: lsp.CodeActionParams) -> Any:
    only = params.context.only
    if only is None or any(_is_kind(lsp.CodeActionKind.QuickFix.value, kind) for kind in only):
        for place, finding in made.at(uri, params.range):
            edit = made.edit(uri, [finding])
            if finding.fix is None or edit is None:
                continue
            is_safe = made.is_safe(uri, finding)
            why_not = "unsafe" if finding.fix.applicability != "safe" else "other records may forbid it"
            why_not = finding.fix.withheld or why_not
            yield lsp.CodeAction(
                title=f"{finding.code}: {finding.fix.message}" + ("" if is_safe else f" ({why_not})"),
                kind=lsp.CodeActionKind.QuickFix,
                diagnostics=[made._diagnostic(place, finding)],
                is_preferred=is_safe,
                edit=edit,
            )
    if only is not None and any(_is_kind(_FIX_ALL, kind) for kind in only):
        path = _path(uri)
        everywhere = [finding for _, finding in made.shown[path].findings] if path is not None else []
        if edit := made.edit(uri, [each for each in everywhere if made.is_safe(uri, each)]):
            yield lsp.CodeAction(title="Fix all that ragdata repairs safely", kind=_FIX_ALL, edit=edit)


def _is_kind(kind: str, wanted: Any) -> bool:
    """Whether a kind of action is wanted: by its name, or by a beginning of it."""
    name = str(getattr(wanted, "value", wanted))
    return kind == name or kind.startswith(f"{name}.") or not name


def _explained(finding: Finding, path: Path) -> str:
    """A finding in the file at ``path`` and its rule, as Markdown. What rules of a project say is text, whatever it
    looks like: an editor would fetch an image."""
    try:
        settings = configuration_of(path).file
        rule = rules(finding.code, config=False if settings is None else settings.path)[0]
    except RagdataError:
        return f"**{finding.code}** {finding.rule}"
    upstream = rule["upstream"]
    lines = [upstream] if isinstance(upstream, str) else [f"{name}: {text}" for name, text in upstream.items()]
    if rule["hint"]:
        lines.append(f"→ {rule['hint']}")
    address = address_of(finding.code)
    head = f"[{finding.code}]({address})" if address else finding.code
    texts = [_as_text(line) for line in (rule["summary"], *lines) if line]
    return "\n\n".join([f"**{head}** {finding.rule} · {finding.severity}", *texts])


def _as_text(line: str) -> str:
    """Markdown that shows a line as it is."""
    return re.sub(r"([\\`*_{}\[\]()<>#+!|&:-])", r"\\\1", line)


def _path(uri: str) -> Path | None:
    name = to_fs_path(uri)
    return Path(name) if name and uri.startswith("file:") else None


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _same_text(source: str, data: bytes) -> bool:
    return source.removeprefix("\ufeff") == data.decode("utf-8-sig", "replace")


def _range(positions: Positions, start: int, end: int) -> lsp.Range:
    return lsp.Range(lsp.Position(*positions.point(start)), lsp.Position(*positions.point(end)))


def _line(line: int | None) -> lsp.Range:
    at = lsp.Position((line or 1) - 1, 0)
    return lsp.Range(at, at)


def _touch(one: lsp.Range, other: lsp.Range) -> bool:
    def key(position: lsp.Position) -> tuple[int, int]:
        return position.line, position.character

    return key(one.start) <= key(other.end) and key(other.start) <= key(one.end)
