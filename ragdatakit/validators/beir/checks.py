"""The rules of BEIR folders that their declaration cannot say: missing files, blank texts, ids that do not survive."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ragdatakit.files.containers.parquet_rows import is_parquet, shard_split
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.detection.sniffing import parquet_head
from ragdatakit.files.texts.flat_text import INVISIBLE, is_blank
from ragdatakit.schemas.findings import Problem
from ragdatakit.schemas.line_cells import closed_below
from ragdatakit.validators.beir.swapped import are_swapped, lines_of
from ragdatakit.validators.checks import FormatChecks, Needs, Scanning
from ragdatakit.validators.lacking import missing_file

if TYPE_CHECKING:
    from ragdatakit.validators.checks import Placed
    from ragdatakit.validators.coded_columns import ScannedCodes
    from ragdatakit.validators.csv_parts import CsvTable

MEASURED = range(-(2**63), 1_000_000)
"""The scores that pytrec_eval measures: see the rules."""
_FURTHER = "column 4"
_TAKEN_IN = {
    "query-id": re.compile(r"[^\t\n]*\t[^\t\n]+\t-?\d+[\t\n]"),
    "corpus-id": re.compile(r"[^\t\n]*\t-?\d+[\t\n]"),
}
"""The rest of a judgement, and of its line, in an id."""
_JUDGED = re.compile(r"[^\t]*\t[^\t]+\t-?\d+(\t.*)?")
_NAMES = {"corpus": "corpus.jsonl", "queries": "queries.jsonl", "qrels": "qrels/<split>.tsv"}
_PARQUET_NAMES = {"corpus": "corpus/*.parquet", "queries": "queries/*.parquet", "qrels": "qrels/*.parquet"}


class BeirChecks(FormatChecks):
    """Checks of one BEIR folder."""

    def __init__(self, dataset: Dataset, profiles: tuple[str, ...]) -> None:
        super().__init__(dataset, profiles)
        self._split = ""
        self._judgements: Counter[str | None] = Counter()  # by prefix

    def needs(self, kind: str, split: str | None = None) -> Needs:
        # each split is loaded by itself: see `finish_file`
        return Needs(records=True, may_be_empty=kind == "qrels", in_ranges=True, by_file=True)

    def record(self, file: DataFile, value: Any) -> Iterable[Problem]:
        if not isinstance(value, dict):
            return ()
        return _judgement_problems(value) if file.kind == "qrels" else _record_problems(value)

    def scanning(self, file: DataFile) -> Scanning:
        from ragdatakit.scanner.predicates import WHITE_SPACE, Blank, Edged, Holds

        if file.kind == "qrels":  # a score that the declaration takes for usual is in range
            return Scanning((), made_of=("query-id", "corpus-id", "score"), derive=self._derive_judgements)
        blank = Blank("text", WHITE_SPACE + INVISIBLE)
        return Scanning((blank, Edged("_id", WHITE_SPACE + '"'), Holds("_id", "\t\n\r")))

    def start_file(self, file: DataFile) -> None:
        self._split = shard_split(file.name)

    def derive(self, kind: str, value: Any, to_show: bool = False) -> dict[str, Any]:
        if kind != "qrels" or not isinstance(value, dict):
            return {}
        query, document, score = value.get("query-id"), value.get("corpus-id"), value.get("score")
        relevant = query if isinstance(score, int) and score > 0 else None
        judged: Any = (self._split, query, document)
        return {"@judged": "\n".join(judged) if to_show else judged, "@relevant": relevant, "@split": self._split}

    def _derive_judgements(self, given: Mapping[str, ScannedCodes], batch: Any) -> None:
        import numpy as np

        from ragdatakit.arrays.codes import mix
        from ragdatakit.arrays.text_codes import codes_of_texts

        (queries, _), (documents, _), (scores, _) = (given[f] for f in ("query-id", "corpus-id", "score"))
        split = np.repeat(codes_of_texts([self._split]), len(queries))
        batch.columns |= {"@judged": mix(split, mix(queries, documents)), "@relevant": queries, "@split": split}
        batch.valid |= {"@judged": None, "@relevant": scores.view(np.int64) > 0, "@split": None}

    def start(self) -> Iterator[Placed]:
        for file in self.dataset.files:
            if file.path.name.endswith(".gz"):
                yield file, Problem("compressed-file", facts={"file": file.name.removesuffix(".gz")})
            if file.kind == "qrels" or not is_parquet(file.path):
                continue
            head = parquet_head(file.path, file.boundary)
            if head is not None and {"_id", "id"} <= head.records[0].keys():
                yield file, Problem("two-id-columns")
        yield from self._swapped()

    def _swapped(self) -> Iterator[Placed]:
        """Files of text whose judgements lead crosswise; those of a prefix go with its own queries."""
        files = [f for f in self.dataset.files if f.readable and not is_parquet(f.path)]
        corpus = next((f for f in files if f.kind == "corpus"), None)
        for queries in (f for f in files if f.kind == "queries" and corpus is not None):
            qrels = next((f for f in files if f.kind == "qrels" and f.split == queries.split), None)
            if corpus is None or qrels is None:
                continue
            header, *judged = lines_of(qrels)
            if not are_swapped(queries, corpus, judged):
                continue
            place, found = queries, f"seems to hold the documents, and {corpus.name} the queries"
            if header.split("\t")[:2] == ["corpus-id", "query-id"]:
                place, found = qrels, "the columns seem swapped: the header begins with corpus-id and query-id"
            yield place, Problem("swapped-files", facts={"found": found})

    def finish_file(self, file: DataFile, records: int, table: CsvTable | None = None) -> Iterator[Placed]:
        if file.kind == "qrels":
            self._judgements[file.split] += records
            if not records and file.readable:
                yield file, Problem("no-records")

    def finish(self) -> Iterator[Placed]:
        if self.dataset.layout in ("file", "shards"):
            return
        names = _PARQUET_NAMES if self.dataset.layout == "parquet" else _NAMES
        files = self.dataset.files
        sets = [f for f in files if f.kind != "corpus"]
        if len(sets) == len(files) and not self._may_be_beside("corpus"):
            yield self._missing(sets, names["corpus"], self._judgements.total())
        if not sets:
            yield files[0], self._without_judgements(f"{names['queries']} and no {names['qrels']}", names["queries"])
        for prefix in dict.fromkeys(f.split for f in sets):
            there = [f for f in sets if f.split == prefix]
            kinds, before = {f.kind for f in there}, f"{prefix}-" if prefix else ""
            if "queries" not in kinds and not self._may_be_beside("queries"):
                yield self._missing(there, before + names["queries"], self._judgements[prefix])
            if "qrels" not in kinds:
                yield there[0], self._without_judgements(before + names["qrels"], before + names["qrels"])

    def _missing(self, needing: list[DataFile], name: str, judgements: int) -> Placed:
        """Reported at the judgements that need it, where there are any."""
        place = next((f for f in needing if f.kind == "qrels"), needing[0])
        counted = f", and {judgements:,} judgement{'s need' if judgements > 1 else ' needs'} it" if judgements else ""
        return place, self._beside(Problem("missing-file", facts={"file": name, "counted": counted}), name)

    def _without_judgements(self, missing: str, name: str) -> Problem:
        """A part of a dataset, or a whole one of which a file has another name than the loader's."""
        problem = self._beside(Problem("no-judgements", facts={"file": missing}), name)
        if "beside" in problem.facts:
            problem.rule, problem.facts["counted"] = "missing-file", ""
        return problem

    def _beside(self, problem: Problem, expected: str) -> Problem:
        return missing_file(problem, self.dataset.root, expected, (f.path for f in self.dataset.files))

    def _may_be_beside(self, kind: str) -> bool:
        """Whether files are in a folder with a name such as ``en-corpus``, of a configuration of the hub that is not
        known here."""
        if self.dataset.layout != "parquet":
            return False
        try:
            folders = [folder for folder in self.dataset.root.iterdir() if kind in folder.name and folder.is_dir()]
            return any(path.is_file() and path.name[0] != "." for folder in folders for path in folder.rglob("*"))
        except OSError:
            return False


def _record_problems(value: dict[str, Any]) -> Iterator[Problem]:
    text, found = value.get("text"), value.get("_id")
    if isinstance(text, str) and is_blank(text):
        yield Problem("blank-text", pointer="/text", value=text)
    if isinstance(found, str) and (what := unsafe(found)):
        yield Problem("unsafe-id", pointer="/_id", value=found, facts={"what": what})


def _judgement_problems(value: dict[str, Any]) -> Iterator[Problem]:
    score = value.get("score")
    for name in (*_TAKEN_IN, _FURTHER):
        if isinstance(found := value.get(name), str) and "\n" in found and _takes_in(name, found):
            what = "what is behind the score" if name == _FURTHER else f"the {name}"
            reason = f"{closed_below(found)}: the judgements between are part of {what}"
            yield Problem(
                "wrong-columns", pointer=f"/{name}", value=found, facts={"reason": reason, "case": "taken-in"}
            )
    if isinstance(score, int) and score not in MEASURED:
        yield Problem("score-out-of-range", pointer="/score", value=score)


def _takes_in(name: str, cell: str) -> bool:
    """Whether judgements are part of a cell by mistake. A note behind the score may quote some, and ends with a word or
    a whole judgement then, whereas a quote mark that begins another cell follows a tab or a line break."""
    if name != _FURTHER:
        return _TAKEN_IN[name].match(cell) is not None
    _, *lines, last = cell.split("\n")
    whole = _JUDGED.fullmatch(last)
    if (whole and not whole[1]) or (last and "\t" not in last):
        return False
    return whole is not None or any(map(_JUDGED.fullmatch, lines))


def unsafe(found: str) -> str:
    """What of an id does not survive in a file of judgements; ``""`` where nothing is."""
    if not found:
        return "nothing in it"
    if "\t" in found or "\n" in found or "\r" in found:
        return "a tab or a line break in it"
    if found != found.strip():
        return "blanks at its edges"
    return "a quote mark at its beginning" if found.startswith('"') else ""
