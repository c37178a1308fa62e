"""The JSON of attributes by SQL: cells are Python literals, of which those that are written as JSON except for blanks,
or have one text, are worded by patterns; all others Python words.
"""

from __future__ import annotations


def _plain(quote: str, barred: str) -> str:
    """A pattern of dictionaries of texts, lists of texts and short numbers, written as Python and JSON usually do."""

    def character(but: str) -> str:
        return rf"(?:[^{barred}\\\x00-\x1f{but}]|\\[nt])"

    text = rf"{quote}(?:{character(' :')}|{character(':')}{character('')}*{character(' ')})?{quote}"
    # decimals as Python writes them: of another one it makes that
    decimal = r"-?(?:0|[1-9][0-9]{0,4})\.(?:0|0{0,3}[1-9](?:[0-9]{0,5}[1-9])?)"
    number = rf"0|-?[1-9][0-9]{{0,14}}|{decimal}"
    value = rf"(?:{text}|{number}|\[{text}(?:, {text})*\])"
    return rf"\{{{text}: {value}(?:, {text}: {value})*\}}".replace("'", "''")


_ONE_TEXT = r"""\{''[^''"\\\x00-\x1f]*'': "(?:[^"\\\x00-\x1f]|\\[nt])*"\}"""
_ITS_NAME = r"""^\{''([^'']*)'': """
_INSIDE = r"(?:[^''\\\x00-\x1f]|\\[nt])*"
_QUOTING = rf"""\{{''[^''"\\\x00-\x1f]*'': ''{_INSIDE}"{_INSIDE}''\}}"""
_ITS_OTHER_PARTS = r"""^\{''([^'']*)'': ''(.*)''\}$"""
_DOUBLE = "replace(cell, chr(39), chr(34))"
AS_JSON = rf"""
case
    when contains(cell, '"') and regexp_full_match(cell, '{_ONE_TEXT}')
    then regexp_replace(cell, '{_ITS_NAME}', '{{"\1":')
    when contains(cell, '"') and regexp_full_match(cell, '{_QUOTING}')
    then '{{"' || regexp_extract(cell, '{_ITS_OTHER_PARTS}', 1, 's') || '":"'
        || replace(regexp_extract(cell, '{_ITS_OTHER_PARTS}', 2, 's'), '"', '\"') || '"}}'
    when starts_with(cell, '{{''') and regexp_full_match(cell, '{_plain("'", "'" + chr(34))}')
        and len(list_distinct(json_keys({_DOUBLE}))) = len(json_keys({_DOUBLE}))
    then replace(replace({_DOUBLE}, '": ', '":'), ', "', ',"')
    when starts_with(cell, '{{"') and regexp_full_match(cell, '{_plain(chr(34), chr(34))}')
        and len(list_distinct(json_keys(cell))) = len(json_keys(cell))
    then replace(replace(cell, '": ', '":'), ', "', ',"')
end
"""
"""The JSON of a cell of one text that has quotes of one kind, or of that pattern, where leaving out the blanks between
its parts is all there is to do. No string in it begins with a colon or ends with a blank, which could be taken for
those between them. NULL where the cell is another."""
