"""The pages of the formats: files, records, what must fit together, an example."""

from __future__ import annotations

from collections.abc import Iterator

from docs.generator.diagrams import arrows, diagram
from docs.generator.format_tables import formats_table
from docs.generator.markdown import code, fence, plain, rule_link, rule_title, table
from docs.generator.rule_pages import NOTE
from docs.generator.workspaces import Workspace
from ragdatakit.schemas import all_formats
from ragdatakit.schemas.declarations import Field, File, Format, Layout, Record
from ragdatakit.schemas.rules.shared import RULES as SHARED

_RULES = "../rules/"
_CONTAINERS = {
    "ndjson": "NDJSON: one JSON object per line",
    "json-array": "one JSON array",
    "json-object": "one JSON object, each member a record",
    "json-wrapped": "one JSON object with an array of records",
    "json": "a JSON array, JSON lines or one JSON object",
    "csv": "CSV with a header",
    "text": "text",
    "streamed": "read as a stream",
    "table": "Parquet, or CSV with the same columns",
    "opaque": "never opened",
}


def format_pages() -> dict[str, str]:
    """Path below docs/ to text."""
    pages = {f"formats/{fmt.name}.md": _page(fmt) for fmt in all_formats()}
    pages.update({f"formats/{fmt.name}.svg": picture for fmt in all_formats() if (picture := diagram(fmt))})
    return {**pages, "formats/index.md": _index()}


def _index() -> str:
    return "\n".join(
        [
            NOTE,
            "# Formats\n",
            "What ragdata knows. Each page has the files, the records, what must fit together, and an example.\n",
            formats_table("", "../rules/"),
            "",
        ]
    )


def _page(fmt: Format) -> str:
    parts = [NOTE, f"# {fmt.title} (`{fmt.name}`)\n", f"{plain(fmt.description)}\n", f"Home: <{fmt.homepage}>\n"]
    parts += ["## How to validate\n", _console(fmt), *filter(None, [_profiles(fmt)])]
    parts += ["## Files\n", _files(fmt), *_layouts(fmt), *_picture(fmt)]
    parts += ["## Records\n", *(_records(fmt, kind) for kind in fmt.files if kind.records)]
    checks = list(_checks(fmt))
    if checks:
        parts += [
            "## What must fit together\n",
            "Within a split, where the dataset has splits and nothing else is said.\n",
            *checks,
            "",
        ]
    parts += ["## A minimal dataset\n", f"`ragdata init {fmt.name} DIR` writes it:\n", _example(fmt)]
    parts += ["## Rules\n", f"[All {len(fmt.rules)} rules of {fmt.title}]({_RULES}{fmt.name}.md), and the "]
    parts[-1] += f"[shared rules]({_RULES}shared.md).\n"
    return "\n".join(parts)


def _picture(fmt: Format) -> list[str]:
    return [f"\n![Which field of which file names the records of which]({fmt.name}.svg)\n"] if arrows(fmt) else []


def _console(fmt: Format) -> str:
    with Workspace() as workspace:
        commands = [f"ragdata init {fmt.name} data", "ragdata validate data"]
        outputs = [workspace.run(command) for command in commands]
    lines = [f"$ {commands[1]}", outputs[1]]
    return fence("\n".join(lines), "console") + "\n"


def _profiles(fmt: Format) -> str:
    if not fmt.profiles:
        return ""
    counts = []
    for profile in fmt.profiles:
        alone = sum(not isinstance(r.upstream, str) and set(r.upstream) == {profile} for r in fmt.rules)
        counts.append(f"`{profile}`" + (f" ({alone} rules are about it alone)" if alone else ""))
    default = " and ".join(map(code, fmt.default_profiles)) or "all that apply"
    other = next(p for p in fmt.profiles if p not in fmt.default_profiles)
    return (
        f"Profiles: {', '.join(counts)}. Without `--profile`, the dataset is checked for {default}; "
        f"`--profile {other}` checks for that one only.{_milder(fmt)}\n{_profile_words(fmt)}"
    )


def _profile_words(fmt: Format) -> str:
    return "".join(f"\n- {code(profile)}: {plain(words)}" for profile, words in fmt.profile_words.items()) + (
        "\n" if fmt.profile_words else ""
    )


def _milder(fmt: Format) -> str:
    """Rules that are another fault for a profile, or where none is chosen."""
    unchosen = [r for r in fmt.rules if r.severities.get("", r.severity) != r.severity]
    if unchosen:
        whose = " and ".join(map(code, dict.fromkeys(p for r in unchosen for p in fmt.profiles if p in r.upstream)))
        levels = " or ".join(dict.fromkeys(r.severities[""] for r in unchosen))
        return f" What {whose} alone takes for an error is a {levels} as long as no profile is chosen."
    if any(r.severities for r in fmt.rules):
        return " Some rules have another severity for another profile; their pages say so."
    return ""


def _files(fmt: Format) -> str:
    rows = []
    refused: dict[str, None] = {}
    for kind in fmt.files:
        named = [pair for layout in fmt.layouts for pair in (*layout.files.items(), *layout.loose.items())]
        patterns = dict.fromkeys(p for p, k in named if k == kind.kind)
        accepted = [p for p in patterns if kind.container == "opaque" or _accepted(kind, p)]
        refused.update({_ending(p): None for p in patterns if p not in accepted})
        schema = f"[JSON Schema](../schemas/{fmt.name}.{kind.kind}.schema.json)" if kind.records else ""
        what = " ".join(filter(None, [plain(kind.description), schema]))
        rows.append(
            [
                code(kind.kind),
                _container(kind),
                _names(accepted) or ("by its content" if kind.keys or kind.begins or kind.container == "text" else "–"),
                what,
            ]
        )
    listed = table(("kind", "container", "names", "what it holds"), rows) + "\n"
    if refused:
        endings = ", ".join(code(e) for e in refused)
        listed += f"\nFiles that end in {endings} instead are looked at, too, and reported.\n"
    return listed


def _container(kind: File) -> str:
    """In what the records lie; of lines of cells and of elements, which."""
    if kind.container == "columns":
        between = {"": "blanks", "\t": "tabs"}.get(kind.columns.separator, code(kind.columns.separator))
        return f"lines of cells with {between} between them" + (", below a header" if kind.columns.header else "")
    if kind.container == "tagged":
        return f"elements {' or '.join(code(f'<{tag}>') for tag in kind.tags)}"
    words = f" in {' or '.join(map(code, kind.wrapper))}" if kind.wrapper else ""
    return "bytes" if kind.begins and kind.container == "opaque" else _CONTAINERS[kind.container] + words


def _names(patterns: list[str]) -> str:
    """Patterns; those that differ only by their folder are listed once."""
    folders: dict[str, list[str]] = {}
    for pattern in patterns:
        folder, slash, name = pattern.rstrip("/").rpartition("/")
        folders.setdefault(name + pattern[len(pattern.rstrip("/")) :], []).append(folder + slash)
    shared: dict[tuple[str, ...], list[str]] = {}
    for name, where in folders.items():
        shared.setdefault(tuple(where), []).append(name)
    alone: list[str] = []
    grouped: list[str] = []
    for places, names in shared.items():
        if len(places) == 1:
            alone += [code(places[0] + name) for name in names]
        else:
            words = " or ".join(code(p) if p else "the folder itself" for p in places)
            grouped.append(f"{', '.join(map(code, names))} in {words}")
    return "; ".join(filter(None, [", ".join(alone), *grouped]))


def _ending(pattern: str) -> str:
    name = pattern.rsplit("/", 1)[-1]
    return name[name.index(".") :] if "." in name else name


def _accepted(kind: File, pattern: str) -> bool:
    return pattern.endswith("/") or not kind.suffixes or any(pattern.rstrip("*").endswith(s) for s in kind.suffixes)


def _layouts(fmt: Format) -> Iterator[str]:
    yield "A folder is taken for such a dataset where the files of one of these layouts are found:\n"
    seen = set()
    for layout in fmt.layouts:
        if layout.description not in seen:
            yield f"- *{layout.name}*: {plain(_layout_words(layout))}"
        seen.add(layout.description)
    yield ""
    if any(kind.shards for kind in fmt.files):
        kinds = ", ".join(code(kind.kind) for kind in fmt.files if kind.shards)
        yield f"A name that ends in `/` is a folder of shards, which are read together ({kinds}).\n"
    yield "A lone file is recognised by its name and its first records; `--from` says what it is where that fails.\n"


def _layout_words(layout: Layout) -> str:
    words = layout.description.rstrip(".")
    if layout.sniff:
        words += "; the first record must look like it, too"
    if layout.place:
        words += f"; its path must end in {code(layout.place)}"
    if layout.requires:
        words += f"; {', '.join(layout.requires)} must be there"
    return words


def _records(fmt: Format, kind: File) -> str:
    parts = [f"### {kind.kind}\n"]
    if len(kind.records) > 1:
        parts.append("The first record of a file decides which of these shapes all of them have.\n")
    for record in kind.records:
        parts += [f"**{plain(record.title)}.** {plain(record.description)}\n"]
        if record.fields:
            rows = [_field_row(fmt, record, f) for f in record.fields]
            field = "column" if kind.container in ("csv", "columns", "table") else "field"
            parts.append(table((field, "type", "required", "null", "meaning", "rules"), rows) + "\n")
            rule = record.rules.get("extra") if record.extra == "forbid" else ""
            extra = f"Other fields are a fault ({_link(fmt, rule)})." if rule else "Other fields are passed over."
            if kind.container in ("csv", "table"):
                extra = extra.replace("fields", "columns")
            if kind.container == "columns":
                extra = _line_words(fmt, kind)
            if kind.container != "json-object":
                parts.append(f"{extra}\n")
    return "\n".join(parts)


def _line_words(fmt: Format, kind: File) -> str:
    """What a line of cells may be beside a record."""
    rules, columns = kind.record.rules, kind.columns
    words = [f"A line with fewer columns is a fault ({_link(fmt, rules['syntax'])})."]
    if columns.further and rules.get("extra"):
        words.append(f"One with more is read without them ({_link(fmt, rules['extra'])}).")
    elif not columns.further:
        words = [words[0].replace("fewer", "fewer or more")]
    if columns.comment and rules.get("extra"):
        words.append(f"One that begins with {code(columns.comment)} is a comment ({_link(fmt, rules['extra'])}).")
    return " ".join(words)


def _field_row(fmt: Format, record: Record, field: Field) -> list[str]:
    names = dict.fromkeys(r for r in {**record.rules, **field.rules}.values() if r)
    own = [r for r in names if r in field.rules.values() or (r == record.rules.get("missing") and field.required)]
    return [
        code(field.name),
        _type_words(field),
        "yes" if field.required else "no",
        "allowed" if field.nullable else "no",
        plain(field.description),
        ", ".join(_link(fmt, r) for r in own),
    ]


def _type_words(field: Field) -> str:
    words: str = field.type
    if field.items:
        words = f"list of {field.items}"
    elif field.values:
        words = f"object of {field.values}"
    if field.enum:
        words += ": " + ", ".join(code(e) for e in field.enum)
    if field.type == "number" and field.minimum is not None and field.maximum is not None:
        words += f", {field.minimum} to {field.maximum}"
    if field.lax_number:
        words += " (or text of a number)"
    return words + (", not empty" if field.non_empty else "")


def _checks(fmt: Format) -> Iterator[str]:
    for key in fmt.keys:
        each = "every item of " if _is_list(fmt, key.kind, key.fields[0]) else ""
        times = "appear once together" if len(key.fields) > 1 else "appears once"
        yield _check(fmt, f"{each}{_fields(key.fields)} of {key.kind} {times}", key.rule)
    for ref in fmt.references:
        each = "every item of " if _is_list(fmt, ref.kind, ref.field) else ""
        target = f"{_fields((ref.to_field,))} of {ref.to_kind}"
        yield _check(fmt, f"{each}{_fields((ref.field,))} of {ref.kind} is some {target}", ref.rule)
    for cov in fmt.coverages:
        by = " or ".join(f"{_fields((f,))} of {k}" for k, f in cov.by)
        where = f" (in {', '.join(cov.splits)})" if cov.splits else ""
        yield _check(fmt, f"every {_fields((cov.field,))} of {cov.kind} is named by {by}{where}", cov.rule)
    for member in fmt.memberships:
        verb = "stand" if member.within else "do not stand"
        pairs = f"{_fields(member.fields)} of {member.kind} {verb} together in {member.to_kind}"
        yield _check(fmt, pairs, member.rule)
    for same in fmt.consistencies:
        names = " and ".join(f"{code(n)} always has the same {code(v)}" for n, v in same.names)
        yield _check(fmt, f"in {same.kind}, {names}", same.rule)
    for variant in fmt.variants:
        yield _check(fmt, f"{_fields(variant.fields)} of {variant.kind} spell one name one way", variant.rule)
    for apart in fmt.disjoints:
        yield _check(fmt, f"no two splits share a {_fields((apart.field,))} of {apart.kind}", apart.rule)
    for agreed in fmt.agreements:
        pairs = " and ".join(f"{code(v)} of one {code(n)}" for n, v in agreed.names)
        yield _check(fmt, f"all splits have the same {pairs} ({agreed.kind})", agreed.rule)


def _is_list(fmt: Format, kind: str, name: str) -> bool:
    return any(f.name == name and f.type == "array" for r in fmt.file(kind).records for f in r.fields)


def _check(fmt: Format, words: str, rule: str) -> str:
    return f"- {words[0].upper()}{words[1:]}: {_link(fmt, rule, full=True)}"


def _fields(names: tuple[str, ...]) -> str:
    """Columns; a derived one is worked out from the whole record."""
    found = [code(n.removeprefix("@")) for n in names]
    return found[0] if len(found) == 1 else f"{', '.join(found[:-1])} and {found[-1]}"


def _link(fmt: Format, name: str, full: bool = False) -> str:
    for rule in fmt.rules:
        if rule.name == name:
            return rule_link(rule, fmt, _RULES, rule_title(rule) if full else "")
    shared = next(rule for rule in SHARED if rule.name == name)
    return rule_link(shared, None, _RULES, rule_title(shared) if full else "")


def _language(name: str) -> str:
    return "json" if name.endswith((".json", ".ndjson", ".jsonl")) else "csv" if name.endswith(".csv") else "text"


def _example(fmt: Format) -> str:
    parts = []
    for name, content in fmt.example.items():
        parts += [f"`{name}`\n", fence(content, _language(name)), ""]
    return "\n".join(parts)
