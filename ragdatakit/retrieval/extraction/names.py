"""Names in texts, found without a model: what is written with capitals, years, quotes, identifiers, CJK runs.

What it is: a heuristic over spelling, the same on every machine. Capitalised words next to each other are one name,
also across words such as "of" and "von". It knows no parts of speech: a word that only begins a sentence is a name
unless it is a common one, and names in lower case are not seen. In scripts without case, names are runs of katakana and
runs of Han characters (in Chinese, cut at particles); Hangul, Arabic, Hebrew, Thai and the scripts of India give
titles, quotes, years and Latin names only.

`NameCounter` then keeps what can connect passages: names of at least two passages, and titles.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Container, Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ragdatakit.quick_values import NamedTuple
from ragdatakit.schemas.texts import text_hash

if TYPE_CHECKING:
    import numpy.typing as npt

VERSION = 1
"""Of the rules: part of what an index of names is known by."""
LONGEST = 120
"""Characters of a name; what is longer is none."""
_MOST_WORDS = 8
_LONGEST_SENTENCE = 200
"""Characters of a sentence that are shown before a name, and so many behind it."""
_YEAR_DIGITS = 4

_COMMON = frozenset(
    """
    a about above across after again against all almost also although always among an and another any are around as at
    be because been before behind being below beneath beside besides between beyond both but by can cannot could did do
    does during each early either every everyone everything few finally first following for former from further had has
    have having he hence her here hers his how however i if in indeed initially inside instead into is it its itself
    just last late later least let like many may maybe me meanwhile might more moreover most much must my near neither
    never nevertheless next no nobody none nor not nothing notably now of off often on once one only onto or originally
    other others otherwise our out over overall part per perhaps please previously rather recently second see several
    shall she should similarly since so some someone something sometimes soon still subsequently such than that the
    their them then there thereafter therefore these they third this those though three through throughout thus to
    today together too toward towards two under unlike until up upon us usually very was we well were what whatever when
    whenever where whereas whether which while who whoever whom whose why will with within without would yes yet you
    your four five six seven eight nine ten mr mrs ms dr prof
    january february march april may june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday
    der die das den dem des ein eine einer im in zu und er sie es nach bei mit auf als von
    le la les un une des il elle ils elles en dans sur avec pour par au aux du ce cette
    el los las una en del al por con para su
    """.split()
)
"""Words that are no name by themselves and do not begin one where they begin a sentence."""
_JOINING = (
    "of|the|de|del|della|delle|dei|degli|der|den|des|di|da|das|do|dos|du|d|la|le|les|las|los|el|al|ul|e|y|von|van|vom|"
    "zu|zum|zur|und|bin|ibn|ben|af|av|och|og|ter|ten|te|upon"
)
_TITLES = "Dr|Mr|Mrs|Ms|St|Ste|Prof|Gen|Col|Lt|Sgt|Capt|Cmdr|Maj|Rev|Hon|Mt|Ft|Sen|Gov|Rep|Pres|Jr|Sr|Bros|No|Op|Vol"
_STOPS_INITIAL = "The|In|On|At|He|She|It|His|Her|Its|They|This|That|These|Those|As|After|When|While|For|From|By|An?"

_ENDS = re.compile(r"[.!?…][\"'”’»)\]]*\s|[。\uff01\uff1f\n]")
_OPENING = frozenset("\"'“\u2018«„([*•#|>-\u2013\u2014")
_ENDING = frozenset(".!?…。\uff01\uff1f\n\r")
_NOT_WORD = re.compile(r"[\W_]+")
_ARTICLE = re.compile(r"(?:the|an?) (?=\S)")
_POSSESSIVE = re.compile(r"['’]s?$")
_OWNED = re.compile(r"['’]s? ")
_BRACKET = re.compile(r"\s*[(\uff08\[][^()\uff08\uff09\[\]]*[)\uff09\]]\s*$")
_QUOTED = re.compile(
    r"(?<!\w)\"([^\W_][^\"\n]{1,80})\"(?!\w)|“([^”\n]{2,80})”|«\s*([^»\n]{2,80}?)\s*»|„([^“”\n]{2,80})[“”]"
    r"|「([^」\n]{2,40})」|『([^』\n]{2,40})』|《([^》\n]{2,40})》"
)
_QUOTES = re.compile('["“«„「『《]')
_IDENTIFIER = re.compile(
    r"(?<!\w)(?:[a-z]+[A-Z][A-Za-z0-9]*|[A-Za-z][A-Za-z0-9]{0,60}(?:_[A-Za-z0-9]{1,60})+|[a-z]+\d+[a-z0-9]*)(?!\w)"
)
_MAY_BE_IDENTIFIER = re.compile("[a-z][A-Z0-9]|_")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f]")
_KANA = re.compile("[\u3041-\u3096]")
_KATAKANA_RUN = re.compile("[\u30a1-\u30fa\uff66-\uff9f][\u30a1-\u30fa\u30fb\u30fc\uff66-\uff9f]+")
_HAN_RUN = re.compile("[\u3005\u3400-\u9fff\uf900-\ufaff]{2,12}")
_PARTICLES = re.compile("(?<!共)和|[的了是在与與也就被把这這那]")


class Mention(NamedTuple):
    """A name as it is in a text, from ``start`` (0-based, in characters)."""

    start: int
    name: str


def extract_names(title: str | None, text: str) -> list[str]:
    """The names of a passage, each spelling once: those of its title, then as they come in its text.

    A title gives itself, and itself without the bracket at its end. Possessive endings are left out.
    """
    found = dict.fromkeys(title_names(title))
    found.update((mention.name, None) for mention in mentions(text))
    return list(found)


def names_by_sentence(title: str | None, text: str) -> list[list[str]]:
    """The same names by sentence, those of the title first (an empty list where there is none).

    A sentence ends where a full stop, a question mark or an exclamation mark is followed by a blank, and at the end of
    a line. Names repeat where they are in several sentences; sentences without names are left out.
    """
    return [title_names(title), *(names for names, _, _ in named_sentences(text))]


def named_sentences(text: str) -> Iterator[tuple[list[str], int, int]]:
    """The names of each sentence that has some, with where the first begins and the last ends."""
    names: dict[str, None] = {}
    begin = end = 0
    for start, name in mentions(text):
        if names and _ENDS.search(text, end, start) is not None:
            yield list(names), begin, end
            names = {}
        begin = begin if names else start
        names[name] = None
        end = start + len(name)
    if names:
        yield list(names), begin, end


def sentence_around(text: str, begin: int, end: int) -> str:
    """The sentence that has a part of a text, on one line, shortened where it is long."""
    first = max(0, begin - _LONGEST_SENTENCE)
    starts = [m.end() for m in _ENDS.finditer(text, first, begin)]
    stop = _ENDS.search(text, end, end + _LONGEST_SENTENCE)
    found = text[starts[-1] if starts else first : stop.end() if stop is not None else end + _LONGEST_SENTENCE]
    return " ".join("".join(c if c.isprintable() else " " for c in found).split())[: 2 * _LONGEST_SENTENCE]


def title_names(title: str | None) -> list[str]:
    """What a title names: itself, and itself without the bracket at its end ("Ulm (film)")."""
    if not title:
        return []
    whole = _clean(title)
    if not whole:
        return []
    bare = _BRACKET.sub("", whole)
    return [whole, bare] if bare and bare != whole else [whole]


def name_key(name: str) -> str:
    """What spellings of one name have in common: small letters, without punctuation, article and possessive ending.

    A name of nothing but punctuation is its own key.
    """
    if not name.isascii():
        name = unicodedata.normalize("NFKC", name)
    name = _POSSESSIVE.sub("", name)
    key = _NOT_WORD.sub(" ", name.casefold()).strip()
    return _ARTICLE.sub("", key, count=1) if key[:1] in ("t", "a") and _ARTICLE.match(key) else key or name.strip()


def known_key(key: str, known: Container[str]) -> str | None:
    """The key of a name that is known: its own, or its longest end of two words or more ("emperor lothair i")."""
    if key in known:
        return key
    while key.count(" ") > 1:
        key = key.partition(" ")[2]
        if key in known:
            return key
    return None


def stands_as_name(text: str, key: str) -> bool:
    """Whether a name, given by its key, is in a text written as one: not in small letters only."""
    pattern = r"[\W_]+".join(map(re.escape, key.split(" ")))
    text = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return any(not m[0].islower() for m in re.finditer(rf"(?<!\w){pattern}|{pattern}(?!\w)", text, re.IGNORECASE))


def mentions(text: str) -> list[Mention]:
    """All names in a text in their order; a quote may hold further ones."""
    found = list(_spans(text))
    number = len(found)
    if _QUOTES.search(text):
        found += _quoted(text)
    if _MAY_BE_IDENTIFIER.search(text):
        found += (Mention(m.start(), m[0]) for m in _IDENTIFIER.finditer(text))
    if not text.isascii() and _CJK.search(text):
        found += _runs(text)
    if len(found) > number:
        found.sort(key=lambda mention: mention.start)
    return found


def _spans(text: str) -> Iterator[Mention]:
    """Years, and capitalised words that are together; without what only begins the sentence."""
    for match in _pattern(text.isascii()).finditer(text):
        name, start = match[0], match.start()
        if name[0].isdigit():
            yield Mention(start, name)
            continue
        if _begins_sentence(text, start):
            rest = _without_common(name)
            start += len(name) - len(rest)
            name = rest
        name = _POSSESSIVE.sub("", name)
        if not 1 < len(name) <= LONGEST:
            continue
        if _is_common(name):
            year = name[-_YEAR_DIGITS:]
            if year.isdigit() and 1000 <= int(year) < 2100:  # "May 1990"
                yield Mention(start + len(name) - _YEAR_DIGITS, year)
            continue
        yield Mention(start, name)
        if owned := _OWNED.search(name):
            yield Mention(start, name[: owned.start()])


def _is_common(name: str) -> bool:
    """Whether a name is one common word, or a month with a number."""
    first, _, rest = name.partition(" ")
    return first.lower() in _COMMON and (not rest or rest.isdigit())


def _without_common(name: str) -> str:
    """A name without the common words that it begins with."""
    while True:
        first, blank, rest = name.partition(" ")
        if first.lower() not in _COMMON and first not in ("I", "A"):
            return name
        if not blank:
            return ""
        name = rest.lstrip()
        if name[:1].islower():  # a joining word was behind it
            while name and name[:1].islower():
                name = name.partition(" ")[2].lstrip()


def _begins_sentence(text: str, start: int) -> bool:
    place = start - 1
    while place >= 0 and (text[place].isspace() or text[place] in _OPENING):
        if text[place] == "\n":
            return True
        place -= 1
        if start - place > LONGEST:
            return True
    return place < 0 or text[place] in _ENDING


def _quoted(text: str) -> Iterator[Mention]:
    for match in _QUOTED.finditer(text):
        group = match.lastindex or 1
        name = _clean(match[group]).rstrip(".,;:!?、。")
        if 1 < len(name) <= LONGEST and name.count(" ") < _MOST_WORDS and any(c.isalpha() for c in name):
            yield Mention(match.start(group), name)


def _runs(text: str) -> Iterator[Mention]:
    """Katakana and Han: texts with hiragana are Japanese, where particles are not written in Han characters."""
    for match in _KATAKANA_RUN.finditer(text):
        name = match[0].strip("・ー") if len(match[0]) > 2 else match[0]
        if 1 < len(name) <= LONGEST:
            yield Mention(match.start(), name)
    chinese = _KANA.search(text) is None
    for match in _HAN_RUN.finditer(_PARTICLES.sub(" ", text) if chinese else text):
        yield Mention(match.start(), match[0])


def _clean(text: str) -> str:
    """On one line, without control characters; cut to the length of a name."""
    text = text[: 4 * LONGEST]
    if not text.isprintable():
        text = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(text.split())[:LONGEST].rstrip()


@cache
def _pattern(ascii_only: bool) -> re.Pattern[str]:
    """A year, or up to eight words with a capital each; between them joining words, behind them a number."""
    upper = "[A-Z]" if ascii_only else _upper_class()
    word = rf"{upper}\w*(?:['’&.\-‐–]\w+)*"  # noqa: RUF001 - the dashes are meant
    initial = rf"{upper}\.(?= ?{upper})(?! (?:{_STOPS_INITIAL})\b)"
    dotted = rf"(?:(?:{upper}\.){{2,8}}|{initial}|(?:{_TITLES})\.(?= {upper})|{word})"
    more = rf"(?!(?<=\.) (?:{_STOPS_INITIAL})\b)(?:[ \u00a0](?:(?:{_JOINING})[ '’]){{0,3}}|(?<=\.)|[ ]?&[ ]?){dotted}"
    number = r"(?:[ ]\d{1,4}(?![\w,.%]*\w))"
    return re.compile(
        rf"(?<![\w.,])(?:1\d{{3}}|20\d{{2}})(?![\w%]|[.,:]\d)"
        rf"|(?<!\w){dotted}(?:{more}){{0,{_MOST_WORDS - 1}}}{number}?",
        re.ASCII if ascii_only else 0,
    )


def _upper_class() -> str:
    """A class of all capital letters (``re`` has none)."""
    ranges: list[list[int]] = []
    for code in range(0x41, 0x1E944):
        character = chr(code)
        if (character.isupper() and character.isalpha()) or (character.istitle() and character.isalpha()):
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "[" + "".join(chr(a) if a == b else f"{chr(a)}-{chr(b)}" for a, b in ranges) + "]"


class NameCounter:
    """Counts in how many passages each name is, by the hash of its key: 8 bytes for each name of a passage."""

    def __init__(self) -> None:
        self._hashes = array("Q")
        self._titles = array("Q")

    def add(self, title: str | None, names: Iterable[str]) -> None:
        """The names of one passage, as `extract_names` gives them."""
        self._titles.extend({text_hash(name_key(name)) for name in title_names(title)})
        self._hashes.extend({text_hash(name_key(name)) for name in names})

    def kept(self, least: int = 2) -> KeptNames:
        """The names of at least ``least`` passages, and all titles."""
        hashes, counts = np.unique(_viewed(self._hashes), return_counts=True)
        return KeptNames(np.union1d(hashes[counts >= least], _viewed(self._titles)))


class KeptNames:
    """Which names were kept, asked by key."""

    def __init__(self, hashes: npt.NDArray[np.uint64]) -> None:
        self._known = hashes

    def __len__(self) -> int:
        return len(self._known)

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, str):
            return False
        wanted = np.uint64(text_hash(key))
        place = int(np.searchsorted(self._known, wanted))
        return place < len(self._known) and bool(self._known[place] == wanted)


def _viewed(numbers: array[int]) -> npt.NDArray[np.uint64]:
    return np.frombuffer(numbers, np.uint64) if numbers else np.empty(0, np.uint64)
