"""Every setting of a project, declared once: reading with its errors, the JSON Schema for editors, `ragdata config` and
the table in the docs are derived from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import InitVar, field, fields
from typing import Any, Literal, get_args

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.bounds import MODEL_NAME, OWN_CODE, TABLE_NAME
from ragdatakit.schemas.findings import SEVERITIES
from ragdatakit.schemas.options import FAIL_ON
from ragdatakit.schemas.settings.tables import MEANINGS
from ragdatakit.schemas.settings.thresholds import QualityOptions

Kind = Literal[
    "text",  # one text
    "texts",  # a text, or a list of texts
    "file",  # a path, relative to the file that the setting is in
    "globs",  # patterns of paths, relative to the same
    "within",  # the same, relative to a dataset, and not out of it
    "choice",  # one of some words
    "format",  # the name of a format
    "rules",  # codes of rules, beginnings of codes, names
    "integer",
    "share",  # a number from 0 to 1
    "flag",  # true or false
    "conditions",  # conditions under which a comparison fails
    "code",  # the code of an own rule
    "message",  # a template of a message: texts, and names in braces
    "model",  # a module of a plug-in, and a model in it
    "table",  # the name of a table of queries
    "document",  # a JSON Schema: a table, or the path of a file
    "words",  # a table of words and numbers, by names that are not known here
    "severities",  # a table: rule to severity
    "budgets",  # a table: rule to the number of findings that pass
    "ignores",  # a table: glob to rules
    "columns",  # a table: what it means to the names of columns
    "section",  # a table of settings
    "sections",  # any number of such tables
]
_KINDS = frozenset(get_args(Kind))
PATTERNS: Mapping[Kind, str] = {"code": OWN_CODE, "model": MODEL_NAME, "table": TABLE_NAME}
"""What texts of these kinds are like."""
TABLES = ("words", "severities", "budgets", "ignores", "columns", "section")
"""Kinds that are tables, of which a nearer one replaces key by key and not the whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting: ``meaning`` is a clause for the docs, ``example`` its value in TOML, ``default`` the same.

    It begins with its ``head``, which is name and kind: ``Setting("ignore: rules", meaning="not these rules")``.
    ``choices`` are the words of a choice, ``least`` and ``most`` the bounds of a number. ``within`` are the settings of
    a section.
    """

    head: InitVar[str] = field(default="", kw_only=False)
    name: str = ""
    kind: Kind = "text"
    meaning: str
    example: str = ""
    default: str = ""
    required: bool = False
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    within: tuple[Setting, ...] = ()

    def __post_init__(self, head: str) -> None:
        if head:
            for word, value in zip(("name", "kind"), head.split(": "), strict=True):
                object.__setattr__(self, word, value)
        if self.kind not in _KINDS:
            raise ValueError(f"a setting begins with its name and kind, as 'ignore: rules', not with {head!r}")

    def named(self, name: str) -> Setting | None:
        """The setting of this section that is called so."""
        return next((one for one in self.within if one.name == name), None)


def _thresholds() -> tuple[Setting, ...]:
    defaults = QualityOptions()
    return tuple(
        Setting(
            name=each.name.replace("_", "-"),
            kind="share" if each.metadata["share"] else "integer",
            meaning=each.metadata["help"],
            default=str(getattr(defaults, each.name)),
            least=0,
            most=1 if each.metadata["share"] else None,
        )
        for each in fields(QualityOptions)
    )


_OF_RULES = (
    Setting("select: rules", meaning="only these rules: codes, their beginnings (SP2) or names", example='["SP"]'),
    Setting("ignore: rules", meaning="not these rules", example='["SP209"]'),
    Setting(
        "fixable: rules",
        meaning="only findings of these rules are repaired by `--fix`",
        example='["SP1"]',
        default="all",
    ),
    Setting("unfixable: rules", meaning="findings of these rules are not repaired by `--fix`", example='["SP133"]'),
    Setting(
        "severity: severities",
        meaning="other severities of rules: error, warning or info",
        example='{ SP210 = "info" }',
        choices=SEVERITIES,
    ),
    Setting(
        "max: budgets",
        meaning="the findings of a rule that pass in each dataset; one more fails, whatever its severity",
        example="{ SP204 = 1234 }",
        least=0,
    ),
    Setting(
        "max-hops: integer",
        meaning="in graphs, how many edges the targets of a question may be away from its start nodes",
        example="4",
        default="3",
        least=1,
        most=64,
    ),
)

DATASET = Setting(
    "dataset: sections",
    meaning="settings of the datasets at a path; every section that fits counts, later ones before earlier ones",
    within=(
        Setting(
            "path: globs",
            meaning="the folder or file, or a pattern of them; several in a list",
            example='"data/splade"',
            required=True,
        ),
        Setting("format: format", meaning="the format (else it is detected)", example='"light-splade"'),
        Setting("profile: texts", meaning="check for these loaders only", example='["triplet"]'),
        Setting(
            "required: within",
            meaning="files that must be in the dataset's folder: paths or patterns, relative to it",
            example='["qrels/test.tsv"]',
        ),
        *_OF_RULES,
        Setting(
            "options: words",
            meaning="options of the format's reader, as `--option` of `ragdata convert`",
            example='{ encoding = "latin-1" }',
        ),
    ),
)

TABLE = Setting(
    "table: sections",
    meaning="files of no known format, and what their columns are",
    within=(
        Setting(
            "path: globs",
            meaning="the file (CSV, TSV, JSON, JSON Lines, Parquet), or a pattern of files; several in a list",
            example='"data/faq-*.csv"',
            required=True,
        ),
        Setting("kind: choice", meaning="what a row is", example='"documents"', required=True, choices=tuple(MEANINGS)),
        Setting(
            "map: columns",
            meaning="which column is what; what a row must have and is not named here is a column of that name",
            example='{ doc_id = "id", text = "body" }',
        ),
        Setting("encoding: text", meaning="how CSV files are encoded", example='"latin-1"'),
        Setting("delimiter: text", meaning="what separates the cells of CSV files", example='";"'),
    ),
)

RULE = Setting(
    "rule: sections",
    meaning="a rule of the project's own: either `sql`, `schema` or `model`",
    within=(
        Setting(
            "code: code",
            meaning="what it is called by: three letters or more, and digits",
            example='"ACME101"',
            required=True,
        ),
        Setting(
            "name: text",
            meaning="the bad state, in small letters with hyphens",
            example='"text-too-short"',
            required=True,
        ),
        Setting(
            "summary: text",
            meaning="what is wrong, in one sentence",
            example='"A document of fewer than 20 characters."',
            required=True,
        ),
        Setting(
            "message: message",
            meaning="what is said of a finding, with columns of the query in braces; otherwise `error` and `value`",
            example='"document {key} has {length} characters"',
            default='"{value}", or "{error}" of a schema or model',
        ),
        Setting("hint: text", meaning="what to do", example='"merge it with its neighbour"'),
        Setting("severity: choice", meaning="how bad it is", example='"warning"', default="error", choices=SEVERITIES),
        Setting("format: format", meaning="only for datasets of this format", example='"light-splade"'),
        Setting(
            "sql: text",
            meaning="a query, as of `ragdata query`, each row of whose result is a finding",
            example='"select doc_id as key, text as value from documents where length(text) < 20"',
        ),
        Setting(
            "timeout: integer",
            meaning="the seconds that the query may take, or the schema for one record",
            example="20",
            default="60, or 10 of a schema",
            least=1,
            most=3600,
        ),
        Setting(
            "schema: document",
            meaning="a JSON Schema of the records, or the path of a file with one",
            example='"metadata.schema.json"',
        ),
        Setting(
            "records: text",
            meaning="the kind of file whose records the schema is for (default: all kinds)",
            example='"documents"',
        ),
        Setting(
            "field: text",
            meaning="the field that the schema is for (default: the record as a whole); records without it pass",
            example='"metadata"',
        ),
        Setting(
            "model: model",
            meaning="a pandera model of a table, as MODULE:NAME; the module is one of a plug-in",
            example='"acme_checks.models:Documents"',
        ),
        Setting("table: table", meaning="the table that the model is of, as of `ragdata query`", example='"documents"'),
    ),
)

TOP = Setting(
    kind="section",
    meaning="the settings of a project",
    within=(
        Setting(
            "extend: file",
            meaning="another file whose settings hold where this one says nothing; its sections come first",
            example='"../ragdata.toml"',
        ),
        Setting(
            "exclude: globs",
            meaning="files and folders that are passed over, also where they are named",
            example='["data/raw/**"]',
        ),
        Setting(
            "plugins: texts",
            meaning="the plug-ins that are loaded, by the names of their installed packages; no others are",
            example='["acme-checks"]',
        ),
        *_OF_RULES,
        Setting(
            "fail-on: choice",
            meaning="the least severe findings for which `validate` exits with 1",
            example='"warning"',
            default="error",
            choices=FAIL_ON,
        ),
        Setting("baseline: file", meaning="the file of known findings", example='"ragdata-baseline.jsonl"'),
        Setting(
            "per-path-ignores: ignores",
            meaning="rules that are ignored in the files of a pattern",
            example='{ "data/old/**" = ["SP2"] }',
        ),
        Setting(
            "quality: section",
            meaning="thresholds of the quality rules",
            example="{ most-tokens = 512 }",
            within=_thresholds(),
        ),
        Setting(
            "diff: section",
            meaning="when `ragdata diff` fails",
            example='{ fail-on = ["documents.removed > 5%"] }',
            within=(
                Setting(
                    "fail-on: conditions",
                    meaning="the conditions under which it exits with 1, instead of whenever anything differs",
                    example='["documents.removed > 5%", "questions.changed > 0", "edges.rows < -10%"]',
                ),
            ),
        ),
        DATASET,
        TABLE,
        RULE,
    ),
)
FOR_DATASETS = frozenset(one.name for one in TOP.within) & {one.name for one in DATASET.within}
"""What both the top level and the section of a dataset may say."""

_WORDS: Mapping[Kind, str] = {
    "text": "a text",
    "texts": "a text or a list of texts",
    "file": "a path",
    "globs": "a path or pattern, or a list of them",
    "within": "a path or pattern within the dataset, or a list of them",
    "format": "the name of a format",
    "rules": "a rule or a list of rules",
    "integer": "an integer",
    "share": "a number from 0 to 1",
    "flag": "true or false",
    "conditions": "a condition or a list of them",
    "code": "three letters or more, and digits, such as ACME101",
    "message": "a text with names in braces, such as {value}, and nothing else in these",
    "model": "MODULE:NAME, such as acme_checks.models:Documents",
    "table": "the name of a table, such as documents or files.corpus",
    "document": "a table or a path",
    "words": "a table of words and numbers",
    "section": "a table",
    "sections": "tables",
    "severities": "a table of severities by rule",
    "budgets": "a table of numbers by rule",
    "ignores": "a table of rules by path",
    "columns": "a table of columns by what they mean",
}


def kind_words(setting: Setting) -> str:
    """What a value of the setting is, in words: ``an integer from 1 to 64``."""
    if setting.kind == "choice":
        return f"one of {', '.join(setting.choices)}"
    words = _WORDS[setting.kind]
    if setting.kind == "integer" and setting.most is not None:
        return f"{words} from {setting.least:g} to {setting.most:g}"
    if setting.kind == "integer" and setting.least is not None:
        return f"{words} of at least {setting.least:g}"
    return words


def in_bounds(setting: Setting, value: Any) -> bool:
    """Whether a number is within the bounds of the setting."""
    return (setting.least is None or value >= setting.least) and (setting.most is None or value <= setting.most)
