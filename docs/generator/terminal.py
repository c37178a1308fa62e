"""A screen as a picture: what a command prints in colour, as SVG."""

from __future__ import annotations

import re
from html import escape

from docs.generator.workspaces import Workspace

SCREENS = {"images/validate.svg": "ragdata validate fixtures/demo-broken --select SP121,SP302,SP201"}
"""Path below docs/ to the command whose screen it shows."""

_COLOURS = {"1": "b", "2": "d", "31": "r", "32": "g", "33": "y", "36": "c"}
_STYLE = (
    "rect{fill:#161b22}text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#e6edf3;"
    "white-space:pre}.b{font-weight:700}.d{fill:#9da7b3}.r{fill:#ff7b72}.g{fill:#7ee787}.y{fill:#e3b341}.c{fill:#79c0ff}"
)
_ESCAPE = re.compile(r"\x1b\[(\d*)m")
_WIDTH, _LINE, _LEFT, _MOST = 7.83, 19, 18, 112


def pictures() -> dict[str, str]:
    """Path below docs/ to SVG."""
    with Workspace() as workspace:
        return {
            name: picture(f"$ {command}\n{workspace.run(command, {'FORCE_COLOR': '1', 'COLUMNS': str(_MOST)})}")
            for name, command in SCREENS.items()
        }


def picture(screen: str) -> str:
    """The screen, line by line; lines that are too long are cut."""
    lines = screen.split("\n")
    longest = min(max(len(_ESCAPE.sub("", line)) for line in lines), _MOST)
    width, height = round(longest * _WIDTH) + 2 * _LEFT, len(lines) * _LINE + 30
    texts = [
        f'<text x="{_LEFT}" y="{28 + number * _LINE}">{_coloured(line)}</text>'
        for number, line in enumerate(lines)
        if line
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
        f'<style>{_STYLE}</style><rect width="100%" height="100%" rx="8"/>\n' + "\n".join(texts) + "\n</svg>\n"
    )


def _coloured(line: str) -> str:
    parts, colour, room = [], "", _MOST
    for number, piece in enumerate(_ESCAPE.split(line)):
        if number % 2:
            colour = _COLOURS.get(piece, "")
            continue
        shown = piece if len(piece) <= room else piece[: max(room - 1, 0)] + "…" * (room > 0)
        room -= len(shown)
        if shown:
            text = escape(shown)
            parts.append(f'<tspan class="{colour}">{text}</tspan>' if colour else text)
    return "".join(parts)
