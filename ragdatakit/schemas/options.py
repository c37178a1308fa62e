"""The options of every command, once for the command line and for Python: names, types, defaults and limits.

`ragdatakit.validate(path, max_hops=2)` makes a `ValidateOptions` of its keywords, and `ragdata validate --max-hops 2`
of its words; what runs gets that one value. A long module, because it is one table of options and what they mean.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, fields
from pathlib import Path
from typing import Any, Literal

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.errors import RagdataError, UnknownNameError
from ragdatakit.schemas.findings import SEVERITIES, Finding, Severity
from ragdatakit.schemas.fixes import REMOVED
from ragdatakit.schemas.search.modes import ALL_MODES, mode_hint

FAIL_ON = ("error", "warning", "never")

PathLike = str | os.PathLike[str]
Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much is done, and how much there is."""
Tell = Callable[[str], None]

EXPORTS = ("croissant", "datapackage")
"""The standards in which a dataset can be described."""
SHOWN_SEVERITY: Severity = "warning"
"""The least severe findings that commands print where nothing else is said; Python gets the others, too."""
LEAST_MEMORY = 16 << 20
LEAST_SHARD = 1 << 10
DATABASE_MEMORY = 768 << 20
MOST_RESULTS = 100_000
_MOST_SEED = 2**63 - 1
_MOST_DRAW = 2**32 - 1


@dataclass(frozen=True, slots=True)
class Limits:
    """What a number may be: ``least`` to ``most`` (None: no bound), without the ends that are ``open``.

    ``unit`` says in messages what is expected.
    """

    least: int | None = None
    most: int | None = None
    unit: str = "an integer"
    open: tuple[str, ...] = ()
    whole: bool = True

    def refuse(self, name: str, value: object) -> None:
        """Raise `RagdataError` where ``value`` of the option ``name`` is no such number."""
        if isinstance(value, bool) or not isinstance(value, int if self.whole else int | float):
            raise RagdataError(f"{name} is {value!r}, expected {self.unit}")
        if self._has(value):
            return
        if not self.whole:
            raise RagdataError(f"{name} is {value}, expected {self.unit}")
        span = f"at least {self.least:,}" if self.most is None else f"{self.least:,} to {self.most:,}"
        raise RagdataError(f"{name} is {value:,}, expected {span}")

    def _has(self, value: float) -> bool:
        low = self.least is None or (value > self.least if "least" in self.open else value >= self.least)
        return low and (self.most is None or (value < self.most if "most" in self.open else value <= self.most))


_BYTES = Limits(LEAST_MEMORY, unit="a number of bytes, such as 1 << 30")


def _number(default: Any, least: int, most: int | None = None) -> Any:
    return field(default=default, metadata={"limits": Limits(least, most)})


def _bytes(default: int) -> Any:
    return field(default=default, metadata={"limits": _BYTES})


def _one_of(default: str | None, choices: Iterable[str], what: str, hint: Callable[[str], str] | None = None) -> Any:
    return field(default=default, metadata={"choices": tuple(choices), "what": what, "hint": hint})


@dataclass(frozen=True, kw_only=True)
class CheckedOptions:
    """Options that look at their values: one out of its limits raises `RagdataError`, an unknown name
    `UnknownNameError`."""

    def __post_init__(self) -> None:
        for declared in fields(self):
            value, facts = getattr(self, declared.name), declared.metadata
            if value is declared.default:
                continue
            if "limits" in facts:
                facts["limits"].refuse(declared.name, value)
            elif "choices" in facts and value not in facts["choices"]:
                hint = facts["hint"](str(value)) if facts["hint"] else ""
                raise UnknownNameError(facts["what"], str(value), facts["choices"], hint=hint)
            elif declared.type == "str" and not isinstance(value, str):
                raise RagdataError(f"{declared.name} is {value!r}, expected a text")


@dataclass(frozen=True, kw_only=True)
class Options(CheckedOptions):
    """Options of a command: ``progress`` is called with what is being done, how much is done, and how much there is."""

    progress: Progress | None = None


ENGINES = ("local", "ray", "spark")
"""What else may check the parts of large files."""


@dataclass(frozen=True, kw_only=True)
class ValidateOptions(Options):
    """How `ragdatakit.validate` checks.

    ``format`` (None: auto-detected) and ``profile`` are those of ``ragdata formats``; ``select`` and ``ignore`` take
    codes, prefixes of codes and rule names. ``severity`` is the least severe level that counts. ``max_per_rule`` limits
    the findings that are kept (0: none are dropped), never the counts. ``each_record``: what is reported once a file,
    with the number of records, is reported record by record. ``memory_limit`` is in bytes, at least 16 MiB.
    ``jobs``: how many blocks of a large file are checked at a time (None: one for each processor that the process may
    use, at most 8); the report is the same for any number. ``engine``: ``local`` checks large files of lines in parts,
    in so many processes, ``ray`` and ``spark`` on the workers of a cluster: the one that the caller is connected to, or
    what ``engine_options`` says (``address`` of Ray, ``master`` of Spark, and Spark's own settings), or else one on
    this machine; the report is the same. ``follow_links``: files that links lead to out of the path are read,
    too. ``strict_files``: the report is not ``ok`` either where data files below the path belong to no
    dataset and were not checked (``unrecognised`` names them).
    ``whole_datasets``: a path that is a file brings the whole dataset that it belongs to, which is looked for in the
    folders around it up to that of the git repository; a file that was deleted does so, too. ``skip_unrecognised``:
    files that by their content are of no known format are passed over (``unrecognised`` names them), and Git LFS
    pointers are warnings; for hooks, which are given all kinds of files.
    ``max_hops``: in graphs, how many edges (1 to 64) the target nodes of a question may be away from its start nodes
    (None: 3). ``config`` is a file with the settings of the project, or True: for each path the nearest one upwards
    holds, False: none does; what is given here goes before it. ``fail_on`` is the least severe level for which the
    report is not ``ok`` (None: error; ``never``: it always is).
    ``baseline``: findings that this file accepts count nowhere (True: the file that the configuration names, or
    ``ragdata-baseline.jsonl`` in the nearest folder from each path up to that of the git repository, if there is one);
    ``show_baselined`` keeps them in ``findings``, marked. ``write_baseline`` accepts all that is found,
    ``update_baseline`` removes what is no longer found; both write the file, but not in CI (where the variable ``CI``
    is set). ``strict_baseline``: the report is not ``ok`` either where the baseline has more than is found. ``since``
    is a git revision: what was found in it, too, counts nowhere.
    ``skip_unchanged``: a dataset that was valid under the same options, and is as it was to the last byte, is not
    checked again (``unchanged`` names it); ``cache_dir`` is where that is remembered, too. With ``quality``
    all are checked.
    ``quality``: also look for what loads but lowers the quality (rules QU…), with thresholds by name in place of True;
    selecting such rules asks for it, too, and reads plain texts and tables where nothing is recognised (``format`` may
    be ``text`` or ``table`` then); ``options`` are those of the format's reader for it. ``on_finding`` is called for
    each finding as it is found, before the report is put in order, repeats get fingerprints of their own, and known
    ones are left out. A path may be a URL (``s3://``, ``gs://``, ``hf://datasets/``, ``https://``): its files are
    fetched into the user's cache (RAGDATA_CACHE_DIR), or into ``cache_dir``; ``tell`` is called with a sentence that
    says so.
    """

    format: str | None = None
    profile: str | Iterable[str] = ()
    select: str | Iterable[str] = ()
    ignore: str | Iterable[str] = ()
    severity: Severity = _one_of("info", SEVERITIES, "severity")
    max_per_rule: int = _number(20, 0)
    each_record: bool = False
    memory_limit: int = _bytes(1 << 30)
    jobs: int | None = _number(None, 1, 256)
    engine: str | None = _one_of(None, ENGINES, "engine")
    engine_options: Mapping[str, str] | None = None
    follow_links: bool = False
    strict_files: bool = False
    whole_datasets: bool = False
    skip_unrecognised: bool = False
    max_hops: int | None = _number(None, 1, 64)
    baseline: bool | PathLike = False
    write_baseline: bool = False
    update_baseline: bool = False
    show_baselined: bool = False
    strict_baseline: bool = False
    since: str = ""
    skip_unchanged: bool = False
    config: PathLike | bool = False
    fail_on: str | None = _one_of(None, FAIL_ON, "severity to fail on")
    quality: bool | Mapping[str, object] = False
    options: Mapping[str, object] | None = None
    on_finding: Callable[[Finding], None] | None = None
    cache_dir: PathLike | None = None
    tell: Tell | None = None


@dataclass(frozen=True, kw_only=True)
class FixOptions(ValidateOptions):
    """How `ragdatakit.fix` repairs; what is checked is said by the options of `ragdatakit.validate`.

    ``unsafe``: also by fixes that remove, rename or choose something. What they remove is put at the end of the file
    ``removed``, which is made where there is something to put. ``diff``: nothing is written, the result says what would
    be.
    """

    unsafe: bool = False
    diff: bool = False
    removed: PathLike = REMOVED


@dataclass(frozen=True, kw_only=True)
class SourceOptions(Options):
    """How datasets are read.

    ``source_format`` is their format (empty: auto-detected); ``text`` and ``table`` read plain texts and tables,
    ``gfm-rag-raw`` GFM-RAG's raw files. ``options`` are those of the format's reader (``ragdata convert --list --from A
    --to B`` lists them), ``chunking`` those of the text splitter: ``by``, ``size``, ``overlap``, ``tokenizer``,
    ``language``. ``follow_links``: files that links lead to out of the path are read, too. A path may be a URL
    (``s3://``, ``gs://``, ``hf://datasets/``, ``https://``): its files are fetched into the user's cache
    (RAGDATA_CACHE_DIR), or into ``cache_dir``. ``tell`` is called with a sentence about what is fetched.
    ``config`` is a file with the settings of the project, True: for each path the nearest one upwards; where its
    sections name a format or options for the path, these hold where none are given here.
    """

    source_format: str = ""
    options: Mapping[str, object] | None = None
    chunking: Mapping[str, object] | None = None
    follow_links: bool = False
    config: PathLike | bool = False
    cache_dir: PathLike | None = None
    tell: Tell | None = None


@dataclass(frozen=True, kw_only=True)
class DatasetOptions(SourceOptions):
    """How the one dataset that is meant is read: ``dataset`` says which, where the path holds several, by its name in
    reports or its path."""

    dataset: str = ""


@dataclass(frozen=True, kw_only=True)
class ReadOptions(DatasetOptions):
    """How `ragdatakit.read` reads; ``name`` is what the dataset is to be called (empty: as its folder)."""

    name: str = ""


@dataclass(frozen=True, kw_only=True)
class DatabaseOptions(ReadOptions):
    """How `ragdatakit.open_database` opens; ``memory_limit`` is what DuckDB may hold, in bytes."""

    memory_limit: int = _bytes(DATABASE_MEMORY)


@dataclass(frozen=True, kw_only=True)
class ExportOptions(DatasetOptions):
    """What `ragdatakit.export` writes.

    ``to`` is the standard: ``croissant`` (1.0) or ``datapackage`` (Data Package 2). ``name`` (empty: that of the
    dataset), ``description``, ``license`` (its URL or its short name), ``url``, ``cite`` and ``version`` are said in
    it; what is empty is not. ``memory_limit`` is what DuckDB may hold, in bytes.
    """

    to: str = _one_of("croissant", EXPORTS, "standard")
    name: str = ""
    description: str = ""
    license: str = ""
    url: str = ""
    cite: str = ""
    version: str = ""
    memory_limit: int = _bytes(DATABASE_MEMORY)


@dataclass(frozen=True, kw_only=True)
class ConvertOptions(DatasetOptions):
    """How `ragdatakit.convert` converts.

    ``to`` is the format to write, ``profile`` a variant of it, ``name`` what to call the dataset. ``options`` are those
    of the two converters. ``seed`` is for what is drawn at random. ``extractor`` makes a graph of the texts: ``names``
    (no model) or ``openai`` (a language model, which also writes the summaries of RAPTOR, the contexts of Contextual
    Retrieval and the reports of GraphRAG), with ``extraction`` as its options (``linker``, ``model``, ``base_url`` and
    so on). ``negatives`` mines training triplets (``bm25:depth=100,per_query=4``). ``sidecar`` keeps what the target
    cannot hold in files next to the output. ``overwrite`` replaces what is in the target. ``strict`` writes nothing if
    anything would be lost, ``dry_run`` nothing at all; both report what would be written, and no model is asked in a
    dry run. ``keep_going`` leaves out the records that have errors and counts them. ``memory_limit`` is in bytes.
    ``container`` is what the records are written in (``parquet``; empty: as the format has them), for formats of which
    there is a reader of it. ``shard_size`` writes each file of records in a folder of files of at most this many bytes,
    for formats whose loaders read such (in Parquet: in several files of about as many). With an ``engine`` (and
    ``engine_options`` and ``jobs``, as in `ValidateOptions`) documents are converted in parts, between light-splade and
    BEIR, and of tables to BEIR; the output is the same.
    """

    to: str
    container: str = ""
    shard_size: int | None = field(
        default=None, metadata={"limits": Limits(LEAST_SHARD, unit="a number of bytes, such as 512 << 20")}
    )
    profile: str = ""
    name: str = ""
    seed: int = _number(13, -_MOST_SEED, _MOST_SEED)
    extractor: str = ""
    extraction: Mapping[str, object] | None = None
    negatives: str = ""
    sidecar: bool = False
    overwrite: bool = False
    strict: bool = False
    keep_going: bool = False
    dry_run: bool = False
    memory_limit: int = _bytes(1 << 30)
    jobs: int | None = _number(None, 1, 256)
    engine: str | None = _one_of(None, ENGINES, "engine")
    engine_options: Mapping[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class ReportOptions(SourceOptions):
    """How `ragdatakit.report` reports.

    ``dataset`` says which datasets are meant where there are several, by their names or paths. ``examples`` is how many
    random rows of a table are shown besides the first, the longest and the shortest, chosen by ``seed``. ``save``
    leaves a DuckDB file with all tables (in schemas of their own where there are several datasets). ``neighbourhoods``
    gives the summary of a graph the part of it that a page takes along; ``node`` is one to show with its neighbours.
    ``findings`` also validates (None: where there are rules for what is there), and keeps at most ``max_per_rule``
    findings of a rule (0: all). ``memory_limit`` is what DuckDB may hold, in bytes. With an ``engine`` (``local``,
    ``ray``, ``spark``, with ``engine_options`` and ``jobs`` as in `ValidateOptions`) large files are measured in parts,
    and only the key numbers are: tables, ids, lengths, scripts and coverage. A dataset of which that cannot be done is
    read whole, here.
    """

    dataset: str | Iterable[str] = ()
    examples: int = _number(3, 0, 100)
    seed: int = _number(13, 0, _MOST_DRAW)
    save: PathLike | None = None
    neighbourhoods: bool = False
    node: str = ""
    findings: bool | None = False
    max_per_rule: int = _number(100, 0)
    memory_limit: int = _bytes(DATABASE_MEMORY)
    jobs: int | None = _number(None, 1, 256)
    engine: str | None = _one_of(None, ENGINES, "engine")
    engine_options: Mapping[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class ExploreOptions(SourceOptions):
    """What `ragdatakit.explore` serves.

    ``dataset`` says which datasets are meant where there are several, by their names or paths. ``port`` is where (0:
    any that is free). At most ``max_per_rule`` findings of a rule are kept (0: all). ``memory_limit`` is what DuckDB
    may hold, in bytes. ``search`` says how to index and search, ``index_dir`` of one dataset where its index lies (the
    user's cache), and ``rebuild`` that it is built anew.
    """

    dataset: str | Iterable[str] = ()
    search: SearchOptions | None = None
    index_dir: PathLike | None = None
    rebuild: bool = False
    port: int = _number(0, 0, 65535)
    max_per_rule: int = _number(1000, 0)
    memory_limit: int = _bytes(DATABASE_MEMORY)


@dataclass(frozen=True, kw_only=True)
class QueryOptions(DatasetOptions):
    """How `ragdatakit.query` asks.

    ``limit`` is the most rows to take (0: all), ``timeout`` the most seconds for the query itself, ``memory_limit``
    what the query may take in bytes, besides the tables that are read.
    """

    limit: int = _number(0, 0)
    timeout: float | None = field(
        default=None, metadata={"limits": Limits(0, unit="a number of seconds above 0", open=("least",), whole=False)}
    )
    memory_limit: int = _bytes(DATABASE_MEMORY)


@dataclass(frozen=True, kw_only=True)
class DiffOptions(DatasetOptions):
    """How `ragdatakit.diff` compares.

    ``source_format`` is the format of both sides, or of the first where ``after_format`` is given. ``ignore`` are
    columns that do not count, as ``column`` or ``table.column``; ``exclude`` patterns of files next to the datasets
    that do not (``*.log``, ``notes/*``). Records are found again by the keys of the tables, or by ``keys`` (table to
    columns). At most ``records`` are kept of each kind of difference in a table, all are counted. ``metrics`` says
    whether the numbers of the two reports are compared, too. ``memory_limit`` is what each database may hold, in bytes.
    ``fail_on`` are conditions under which the result ``fails``, as ``documents.removed > 5%``; without any those of the
    settings of the project of ``after`` count (see ``config``), and without these it fails where anything
    differs.
    """

    after_format: str = ""
    ignore: Iterable[str] = ()
    exclude: Iterable[str] = ()
    keys: Mapping[str, Iterable[str]] | None = None
    records: int = _number(20, 0)
    metrics: bool = True
    fail_on: Iterable[str] = ()
    memory_limit: int = _bytes(DATABASE_MEMORY)


@dataclass(frozen=True, kw_only=True)
class BatchOptions(DatasetOptions):
    """How tables are loaded for Great Expectations.

    ``sample_rows`` checks at most this many rows of a table (0: all); all rows are counted. ``memory_limit`` is the
    most bytes that the columns of one expectation may take.
    """

    sample_rows: int = _number(0, 0)
    memory_limit: int = _bytes(1 << 30)


@dataclass(frozen=True, kw_only=True)
class GateOptions(BatchOptions):
    """How `ragdatakit.gate` checks: ``table`` is that of expectations that name none, ``data_docs`` a folder, empty or
    not there, for Great Expectations' own pages."""

    table: str = ""
    data_docs: PathLike | None = None


@dataclass(frozen=True, kw_only=True)
class SuiteOptions(DatasetOptions):
    """How a first suite is made.

    ``tolerance`` is how far numbers may move, from 0 up to 1. ``tables`` are the tables it is about (default: the
    canonical ones that the dataset has), ``name`` is what it is called (empty: as the dataset).
    """

    tolerance: float = field(
        default=0.1,
        metadata={"limits": Limits(0, 1, unit="a number from 0 up to 1, as 0.1", open=("most",), whole=False)},
    )
    tables: Iterable[str] = ()
    name: str = ""


@dataclass(frozen=True, kw_only=True)
class SearchOptions(CheckedOptions):
    """What decides about an index and about how it is searched.

    ``analyzer`` is ``default`` (any script) or ``ja`` (Japanese words, extra ``ja``); ``stemmer`` a Snowball language
    or ``none``. ``embedder`` is ``sentence-transformers:MODEL`` or ``openai:MODEL`` (with ``base_url`` and the name of
    the environment variable that has the key); ``vectors`` and ``query_vectors`` are files of given vectors, dense or
    sparse. ``vector_store`` is ``numpy`` or ``lancedb``. ``graph`` is ``given`` (nodes and edges of the dataset),
    ``names`` (a graph of the names in the texts) or ``auto`` (the one that is given, else names). ``damping`` is the
    probability to walk on in personalised PageRank. ``fuse`` has the modes that ``hybrid`` fuses with their weights
    (empty: bm25 with each of dense, sparse and graph that there is). ``tree_select`` is what mode traversal takes of a
    layer: ``top-k``, ``near:D`` or ``far:D`` (nodes at most, or more than, this cosine distance away).
    ``community_level`` is the lowest level of communities that GraphRAG's modes look at; 0 is the top.
    """

    analyzer: Literal["default", "ja"] = _one_of("default", ("default", "ja"), "analyzer")
    stemmer: str = "english"
    embedder: str = ""
    base_url: str = ""
    api_key_env: str = "OPENAI_API_KEY"
    vector_store: Literal["numpy", "lancedb"] = _one_of("numpy", ("numpy", "lancedb"), "vector store")
    vectors: Path | None = None
    query_vectors: Path | None = None
    graph: Literal["auto", "given", "names"] = _one_of("auto", ("auto", "given", "names"), "graph")
    damping: float = field(
        default=0.5,
        metadata={"limits": Limits(0, 1, unit="a number above 0 and below 1", open=("least", "most"), whole=False)},
    )
    fuse: Mapping[str, float] = field(default_factory=dict)
    tree_select: str = "top-k"
    rrf_k: int = 60
    community_level: int = _number(2, 0)


@dataclass(frozen=True, kw_only=True)
class RetrieverOptions(DatasetOptions):
    """How `ragdatakit.open_retriever` opens a dataset.

    ``search`` says how to index and search. The index lies in the user's cache (RAGDATA_CACHE_DIR), or in
    ``index_dir``; ``rebuild`` builds it anew. ``tell`` is also called with each sentence about what is built anew and
    why.
    """

    search: SearchOptions | None = None
    index_dir: PathLike | None = None
    rebuild: bool = False


@dataclass(frozen=True, kw_only=True)
class IndexOptions(RetrieverOptions):
    """How `ragdatakit.index` builds: ``modes`` are those to be able to search by (default: all for which the dataset
    and the options have what they need)."""

    modes: str | Iterable[str] = ()


@dataclass(frozen=True, kw_only=True)
class RetrieveOptions(RetrieverOptions):
    """How `ragdatakit.retrieve` searches: by which ``mode``, and for how many passages (``k``)."""

    mode: str = _one_of("bm25", ALL_MODES, "mode", mode_hint)
    k: int = _number(10, 1, MOST_RESULTS)


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions(RetrieverOptions):
    """How `ragdatakit.evaluate` measures.

    ``modes`` are those of the reference retriever (default: all for which there is what they need; none where ``runs``
    or ``answers`` are given). ``metrics`` and the cut-offs ``k`` are those of
    `gold_and_metrics.metrics.metric_names`; ``depth`` is how many results of a question count. ``split`` and
    ``unit`` (``document``, ``chunk``, ``node``) choose among the judgements (default: ``test``, and what is searched).
    ``runs`` are files with existing runs (TREC, SAGE records, any dataset with runs), ``answers`` files with
    predictions; the dataset's own are taken, too. ``compare`` names two modes, runs or run files, which are tested
    against each other. ``qrels`` and ``questions`` are files that take the place of the dataset's own. ``minimums`` are
    demands by metric that the best run has to meet. ``worst`` is for how many questions of a run titles are given,
    ``most_findings`` limits the findings of one rule (0: all are kept), ``seed`` is for what is drawn at random.
    """

    modes: str | Iterable[str] = ()
    metrics: str | Iterable[str] = ()
    k: int | Iterable[int] = ()
    split: str = ""
    unit: str = _one_of("", ("document", "chunk", "node"), "unit")
    depth: int = _number(100, 1, MOST_RESULTS)
    runs: PathLike | Iterable[PathLike] = ()
    compare: tuple[str, str] | None = None
    answers: PathLike | Iterable[PathLike] = ()
    qrels: PathLike | None = None
    questions: PathLike | None = None
    minimums: Mapping[str, float] | None = None
    worst: int = _number(5, 0, 1000)
    most_findings: int = _number(5, 0)
    seed: int = _number(13, 0, _MOST_DRAW)


@dataclass(frozen=True, kw_only=True)
class FetchOptions(Options):
    """How `ragdatakit.fetch` fetches.

    ``include`` and ``exclude`` are patterns over the paths of an ``hf:`` source, in which ``*`` also stands for ``/``.
    More than ``max_bytes`` are refused. ``overwrite`` replaces what is in the folder.
    """

    include: str | Iterable[str] = ()
    exclude: str | Iterable[str] = ()
    max_bytes: int | None = _number(None, 0)
    overwrite: bool = False


@dataclass(frozen=True, kw_only=True)
class PushOptions(Options):
    """How `ragdatakit.push` uploads.

    ``source_format`` is that of the data (empty: auto-detected). ``title``, ``license`` (such as ``apache-2.0``) and
    ``languages`` (such as ``en``) are for the card. ``private`` makes a new repository a private one, ``revision`` is
    the branch to commit to (made where there is none), ``message`` what the commit says. ``keep_going`` pushes data
    that has errors, too; the card lists them. ``follow_links``: files that links lead to out of the folder go up, too.
    """

    source_format: str = ""
    title: str = ""
    license: str = ""
    languages: str | Iterable[str] = ()
    private: bool = False
    revision: str | None = None
    message: str = ""
    keep_going: bool = False
    follow_links: bool = False
