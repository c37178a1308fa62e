"""The words in which a format is declared: rules, fields, records, files, keys, references, layouts.

Everything here is data. The checks, the JSON Schemas, the docs pages, the DuckDB views and the fault injector of the
test suite are derived from it; only what these words cannot say is code in ``validators/<format>/``. A long module,
because whoever declares a format wants all the words in one place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import InitVar, field
from importlib import import_module
from operator import attrgetter
from typing import Any, Literal, get_args

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.errors import UnknownNameError
from ragdatakit.schemas.findings import SEVERITIES, Severity
from ragdatakit.schemas.fixes import Applicability, declared_fixes

Damage = Literal[
    "syntax",  # the line or element is not JSON
    "blank",  # a blank line between records
    "not-object",  # JSON, but not an object (or not what the record is)
    "array",  # ... but an array (else as not-object)
    "duplicate-key",  # one object has a key twice
    "non-finite",  # NaN or Infinity, which JSON does not have
    "surrogate",  # an unpaired surrogate escape: not Unicode text
    "unread-surrogate",  # ... outside the texts that are declared, where it is another fault
    "extra",  # a field that the record does not have
    "missing",  # a required field is not there
    "null",  # null where a value is needed
    "type",  # a value of another type
    "range",  # a number outside minimum..maximum
    "enum",  # a value outside the allowed ones
    "empty",  # a string, list or object with nothing in it
    "item-type",  # a list item or object value of another type
    "no-records",  # the file holds no record at all
    "top-level",  # a JSON file whose top level is not an array
    "top-level-string",  # ... but a string (else as top-level)
    "top-level-lines",  # ... but JSON Lines (else as syntax)
    "unwrapped",  # an object without the member that holds the records
    "wrapped-null",  # ... whose member is null (else as top-level)
    "repeated-wrapper",  # ... that has such a member more than once: only the first is read here
    "item-range",  # a list item or object value outside minimum..maximum
    "no-header",  # a CSV file without a line; in a file of columns, a first line that is not a header
    "odd-header",  # in a file of columns, a header that names others
    "missing-column",  # a CSV header without a required column
    "long-row",  # a CSV row with more cells than the rows before
    "short-row",  # a CSV row without a declared column
    "cut-off",  # a key column that a short CSV row lacks, beside "short-row"
    "shifted",  # the first row of a CSV file is longer than its header: pandas shifts all columns
    "unclosed-quote",  # a quote in a CSV file that is not closed
    "nul",  # a NUL in a CSV cell
]

Type = Literal["integer", "number", "string", "boolean", "object", "array", "any"]

_TYPES = frozenset(get_args(Type))
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1


def names_rule(selector: str, code: str, name: str) -> bool:
    """Whether a selector is the name of a rule, its code, or the beginning of that."""
    return selector == name or code.startswith(selector.upper())


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One bad state: how to call it, how bad it is, what the framework makes of it, what to do.

    It begins with its ``head``, which is code, name and severity: ``Rule("SP201 dangling-qid error", …)``, with
    ``per-file`` behind them where ``per_file`` holds. ``code`` is two letters of the format and three digits; ``name``
    the bad state in kebab-case. ``message`` is a template that the facts of a finding fill; the consequence in
    ``upstream`` is appended to it. ``upstream`` is one text, or one per profile where loaders differ: then the rule
    applies only to the profiles named. ``cases`` has the consequence of findings whose fact ``case`` is its name, where
    it is not the same for all.
    ``bad`` and ``good`` are examples for the docs. ``per_file``: reported once per file, with the number of records
    (not where ``counted`` is false) and the numbers of some (not where ``numbered`` is false: where sound records have
    it, too, and are only counted). ``severities``: by profile where it differs from ``severity``, under ``""`` what
    holds where no profile was chosen; of several chosen profiles the worst counts. ``follows``: it is mostly the
    consequence of other findings of its file, and is reported after them. ``keeps_last``: of the records that are at
    fault together the framework takes the last one. ``since`` is the version that had it first. A
    ``preview`` rule may still change; a ``deprecated`` one is reported no more, its code is never used again, and
    ``replaced_by`` is the code of the rule that has taken its place, if any.
    ``fix``: what ``--fix`` does about it, as ``safe: drop the byte-order mark``; several where it depends on the case
    (see `Fix`). ``reveals``: the other rules, by their names or the beginnings of their codes, that may be broken then,
    as the fault has hidden that they are.
    """

    head: InitVar[str] = field(default="", kw_only=False)
    code: str = ""
    name: str = ""
    severity: Severity = "error"
    summary: str
    message: str
    upstream: str | Mapping[str, str]
    hint: str
    bad: str = ""
    good: str = ""
    source: str = ""
    per_file: bool = False
    counted: bool = True
    numbered: bool = True
    severities: Mapping[str, Severity] = field(default_factory=dict)
    follows: bool = False
    keeps_last: bool = False
    since: str = "0.1.0"
    status: RuleStatus = "stable"
    replaced_by: str = ""
    cases: Mapping[str, str] = field(default_factory=dict)
    fix: str | tuple[str, ...] = ""
    reveals: tuple[str, ...] = ()

    def __post_init__(self, head: str) -> None:
        if head:
            known = head.removesuffix(" per-file")
            for word, value in zip(("code", "name", "severity"), known.split(" "), strict=True):
                object.__setattr__(self, word, value)
            if known != head:
                object.__setattr__(self, "per_file", True)
        if not (self.code and self.name and self.severity in SEVERITIES):
            raise ValueError(f"a rule begins with its code, name and severity, not with {head!r}")
        declared_fixes(self.fix)

    def may_reveal(self, other: Rule) -> bool:
        """Whether a fault of another rule may have been hidden by one of this."""
        return other.code != self.code and any(names_rule(each, other.code, other.name) for each in self.reveals)

    @property
    def fixes(self) -> Mapping[Applicability, str]:
        """What its fixes do, by how far they can be trusted."""
        return declared_fixes(self.fix)

    def applies(self, profiles: tuple[str, ...]) -> bool:
        """Whether any of the chosen profiles is broken by this state."""
        return isinstance(self.upstream, str) or not profiles or any(p in self.upstream for p in profiles)

    def severity_for(self, profiles: tuple[str, ...] = ()) -> Severity:
        """How bad it is for the chosen profiles, or where none was chosen."""
        if not profiles:
            return self.severities.get("", self.severity)
        concerned = [p for p in profiles if isinstance(self.upstream, str) or p in self.upstream]
        levels = [self.severities.get(p, self.severity) for p in concerned or profiles]
        return min(levels, key=SEVERITIES.index)

    def severity_words(self) -> str:
        """How bad it is, in words: ``error, or warning where no profile is chosen``."""
        others = [(profile, level) for profile, level in self.severities.items() if level != self.severity]
        of_profiles = [
            f"{level} for {profile}" if profile else f"{level} where no profile is chosen" for profile, level in others
        ]
        return ", or ".join([self.severity, *of_profiles])

    def consequence(self, profiles: tuple[str, ...] = ()) -> str:
        """What the framework does, in one clause, for the chosen profiles."""
        if isinstance(self.upstream, str):
            return self.upstream
        chosen: dict[str, list[str]] = {}
        for profile, text in self.upstream.items():
            if not profiles or profile in profiles:
                chosen.setdefault(text, []).append(profile)
        return "; ".join(f"{' and '.join(those)}: {text}" for text, those in chosen.items())


ELSEWHERE: Mapping[str, tuple[str, ...]] = {
    "query id": ("query_id", "question_id", "query-id", "qid", "_id", "id"),
    "document id": (
        "doc_id",
        "docid",
        "document_id",
        "corpus_id",
        "corpus-id",
        "passage_id",
        "docno",
        "pid",
        "_id",
        "id",
    ),
    "positive id": ("positive_id", "pos_id", "pos_pid", "positive"),
    "negative id": ("negative_id", "neg_id", "neg_pid", "negative"),
    "text": ("text", "contents", "content", "passage", "body", "page_content", "chunk"),
    "question": ("question", "query", "text", "user_input"),
    "title": ("title", "name", "headline"),
}
"""By what many formats have a field for: what tools call it, in small letters (see `Field`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of a record.

    It begins with its ``head``, name and type as TypeScript writes them, and its description:
    ``Field("ids: integer[]", "The ids.")`` is a list, ``Field("title?: string | null", …)`` may be missing or null.
    ``items`` is the type of list items, ``values`` the type of an object's values; ``minimum``/``maximum`` bound
    the number or, for lists and objects, their items. ``lax_number``: numeric strings and booleans pass as numbers,
    as pydantic reads them. In a CSV file, ``inferred``: the loader's look-ups see the cell as pandas' type inference
    left it (the key column ``@<name>`` holds it so), and a column that ``replaces`` another is used instead of it where
    it is there (``@key`` is the one that is used). ``elsewhere`` is what other tools call it, in small letters: one of
    these seems to be meant where it is missing. ``rules`` maps a kind of damage to the name of the rule it breaks,
    before the record's own map; a damage mapped to ``""`` is not a fault here.
    """

    head: InitVar[str] = field(default="", kw_only=False)
    description: str = field(default="", kw_only=False)
    name: str = ""
    type: Type = "any"
    required: bool = True
    nullable: bool = False
    items: Type | None = None
    values: Type | None = None
    minimum: int | float | None = None
    maximum: int | float | None = None
    enum: tuple[str, ...] = ()
    non_empty: bool = False
    lax_number: bool = False
    inferred: bool = False
    replaces: str = ""
    elsewhere: tuple[str, ...] = ()
    examples: tuple[Any, ...] = ()
    rules: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self, head: str) -> None:
        if head:
            called, _, kind = head.partition(": ")
            name, some = called.removesuffix("?"), kind.removesuffix(" | null")
            one = some.removesuffix("[]")
            if one not in _TYPES or not name or "?" in name or ":" in name:
                raise ValueError(f"a field begins with its name and type, as 'title?: string', not with {head!r}")
            known = {"name": name, "required": name == called, "nullable": some != kind}
            array = some != one
            for word, value in {**known, "type": "array" if array else one, "items": one if array else None}.items():
                object.__setattr__(self, word, value)
        if not self.name:
            raise ValueError("a field without a name")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What one line of a file (or one element of an array) is.

    ``shape`` ``"object"`` has ``fields``; ``"string"`` and ``"any"`` have none. ``extra`` says whether further fields
    are a fault. ``ordered``: some reader goes by the order of the fields. ``rules`` maps kinds of damage to rule names;
    a damage that is not named here nor in the field is no fault.
    """

    name: str
    title: str
    description: str
    fields: tuple[Field, ...] = ()
    shape: Literal["object", "string", "any"] = "object"
    pattern: str = ""
    extra: Literal["forbid", "ignore"] = "ignore"
    ordered: bool = False
    rules: Mapping[str, str] = field(default_factory=dict)
    examples: tuple[Any, ...] = ()

    def field(self, name: str) -> Field:
        """The field of that name."""
        for f in self.fields:
            if f.name == name:
                return f
        raise KeyError(name)

    def rule_for(self, damage: str, name: str | None = None) -> str:
        """The name of the rule that this damage breaks; ``""`` where it is no fault."""
        if name is not None:
            for f in self.fields:
                if f.name == name and damage in f.rules:
                    return f.rules[damage]
        return self.rules.get(damage, "")


RuleStatus = Literal["stable", "preview", "deprecated"]
Container = Literal[
    "ndjson",
    "json-array",
    "json-object",
    "json-wrapped",
    "json",
    "csv",
    "columns",
    "tagged",
    "text",
    "streamed",
    "table",
    "opaque",
]
_CONTAINERS = frozenset(get_args(Container))


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """How the lines of a ``columns`` file are cut into the fields of its record.

    ``separator`` is between two cells; ``""``: any number of blanks. ``quoted``: quote marks around a cell are
    taken off, as Python's csv reader does it. ``header``: the first line is passed over, whatever it is. A line that
    begins with ``comment`` is no record. ``further``: the reader passes over cells after the last column.
    """

    separator: str = ""
    quoted: bool = False
    header: bool = False
    comment: str = ""
    further: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A kind of file: which records it holds, in which container, how to know it by its content.

    It begins with its ``head``, which is kind and container: ``File("raw-questions: ndjson", …)``. Without a
    ``title`` it has its kind in words, as "Raw questions".

    ``json-object`` is one JSON object each of whose members is a record: the first field of the record is the
    member's name, the second its value. ``json-wrapped`` is one JSON object in a member of which is the array of
    the records; ``wrapper`` names that member, the usual name first. ``json`` is a JSON array, JSON lines or one JSON
    object, as the content shows. ``csv`` has a header. ``columns`` are lines of cells, cut as ``columns`` says; a cell
    of a field that is an integer or a number is one where Python reads it as one, else it is text. ``tagged`` are
    elements between tags such as ``<doc>`` and ``</doc>``, one of ``tags``, as TREC writes them; a record's fields are
    the elements in it. A ``text`` file is given whole to the format's own checks, a ``streamed`` one piece
    by piece. A ``table`` is a Parquet file, or a CSV file with the same columns, which the format's own checks read; it
    has a record for each row. An ``opaque`` file is never opened by the engine.

    ``records`` are the shapes an element may have (several where the framework takes more than one; the first
    element decides). ``keys``: field names which, found in the first record of a lone file, say that it is of this
    kind; ``without`` are names that tell it is not; ``signs`` are groups of names any of which says so, too
    (in a text: keys at the beginning of a line, as YAML has them).
    ``suffixes`` are the endings the framework accepts. ``instead_of``: files of this kind have the same names as those
    of another one, whose records are elements of an array; here they are the members of an object. ``prose`` is any
    text for people, of which a page of HTML may be one. A file that nothing else tells is known by its first bytes
    where it is declared what it ``begins`` with (one of these) and what its beginning ``holds`` (all of these).
    """

    head: InitVar[str] = field(default="", kw_only=False)
    kind: str = ""
    title: str = ""
    container: Container = "opaque"
    description: str = ""
    records: tuple[Record, ...] = ()
    suffixes: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    signs: tuple[tuple[str, ...], ...] = ()
    shards: bool = False
    columns: Columns = Columns()
    tags: tuple[str, ...] = ()
    wrapper: tuple[str, ...] = ()
    begins: tuple[bytes, ...] = ()
    holds: tuple[bytes, ...] = ()
    instead_of: str = ""
    prose: bool = False

    def __post_init__(self, head: str) -> None:
        if head:
            kind, _, container = head.partition(": ")
            object.__setattr__(self, "kind", kind)
            object.__setattr__(self, "container", container)
        if not self.kind or self.container not in _CONTAINERS:
            raise ValueError(f"a file begins with its kind and container, as 'queries: ndjson', not with {head!r}")
        if not self.title:
            object.__setattr__(self, "title", self.kind.replace("-", " ").capitalize())

    @property
    def record(self) -> Record:
        """The one record of this kind (the documented one, where there are several)."""
        return self.records[0]

    @property
    def quoted_columns(self) -> int:
        """How many cells a line has at least where they may be between quote marks; else 0."""
        return len(self.record.fields) if self.columns.quoted else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """``fields`` of ``kind`` are unique over all its files (of one split); else ``rule``.

    ``within_file``: the fields that identify a record in its file, where ``fields`` also say in which file it is. The
    first key of a kind identifies its records in findings.
    """

    kind: str
    fields: tuple[str, ...]
    rule: str
    within_file: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """Every value of ``field`` (its items, where it is a list) of ``kind`` is ``to_field`` of some ``to_kind``."""

    kind: str
    field: str
    to_kind: str
    to_field: str
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Every ``field`` of ``kind`` is named by some record of ``by`` (pairs of kind and field).

    Reported at the record that is not covered. Not checked where none of the covering kinds has a file.
    ``splits`` limits it to splits of that name.
    """

    kind: str
    field: str
    by: tuple[tuple[str, str], ...]
    rule: str
    splits: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """The pair ``fields`` of ``kind`` is (``within``) or is not among the pairs ``to_fields`` of
    ``to_kind``.

    ``to_fields`` may end in a list field, whose every item makes a pair. Where ``within`` is false, a second value
    equal to the field ``same_as`` of the same record breaks the rule, too.
    """

    kind: str
    fields: tuple[str, str]
    to_kind: str
    to_fields: tuple[str, str]
    within: bool
    rule: str
    same_as: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Consistency:
    """One name has one value: every two records that name the same thing give it the same ``values`` (or none).

    ``names`` are pairs of (field with the name, field with the value), for example a triple's
    ``("subject", "subject_type")`` and ``("object", "object_type")``: both name entities. ``default`` stands for a
    missing value. Reported at the first record that disagrees with an earlier one.
    """

    kind: str
    names: tuple[tuple[str, str], ...]
    rule: str
    default: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Variants:
    """Names in ``fields`` of ``kind`` that differ in spelling only (case, Unicode form, surrounding or quote marks).

    Reported at the first record that uses the later spelling.
    """

    kind: str
    fields: tuple[str, ...]
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Disjoint:
    """No value of ``field`` of ``kind`` is in two splits; reported in the later split."""

    kind: str
    field: str
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How the files of a dataset lie below its folder.

    ``files`` maps patterns relative to the folder (``*`` within one level; a pattern that ends in ``/`` is a folder of
    shards) to kinds. A folder is such a dataset if every group of ``signature`` has a pattern that matches. ``splits``
    gives the split of what is below a prefix; in place of a split that is ``*`` comes what stands for the ``*`` of the
    prefix. ``sniff``: the names alone prove nothing, the first record of a matching file must look like its kind, too.
    ``requires`` are kinds that every split must have. ``sniffed`` maps patterns of files that may belong to the dataset
    to what they usually are; what each one is, its first records show, against all formats. Where a layout has such
    patterns, a folder with none of them is no dataset; one without a signature also is one where the content of any of
    its ``files`` is the format's. From there on a name in ``files`` decides: such a file is of that kind, whatever is
    in it. ``companions`` maps such a pattern to the name of another file with the same ``*``: next to that one a file
    is what its pattern says, whatever its first records are. ``endings`` maps endings, in any case, to kinds: files
    that end so belong to the dataset at any depth, except for those below the folders in ``apart``. ``place`` is how
    the path of the folder must end, as ``data/profiles/*``, where the names of files prove nothing. ``bare`` is what
    files without an ending in their names may be, if their first bytes say so. Layouts of one name are alternatives:
    the first that fits is taken.
    """

    name: str
    files: Mapping[str, str]
    signature: tuple[tuple[str, ...], ...]
    splits: Mapping[str, str] = field(default_factory=dict)
    requires: tuple[str, ...] = ()
    sniff: bool = False
    sniffed: Mapping[str, str] = field(default_factory=dict)
    companions: Mapping[str, str] = field(default_factory=dict)
    endings: Mapping[str, str] = field(default_factory=dict)
    apart: tuple[str, ...] = ()
    place: str = ""
    bare: str = ""
    description: str = ""

    def split_of(self, name: str) -> str | None:
        """The split of a file, by its path below the folder; None where it is of none."""
        for prefix, split in self.splits.items():
            if split != "*" and name.startswith(prefix):
                return split
            if split == "*" and (found := re.match("([^/]*)".join(map(re.escape, prefix.split("*"))), name)):
                return found[1]
        return None

    @property
    def patterns(self) -> Mapping[str, str]:
        """All patterns of names, with the kinds that they mean."""
        return {**self.files, **self.sniffed}

    @property
    def loose(self) -> Mapping[str, str]:
        """The endings as patterns, for people to read."""
        return {f"**/*{ending}": kind for ending, kind in self.endings.items()}


@dataclass(frozen=True, slots=True)
class Adopted:
    """What a shared rule means for one format: its severity there (None: not a fault) and the consequence."""

    severity: Severity | None
    upstream: str | Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigFile:
    """A configuration file that may be given in place of a dataset, and names the files of one.

    ``suffixes`` are its endings; ``reader`` is the function, as ``module:function``, that takes its path, the format
    and the boundary, and gives the dataset. It is imported only where there is such a file.
    """

    suffixes: tuple[str, ...]
    reader: str


class late_rules(Sequence[Rule]):  # noqa: N801 - called like a function
    """The rules of lists in modules of a package, as ``module:NAME``, which are imported when one is asked for.

    ``by_code``: in the order of their codes, not that of the lists.
    """

    __slots__ = ("_by_code", "_found", "_package", "_places")

    def __init__(self, package: str, *places: str, by_code: bool = False) -> None:
        self._package, self._places, self._by_code = package, places, by_code
        self._found: tuple[Rule, ...] | None = None

    def _rules(self) -> tuple[Rule, ...]:
        if self._found is None:
            found: list[Rule] = []
            for module, name in (place.split(":") for place in self._places):
                found += attrgetter(name)(import_module(f"{self._package}.{module}"))
            self._found = tuple(sorted(found, key=attrgetter("code")) if self._by_code else found)
        return self._found

    def __getitem__(self, which: Any) -> Any:
        return self._rules()[which]

    def __len__(self) -> int:
        return len(self._rules())

    def __iter__(self) -> Iterator[Rule]:
        return iter(self._rules())

    def __eq__(self, other: object) -> bool:
        return self._rules() == tuple(other) if isinstance(other, late_rules | tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._rules())


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format as data: files, rules, keys, references, coverage, layouts, profiles.

    Kinds are in the order in which they are read: a reference or membership leads to a kind that comes before.
    ``profile_needs`` names the kind without which a profile does not concern a dataset; ``default_profiles`` are
    taken where the user chooses none (empty: all that concern the dataset). ``profile_words`` say in one sentence
    what a profile stands for.
    ``disjoints`` and ``agreements`` compare the splits of a dataset with each other, all else is checked within a
    split. ``example`` is a minimal valid dataset: path to content. ``config`` is the format's own configuration file,
    if it has one. ``replaces``: of records with one id the framework keeps the last.
    """

    name: str
    title: str
    letters: str
    description: str
    homepage: str
    files: tuple[File, ...]
    rules: Sequence[Rule]
    layouts: tuple[Layout, ...] = ()
    profiles: tuple[str, ...] = ()
    profile_needs: Mapping[str, str] = field(default_factory=dict)
    default_profiles: tuple[str, ...] = ()
    profile_words: Mapping[str, str] = field(default_factory=dict)
    keys: tuple[Key, ...] = ()
    references: tuple[Reference, ...] = ()
    coverages: tuple[Coverage, ...] = ()
    memberships: tuple[Membership, ...] = ()
    consistencies: tuple[Consistency, ...] = ()
    variants: tuple[Variants, ...] = ()
    disjoints: tuple[Disjoint, ...] = ()
    agreements: tuple[Consistency, ...] = ()
    adopts: Mapping[str, Adopted] = field(default_factory=dict)
    example: Mapping[str, str] = field(default_factory=dict)
    config: ConfigFile | None = None
    replaces: bool = False

    def __post_init__(self) -> None:
        order = [f.kind for f in self.files]
        pairs = [(r.kind, r.to_kind) for r in self.references] + [(m.kind, m.to_kind) for m in self.memberships]
        for kind, to_kind in pairs:
            if order.index(to_kind) >= order.index(kind):
                raise ValueError(f"{self.name}: {kind} refers to {to_kind}, which must come before it")

    def file(self, kind: str) -> File:
        """The file kind of that name; raises `UnknownNameError`."""
        for f in self.files:
            if f.kind == kind:
                return f
        raise UnknownNameError("file kind", kind, [f.kind for f in self.files], where=f"of {self.name}")

    def rule(self, name: str) -> Rule:
        """The rule of that name or code; raises `UnknownNameError`."""
        for r in self.rules:
            if name in (r.name, r.code):
                return r
        raise UnknownNameError("rule", name, [r.name for r in self.rules], where=f"of {self.name}")
