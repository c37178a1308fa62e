"""The Python interface of what is known without data: formats, rules, JSON Schemas, and examples to start from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragdatakit.quick_values import NamedTuple
from ragdatakit.schemas import all_rules, find_rules, get_format, meant_by
from ragdatakit.schemas.errors import RagdataError, UnknownNameError
from ragdatakit.schemas.options import PathLike
from ragdatakit.schemas.settings.plugins import formats_with

if TYPE_CHECKING:
    from ragdatakit.schemas.declarations import Format, Rule


def formats(name: str = "", config: PathLike | bool = False) -> list[dict[str, Any]]:
    """The formats with their profiles and kinds of files, or the one of this ``name``: the JSON of ``ragdata formats``.

    ``config`` is a file that names plug-ins with formats of their own, True: the nearest one upwards from the current
    folder. Raises `UnknownNameError`.
    """
    from ragdatakit.reports.reference import format_dict

    return [format_dict(fmt) for fmt in declared_formats(name, config)]


def declared_formats(name: str = "", config: PathLike | bool = False) -> tuple[Format, ...]:
    """The declarations of all formats, or of one."""
    return _named(_known(config).formats, name)


def _named(formats: tuple[Format, ...], name: str) -> tuple[Format, ...]:
    """All of these formats, or the one of that name."""
    if name and name not in (known := [fmt.name for fmt in formats]):
        raise UnknownNameError("format", name, known, hint=meant_by(name))
    return tuple(fmt for fmt in formats if name in ("", fmt.name))


def rules(*chosen: str, config: PathLike | bool = False) -> list[dict[str, Any]]:
    """The rules, in the JSON of ``ragdata rules``: code, name, severity, format, what is wrong, what to do, and so on.

    ``chosen`` are codes, names, their beginnings (``SP2``, ``dangling``), and formats; none: all rules. ``config`` is a
    file with rules of a project, True: the nearest one upwards from the current folder. Raises `UnknownNameError`, and
    `RagdataError` where a format has no such rule.
    """
    from ragdatakit.reports.reference import rule_dict

    found, format_name = chosen_rules(*chosen, config=config)
    return [rule_dict(rule, fmt, format_name) for rule, fmt in found]


class _Known(NamedTuple):
    """The formats, with those of the plug-ins of the project; its own rules with their formats, and what a rule that is
    not ragdata's is of, by its code: a plug-in, or this project."""

    formats: tuple[Format, ...]
    own: Sequence[tuple[Rule, Format | None]] = ()
    origins: Mapping[str, str] = {}


def _known(config: PathLike | bool) -> _Known:
    if config is False:
        return _Known(formats_with(()))
    from ragdatakit.api.configuration import configuration_of
    from ragdatakit.files.configuration.own_rules import own_rules

    chosen = configuration_of(Path.cwd(), config)
    formats = {fmt.name: fmt for fmt in formats_with(chosen.formats)}
    found = own_rules(chosen)
    origins = {own.rule.code: own.place if own.plugin is not None else "this project" for own in found}
    for plugin in chosen.plugins:
        origins |= {rule.code: f"the plug-in {plugin}" for name in plugin.formats for rule in formats[name].rules}
    return _Known(tuple(formats.values()), [(own.rule, formats.get(own.format)) for own in found], origins)


def chosen_rules(
    *chosen: str, format_name: str = "", config: PathLike | bool = False
) -> tuple[list[tuple[Rule, Format | None]], str | None]:
    """The rules with their formats (None: of all), and the one format that was chosen among the words, if any."""
    known = _known(config)
    of_all = [fmt.name for fmt in known.formats]
    names = [fmt.name for fmt in _named(known.formats, format_name)] if format_name else []
    names = names or [name for name in chosen if name in of_all]
    of_format = names[0] if len(names) == 1 else None
    asked = [name for name in chosen if name not in of_all]
    wanted = {rule.code for name in asked for rule, _ in find_rules(name, known.own, known.formats)}
    every = (*all_rules(known.formats), *known.own)
    found = [pair for pair in every if _is_of(pair, names) and (not asked or pair[0].code in wanted)]
    if not found:
        raise RagdataError(f"{', '.join(names)} has no rule {' or '.join(asked)}")
    return found, of_format


def _is_of(pair: tuple[Rule, Format | None], formats: list[str]) -> bool:
    """Whether a rule is one of these formats, or one that all of them share."""
    from ragdatakit.schemas.rules import evaluation, tables

    rule, fmt = pair
    of_none = (evaluation.LETTERS, tables.LETTERS)
    return not formats or (fmt.name in formats if fmt is not None else not rule.code.startswith(of_none))


def explain(rule: str, config: PathLike | bool = False) -> str:
    """What ``ragdata explain`` prints of a rule, given its code (``SP201``) or its name (``dangling-qid``): what is
    wrong, what the framework does, what to do, examples.

    The beginning of a code or of a name lists the rules that begin so. ``config`` as for `rules`. Raises
    `UnknownNameError`.
    """
    return "\n".join(explanation(rule, config=config))


def explanation(rule: str, colour: bool = False, config: PathLike | bool = False) -> list[str]:
    """The same, line by line."""
    from ragdatakit.reports.reference import explanation_lines

    def thresholds(summary: str) -> list[tuple[str, float, str]]:
        from ragdatakit.schemas.settings.thresholds import thresholds_in

        return thresholds_in(summary)

    known = _known(config)
    found = find_rules(rule, known.own, known.formats)
    return list(explanation_lines(rule, found, thresholds, known.origins, colour))


def web_addresses(rule: str, config: PathLike | bool = False) -> list[str]:
    """Where the documentation on the web has the rules of this code or name, one address for each.

    Raises `UnknownNameError`, and `RagdataError` where it is not known where the documentation is.
    """
    from ragdatakit.reports.rule_addresses import VARIABLE, address_of

    known = _known(config)
    found = [each.code for each, _ in find_rules(rule, known.own, known.formats)]
    missing = [code for code in found if not address_of(code)]
    if missing:
        how = f"set {VARIABLE} to the address of the documentation, as https://… (`make site` builds it)"
        raise RagdataError(f"there is no page for {missing[0]}: {how}")
    return [address_of(code) for code in found]


def schema(format: str, kind: str = "") -> dict[str, Any]:  # noqa: A002 - the word of the command line
    """The JSON Schema (2020-12) of the records of one kind of file, such as ``schema("light-splade", "triplets")``;
    without ``kind`` those of all kinds of the format, by kind.

    Raises `UnknownNameError`, and `RagdataError` where files of that kind hold no JSON records.
    """
    from ragdatakit.schemas.json_schema import file_schema

    fmt = get_format(format)
    if not kind:
        return {file.kind: file_schema(fmt, file) for file in fmt.files if file.records}
    file = fmt.file(kind)
    if not file.records:
        raise RagdataError(f"{kind} files of {fmt.name} hold no JSON records")
    return file_schema(fmt, file)


def write_schemas(folder: PathLike, format_name: str = "", base_url: str | None = None) -> list[Path]:
    """Write the schemas of whole files of all formats, or of one, and a catalog of them for editors into ``folder``.

    The URLs in the catalog begin with ``base_url`` (None: the folder's own). Returns the files, the catalog last.
    """
    import orjson

    from ragdatakit.api.output_files import write_file
    from ragdatakit.schemas.catalog import documents

    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    written = documents(declared_formats(format_name), base_url if base_url is not None else place.resolve().as_uri())
    for name, document in written.items():
        write_file(place / name, [orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n"])
    return [place / name for name in written]


def init(format: str, folder: PathLike) -> list[Path]:  # noqa: A002 - the word of the command line
    """Write a minimal valid dataset of ``format`` into ``folder``, which must be empty or not exist yet: all of it or
    nothing. Returns the files.

    Raises `UnknownNameError` for the format, `RagdataError` where the folder is not empty, and `OSError`.
    """
    from ragdatakit.files.paths.writing import write_whole
    from ragdatakit.outputs.staging import StagedFolder

    fmt, place = get_format(format), Path(folder)
    if place.exists() and any(place.iterdir()):
        raise RagdataError(f"{place} is not empty; give a new folder")
    with StagedFolder(place) as staged:
        for name, content in fmt.example.items():
            path = staged.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, content.encode())
        staged.commit()
    return [place / name for name in fmt.example]
