"""The tables of what ragdata.toml may say."""

from __future__ import annotations

from docs.generator.markdown import code, table
from ragdatakit.schemas.settings.declared import TOP, Setting, kind_words


def settings_table(section: str = "") -> str:
    """The settings of the top level, or of one section."""
    declared = TOP.named(section) if section else TOP
    assert declared is not None
    head = ("setting", "what it is", "value", "example", "default")
    return table(head, [_row(setting) for setting in declared.within])


def _row(setting: Setting) -> list[str]:
    meaning = f"{setting.meaning} (required)" if setting.required else setting.meaning
    name = f"[[{setting.name}]]" if setting.kind == "sections" else setting.name
    kind = "tables, see below" if setting.kind == "sections" else kind_words(setting)
    return [code(name), meaning, kind, *(code(text) if text else "–" for text in (setting.example, setting.default))]
