"""Lines of cells and elements between tags as DuckDB views: files read as lines, and cut by expressions."""

from __future__ import annotations

from ragdatakit.files.paths.sql_text import sql_name, sql_text
from ragdatakit.schemas.declarations import Field, File

_LINES = (
    "read_csv([{paths}], auto_detect = false, columns = {{'line': 'VARCHAR'}}, delim = '\x01', quote = '', "
    "escape = '', header = false, skip = {skip}, strict_mode = false, null_padding = true, ignore_errors = true, "
    "parallel = false, filename = true)"
)
_CELLS = (
    "read_csv([{paths}], auto_detect = false, columns = {{{columns}}}, delim = {separator}, quote = '\"', "
    "escape = '\"', header = false, skip = {skip}, strict_mode = false, null_padding = true, ignore_errors = true, "
    "parallel = false, filename = true)"
)
_TYPES = {"integer": "BIGINT", "number": "DOUBLE"}
_SAME = {"num": "num|number", "title": "title|query", "desc": "desc|description", "narr": "narr|narrative"}
_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&#10;", "\n"), ("&#13;", "\r"), ("&#32;", " "))


def line_query(kind: File, paths: list[str], rest: str, goes_on: bool = False) -> str:
    """A query of the records of such files; ``rest`` are further columns of it. ``goes_on``: there are line breaks in
    cells."""
    listed = ", ".join(map(sql_text, paths))
    if goes_on:
        return _cells_of_csv(kind, listed, rest)
    lines = _LINES.format(paths=listed, skip=int(kind.columns.header))
    return _elements(kind, lines, rest) if kind.container == "tagged" else _cells(kind, lines, rest)


def _cells(kind: File, lines: str, rest: str) -> str:
    separator = kind.columns.separator
    cut = f"string_split(line, {sql_text(separator)})" if separator else r"regexp_split_to_array(trim(line), '\s+')"
    columns = [_cell(f, i + 1, kind.columns.quoted) for i, f in enumerate(kind.record.fields)]
    rows = f"select {cut} as cells, filename from {lines} where trim(line) != ''"
    return f"select {', '.join(columns)}, {rest} from ({rows})"


def _cells_of_csv(kind: File, listed: str, rest: str) -> str:
    names = [f"cell{i}" for i, _ in enumerate(kind.record.fields)]
    types = ", ".join(f"{sql_text(name)}: 'VARCHAR'" for name in names)
    separator, skip = sql_text(kind.columns.separator), int(kind.columns.header)
    rows = _CELLS.format(paths=listed, columns=types, separator=separator, skip=skip)
    texts = [rf"regexp_replace({name}, '\r\n?', chr(10), 'g')" for name in names]
    columns = [_typed(field, text) for field, text in zip(kind.record.fields, texts, strict=True)]
    return f"select {', '.join(columns)}, {rest} from {rows} where trim(concat({', '.join(names)})) != ''"


def _cell(field: Field, place: int, quoted: bool) -> str:
    cell = f"cells[{place}]"
    if quoted:
        inner = f"replace({cell}[2:-2], '\"\"', '\"')"
        cell = f"case when {cell} like '\"%\"' and length({cell}) > 1 then {inner} else {cell} end"
    return _typed(field, cell)


def _typed(field: Field, cell: str) -> str:
    if field.type in _TYPES:
        cell = f"try_cast({cell} as {_TYPES[field.type]})"
    return f"{cell} as {sql_name(field.name)}"


def _elements(kind: File, lines: str, rest: str) -> str:
    """An element begins on a line with its opening tag, and continues to the next."""
    tags = "|".join(kind.tags)
    begins = rf"regexp_matches(line, '(?i)<({tags})(\s[^<>]*)?>')"
    numbered = f"select line, filename, row_number() over () as place from {lines}"
    groups = (
        f"select *, count(*) filter ({begins}) over (partition by filename order by place) as number from ({numbered})"
    )
    joined = (
        f"select filename, number, string_agg(line, chr(10) order by place) as element from ({groups}) "
        "where number > 0 group by filename, number order by filename, number"
    )
    columns = [_content(f, kind.tags, i == 0) for i, f in enumerate(kind.record.fields)]
    return f"select {', '.join(columns)}, {rest} from ({joined})"


def _content(field: Field, tags: tuple[str, ...], is_key: bool) -> str:
    names = _SAME.get(field.name, field.name)
    ends = (rf"</({names})\s*>", r"(<[a-z/]|$)")  # closed, or not
    found = [rf"nullif(regexp_extract(element, '(?is)<({names})(\s[^<>]*)?>(.*?){end}', 3), '')" for end in ends]
    content = f"coalesce({', '.join(found)})"
    if is_key:
        attribute = rf"(?i)<({'|'.join(tags)})\s[^<>]*(number|num|id)=.([^<>]*?).(\s|>)"
        content = f"coalesce({content}, nullif(regexp_extract(element, '{attribute}', 3), ''))"
    content = (
        rf"trim(regexp_replace({content}, '^\s*(Number|Description|Narrative):', ''), chr(32) || chr(10) || chr(9))"
    )
    for entity, character in (*_ENTITIES, ("&amp;", "&")):
        content = f"replace({content}, {sql_text(entity)}, {sql_text(character)})"
    return f"{content} as {sql_name(field.name)}"
