"""The card of a dataset on the hub: README.md with a YAML header, of which a user's own words stay as they are.

Written anew is the part between two marks, and of the header ``configs``, ``size_categories`` and our tags;
``license``, ``language`` and ``pretty_name`` where they are given. A header that has its own ``configs`` while there
are no marks keeps them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import field
from typing import Any

import yaml

from ragdatakit.files.containers.json_text import loads
from ragdatakit.files.texts.front_matter import yaml_fields
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas import get_format
from ragdatakit.schemas.errors import RagdataError, UnknownNameError
from ragdatakit.schemas.results import Report
from ragdatakit.schemas.texts import many

BEGIN = "<!-- ragdata:begin: `ragdata push` rewrites this part; what is outside of it stays -->"
END = "<!-- ragdata:end -->"
_PART = re.compile(r"<!-- ragdata:begin\b.*?<!-- ragdata:end -->", re.DOTALL)
_HEADER = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)(?:\r?\n|\A|(?<=\n))---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_MOST_FILES = 40
_LONGEST_HEADER = 1 << 20
"""Characters; those of datasets of many configurations have some hundred thousand."""
_LOADABLE = {
    "ndjson": (".jsonl", ".ndjson", ".json", ".parquet"),
    "json-array": (".json",),
    "json": (".jsonl", ".ndjson"),
    "csv": (".csv", ".tsv"),
}
_MARKS = "<>|&`\\*_[]~#!$"
_SIZES = (
    (10**3, "n<1K"),
    (10**4, "1K<n<10K"),
    (10**5, "10K<n<100K"),
    (10**6, "100K<n<1M"),
    (10**7, "1M<n<10M"),
    (10**8, "10M<n<100M"),
    (10**9, "100M<n<1B"),
    (10**10, "1B<n<10B"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFile:
    """A file of a dataset that was checked: ``name`` below the pushed folder, ``dataset`` the folder of its dataset."""

    name: str
    dataset: str
    format: str
    kind: str
    split: str | None
    records: int | None
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CardFacts:
    """What a card shows. ``title``, ``license`` and ``languages`` are the user's words, empty where not given."""

    repo: str
    files: tuple[DataFile, ...]
    report: Report
    ragdata: str
    title: str = ""
    license: str = ""
    languages: tuple[str, ...] = ()


@dataclass(slots=True)
class Card:
    """The text of a card; ``notes`` say what was kept or is missing."""

    text: str
    notes: list[str] = field(default_factory=list)


def card(facts: CardFacts, base: str | None) -> Card:
    """The card, made of the one that is there (``base``) or new; raises `RagdataError` where that cannot be read."""
    header, body = _split(base or "")
    notes: list[str] = []
    ours = base is None or _PART.search(body) is not None
    new = _header(facts, header, ours, notes)
    part = f"{BEGIN}\n{_part(facts)}\n{END}"
    if "<!-- ragdata:begin" in _PART.sub("", body):
        raise RagdataError(f"README.md: a part begins with <!-- ragdata:begin and does not end with {END}")
    if _PART.search(body):
        body = _PART.sub(lambda _: part, body, count=1)
    elif base is None:
        body = f"\n# {_text(facts.title or facts.repo.rpartition('/')[2])}\n\n{part}\n"
    else:
        body = f"{body.rstrip()}\n\n{part}\n"
    if new == header and base is not None:  # with its comments and its own way of writing
        top = (base or "")[: len(base or "") - len(_split(base or "")[1])]
    else:
        top = f"---\n{yaml.safe_dump(new, sort_keys=False, allow_unicode=True, width=1000)}---\n"
    text = top + body
    if base is not None and "\r\n" in base:
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    if not new.get("license"):
        notes.append("the card names no licence (--license)")
    return Card(text, notes)


def _split(text: str) -> tuple[dict[str, Any], str]:
    match = _HEADER.match(text)
    if match is None:
        return {}, text
    header = match.group(1)
    fields = yaml_fields(header) if len(header) <= _LONGEST_HEADER else None
    if fields is None:
        raise RagdataError(
            "README.md: its header is not a YAML mapping, or it is too long, too deep or refers to itself"
        )
    return {name: loads(raw) for name, raw in fields.items()}, text[match.end() :]


def _header(facts: CardFacts, header: dict[str, Any], ours: bool, notes: list[str]) -> dict[str, Any]:
    new = dict(header)
    if facts.license:
        new["license"] = facts.license
    if facts.languages:
        new["language"] = list(facts.languages)
    if facts.title or "pretty_name" not in new:
        new["pretty_name"] = facts.title or facts.repo.rpartition("/")[2]
    tags = new.get("tags") or []
    tags = tags if isinstance(tags, list) else [tags]
    new["tags"] = tags + [t for t in ("rag", "ragdata", *_formats(facts.files)) if t not in tags]
    if ours or "size_categories" not in new:
        new["size_categories"] = [_size(sum(f.records or 0 for f in facts.files))]
    found = configs(facts.files)
    if not ours and new.get("configs"):
        notes.append("README.md has its own `configs`: they stay as they are")
    elif found:
        new["configs"] = found
    else:
        new.pop("configs", None)
    return new


def configs(files: Iterable[DataFile]) -> list[dict[str, Any]]:
    """What `datasets.load_dataset` is to read: one configuration for each kind of records, with its splits."""
    files = [f for f in files if _is_loadable(f)]
    several = len({f.dataset for f in files}) > 1
    found: dict[str, dict[str, list[str]]] = {}
    for file in files:
        name = _config_name(f"{file.dataset}-{file.kind}" if several and file.dataset else file.kind)
        paths = found.setdefault(name, {}).setdefault(_split_name(file.split), [])
        path = re.sub(r"([*?\[])", r"[\1]", file.name)
        if path not in paths:
            paths.append(path)
    return [
        {
            "config_name": name,
            "data_files": [{"split": s, "path": p[0] if len(p) == 1 else p} for s, p in splits.items()],
            **({"sep": "\t"} if all(p.endswith((".tsv", ".tsv.gz")) for ps in splits.values() for p in ps) else {}),
        }
        for name, splits in found.items()
    ]


def _is_loadable(file: DataFile) -> bool:
    try:
        kind = get_format(file.format).file(file.kind)
    except UnknownNameError:
        return False
    ends = _LOADABLE.get(kind.container, ())
    return bool(file.records and kind.records) and file.name.lower().removesuffix(".gz").endswith(ends)


def _config_name(text: str) -> str:
    return re.sub(r"[^\w.-]+", "-", text).strip("-.") or "data"


def _split_name(split: str | None) -> str:
    return re.sub(r"\W+", "_", split).strip("_") if split and re.search(r"\w", split) else "train"


def _formats(files: Iterable[DataFile]) -> list[str]:
    return list(dict.fromkeys(f.format for f in files))


def _size(records: int) -> str:
    return next((name for limit, name in _SIZES if records < limit), "10B<n<100B")


def _part(facts: CardFacts) -> str:
    lines = ["## Data", ""]
    for name in _formats(facts.files):
        fmt = get_format(name)
        lines.append(f"Format: [{fmt.title}]({fmt.homepage}), which ragdata calls `{name}`.")
    lines += ["", "| file | kind | split | records | bytes |", "|---|---|---|---:|---:|"]
    for file in facts.files[:_MOST_FILES]:
        records = "" if file.records is None else f"{file.records:,}"
        lines.append(f"| {_code(file.name)} | {file.kind} | {_text(file.split or '')} | {records} | {file.bytes:,} |")
    if len(facts.files) > _MOST_FILES:
        lines.append(f"| … and {len(facts.files) - _MOST_FILES:,} more | | | | |")
    lines += ["", "### Check", "", _check(facts), ""]
    lines += ["### Load", "", "```", "pip install 'ragdatakit[hub]'"]
    lines += [f"ragdata fetch hf:{facts.repo} data", "ragdata validate data", "```"]
    found = configs(facts.files)
    if found:
        lines += ["", "```python", "from datasets import load_dataset", ""]
        lines += [f'{_variable(c)} = load_dataset("{facts.repo}", "{c["config_name"]}")' for c in found[:8]]
        lines += ["```"]
    return "\n".join(lines)


def _check(facts: CardFacts) -> str:
    counts = facts.report.counts
    said = f"`ragdata validate` {facts.ragdata} found {many(counts['error'], 'error')} and"
    said += f" {many(counts['warning'], 'warning')}"
    rules = [
        f"{rule.code} {rule.name} ({facts.report.by_rule[rule.code]:,})"
        for name in _formats(facts.files)
        for rule in get_format(name).rules
        if rule.code in facts.report.by_rule and rule.severity != "info"
    ]
    return f"{said}: {', '.join(rules)}." if rules else f"{said}."


def _variable(config: dict[str, Any]) -> str:
    name = re.sub(r"\W+", "_", config["config_name"])
    return f"_{name}" if name[:1].isdigit() else name


def _code(text: str) -> str:
    """A name as code; as an element of HTML where Markdown, or the end of a cell, would be seen in it."""
    if text and not set(text) & set("`|<>&\\") and text.isprintable() and text == text.strip():
        return f"`{text}`"
    return f"<code>{_text(text, _MARKS)}</code>"


def _text(text: str, marks: str = "<>|&`") -> str:
    """A name with these characters as references, and those that cannot be seen by their numbers."""
    return "".join(_shown(c) if not c.isprintable() else f"&#{ord(c)};" if c in marks else c for c in text)


def _shown(character: str) -> str:
    number = ord(character)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
