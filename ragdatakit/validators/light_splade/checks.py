"""The rules of light-splade that its declaration cannot say: texts, field order, teacher scores, the data config."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from ragdatakit.files.containers.strict_json import escape
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.late_patterns import late_pattern
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.checks import FormatChecks, Needs, Scanning
from ragdatakit.validators.row_problems import RowProblems

if TYPE_CHECKING:
    from ragdatakit.validators.checks import Placed
    from ragdatakit.validators.csv_parts import CsvTable
    from ragdatakit.validators.light_splade.scores import ScannedScores

LONG_TEXT = 8192
"""Characters from which on a text surely has more than 512 tokens (no tokenizer makes tokens of 16 characters)."""

CAP = 900_000
_ABOUT_DOCUMENTS = {"positive-without-score", "scores-for-unknown"}
_READ = {"queries", "documents", "positives", "scores", "triplets"}
_NUMBER = late_pattern(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")


@cache
def _needs(kind: str, split: str | None, has_scores: bool) -> Needs:
    if kind == "scores":
        return Needs(records=True, columns=("@doc_ids",), values=True, looks_up=True, in_ranges=True, by_file=True)
    may_be_empty = kind == "triplets" and split == "validation"
    batches = kind != "triplets" and has_scores
    return Needs(records=kind != "triplets", batches=batches, may_be_empty=may_be_empty, in_ranges=True, by_file=True)


class LightSpladeChecks(FormatChecks):
    """Checks of one light-splade dataset."""

    def __init__(self, dataset: Dataset, profiles: tuple[str, ...]) -> None:
        super().__init__(dataset, profiles)
        self._positives: dict[int, tuple[int, ...]] = {}
        self._split: str | None = None
        self._queries: set[int] = set()
        self._scored: set[int] = set()
        self._has_scores = bool(dataset.of_kind("scores"))
        self._file: DataFile
        self._scales: dict[DataFile, _Scale] = {}
        self._numeric: dict[DataFile, bool] = {}
        self._records: dict[tuple[str, str | None], int] = {}

    def needs(self, kind: str, split: str | None = None) -> Needs:
        return _needs(kind, split, self._has_scores)

    def record(self, file: DataFile, value: Any) -> Iterable[Problem]:
        if not isinstance(value, dict):
            return ()
        if file.kind in ("queries", "documents"):
            return self._master(file, value)
        if file.kind == "positives":
            return _repeated_positives(value)
        return self._scores(file, value)

    def _master(self, file: DataFile, value: dict[str, Any]) -> Iterator[Problem]:
        name = "qid" if file.kind == "queries" else "doc_id"
        first = next(iter(value), name)
        if first == "text" and name in value:
            yield Problem("field-order", pointer="/text", facts={"field": first})
        text = value.get("text")
        if not isinstance(text, str):
            return
        if not text.strip():
            yield Problem("blank-text", pointer="/text", value=text)
        elif len(text) > LONG_TEXT:
            yield Problem("very-long-text", pointer="/text", facts={"length": len(text)})
        if self._numeric.get(file, True):
            self._numeric[file] = _NUMBER.fullmatch(text) is not None

    def scanning(self, file: DataFile) -> Scanning:
        from ragdatakit.scanner.predicates import Blank, ItemTwice, Longer, NotFirst, NumberedMembers, OneUnlikeNumber

        if file.kind == "positives":
            return Scanning((ItemTwice("positive_doc_ids"),))
        if file.kind in ("queries", "documents"):
            name = "qid" if file.kind == "queries" else "doc_id"
            asked = Blank("text"), Longer("text", LONG_TEXT), NotFirst(name), OneUnlikeNumber("text")
            return Scanning(asked, passed_over=("text",))
        if file.kind == "scores":
            return Scanning((NumberedMembers("scores", "@doc_ids", "@scores"),), {"@doc_ids": "@doc_ids"}, ("@scores",))
        return Scanning()

    def start_file(self, file: DataFile) -> None:
        self._file = file

    def state(self, file: DataFile) -> Any:
        return self._numeric.get(file), self._scales.get(file)

    def merge(self, file: DataFile, states: Sequence[Any]) -> None:
        numeric = [numeric for numeric, _ in states if numeric is not None]
        if numeric:
            self._numeric[file] = all(numeric)
        for _, scale in states:
            if scale is not None:
                self._scales.setdefault(file, _Scale()).follow(scale)

    def _scores(self, file: DataFile, value: dict[str, Any]) -> Iterator[Problem]:
        scores = value.get("scores")
        if not isinstance(scores, dict):
            return
        seen: dict[int, str] = {}
        for key in scores:
            doc_id = score_key(key)
            if doc_id is None:
                yield Problem("score-key-not-integer", f"/scores/{escape(key)}", key)
            elif doc_id in seen:
                yield Problem("colliding-score-keys", f"/scores/{escape(key)}", key, {"doc_id": doc_id})
            else:
                seen[doc_id] = key
        numbers = [s for s in scores.values() if isinstance(s, int | float) and not isinstance(s, bool)]
        if len(numbers) > 1 and len(set(numbers)) == 1:
            yield Problem("constant-scores", "/scores", value.get("qid"))
        self._scales.setdefault(file, _Scale()).add(numbers)

    def derive(self, kind: str, value: Any, to_show: bool = False) -> dict[str, Any]:
        scores = value.get("scores") if isinstance(value, dict) else None
        if kind != "scores" or not isinstance(scores, dict):
            return {}
        return {"@doc_ids": [d for d in map(score_key, scores) if d is not None and -(2**63) <= d < 2**63]}

    def batch(
        self, kind: str, split: str | None, values: list[Any] | None, batch: Any, sets: Any
    ) -> Iterable[RowProblems]:
        if kind == "queries" and self._has_scores:
            self._queries.update(_integers(batch.codes(("qid",))[0]))
        if kind == "positives" and self._has_scores:
            self._remember_positives(split, batch)
        if kind == "scores":
            self._scored.update(_integers(batch.codes(("qid",))[0]))
            return list(self._check_scores(split, values, batch, sets))
        return ()

    def _remember_positives(self, split: str | None, batch: Any) -> None:
        if split != self._split:
            self._split, self._positives = split, {}
        found: dict[int, list[int]] = {}  # by row: of two lists for a query the last one counts
        _, rows = batch.codes(("positive_doc_ids",))
        documents = _integers(batch.codes(("positive_doc_ids",))[0])
        queries, query_rows = batch.codes(("qid",))
        of_row = dict(zip(map(int, query_rows), _integers(queries), strict=True))
        for row, document in zip(map(int, rows), documents, strict=True):
            found.setdefault(row, []).append(document)
        self._positives.update({of_row[row]: tuple(found[row]) for row in sorted(found) if row in of_row})

    def _check_scores(
        self, split: str | None, values: list[Any] | None, batch: Any, sets: Any
    ) -> Iterator[RowProblems]:
        """What a query's scores lack or contradict, given its positive list and the document master."""
        seen = dict(enumerate(values) if values is not None else batch.noted)
        scanned: ScannedScores | None = None
        if values is None:
            from ragdatakit.validators.light_splade.scores import scanned_scores

            scanned = scanned_scores(batch, seen)
            self._scales.setdefault(self._file, _Scale()).add_array(scanned.numbers)
        if {"positives", "documents"} & sets.unreliable:
            return
        index = sets.lookup("documents", "doc_id")
        queries, query_rows = batch.codes(("qid",))
        of_row = dict(zip(map(int, query_rows), _integers(queries), strict=True))
        looked_at = {row + batch.first_row: value for row, value in seen.items() if _has_scores(value)}
        if scanned is not None:
            proved = {row: query for row, query in of_row.items() if row - batch.first_row not in seen}
            positives = {row: those for row, query in proved.items() if (those := self._positives.get(query))}
            looked_at |= scanned.suspects(positives, index)
        found: dict[str, tuple[list[int], list[Any]]] = {}
        documents, rows = batch.codes(("@doc_ids",))
        by_row = _documents_by_row(documents, rows, looked_at, index)
        for row in sorted(looked_at):
            for rule, shown in self._check_query(split, of_row.get(row), by_row.get(row, []), looked_at[row]["scores"]):
                rows_, values_ = found.setdefault(rule, ([], []))
                rows_.append(row)
                values_.append(shown)
        for rule, (rows_, values_) in found.items():
            facts = [{"what": f"document {value}"} for value in values_] if rule == "scores-for-unknown" else None
            field = "scores" if rule in _ABOUT_DOCUMENTS else "qid"
            yield RowProblems(rule, "scores", field, rows_, values_, facts=facts)

    def _check_query(
        self, split: str | None, query: int | None, scored: list[tuple[int, bool]], scores: dict[str, Any]
    ) -> Iterator[tuple[str, Any]]:
        positives = self._positives.get(query) if query is not None else None
        if positives is None:
            return
        ids = {document for document, _ in scored}
        for document in positives:
            if document not in ids:
                yield "positive-without-score", document
        usable = [document for document, known in scored if known and document not in positives]
        if not usable:
            yield "no-validation-negative" if split == "validation" else "no-negative", query
        if any(not known for _, known in scored):
            yield "scores-for-unknown", next(document for document, known in scored if not known)
        numbers = {score_key(k): v for k, v in scores.items() if isinstance(v, int | float) and not isinstance(v, bool)}
        above = [numbers[d] for d in positives if d in numbers]
        below = [numbers[d] for d in usable if d in numbers]
        if above and below and max(above) < min(below):
            yield "reversed-scores", query

    def start(self) -> Iterator[Placed]:
        dataset = self.dataset
        if dataset.layout in ("splits", "split"):
            yield from self._missing_files()
        for file in dataset.files:
            if file.kind in _READ and not file.path.name.endswith((".ndjson", ".ndjson.gz", ".parquet")):
                yield file, Problem("wrong-suffix")
        for file in dataset.ignored:
            yield file, Problem("ignored-shard")
        yield from self._doubles()
        for file in dataset.of_kind("triplets", "validation"):
            yield file, Problem("unused-triplets")
        if dataset.config is not None:
            yield from self._config(dataset.config)

    def _missing_files(self) -> Iterator[Placed]:
        splits: list[str | None] = list(dict.fromkeys(f.split for f in self.dataset.files if f.split))
        splits = splits or [None]
        stems = {"queries": "query_master", "documents": "doc_master", "positives": "positive_lists"}
        for split in splits:
            place = next((f for f in self.dataset.files if f.split == split), self.dataset.files[0])
            folder = f"{split}/" if split else "the folder"
            for kind, stem in stems.items():
                if not self.dataset.of_kind(kind, split):
                    yield place, self._missing_file(f"{stem}.ndjson", split, folder)
            without_samples = not self.dataset.of_kind("triplets", split) and not self._has_scores
            if self.profiles == ("distil",) and not self._has_scores and split in ("train", None):
                yield place, Problem("missing-file", facts={"file": "file of teacher scores", "split": "the dataset"})
            elif split in ("train", None) and without_samples and self.dataset.layout == "splits":
                yield place, self._missing_file("triplets.ndjson", split, folder, " (nor a file of teacher scores)")

    def _missing_file(self, name: str, split: str | None, folder: str, more: str = "") -> Problem:
        from ragdatakit.validators.lacking import missing_file  # which few datasets need

        problem = Problem("missing-file", facts={"file": name + more, "split": folder})
        return missing_file(problem, self.dataset.root / (split or ""), name)

    def _doubles(self) -> Iterator[Placed]:
        names = {f.place for f in self.dataset.files}
        for file in self.dataset.files:
            if file.path.name.endswith(".ndjson.gz") and (plain := file.place.with_suffix("")) in names:
                yield file, Problem("loaded-twice", facts={"other": plain.name})

    def _config(self, config: DataFile) -> Iterator[Placed]:
        options = self.dataset.options
        lines: dict[str, int] = options["lines"]
        for key in options["missing_keys"]:
            yield config, Problem("missing-config-key", facts={"key": key})
        for key, reason in options["problems"]:
            yield config, Problem("broken-config", facts={"reason": reason}, line=lines.get(key))
        for key, value, reason in options["missing_paths"]:
            facts = {"key": key, "reason": reason}
            yield config, Problem("missing-path", value=value, facts=facts, line=lines.get(key))

    def finish_file(self, file: DataFile, records: int, table: CsvTable | None = None) -> Iterator[Placed]:
        self._records[file.kind, file.split] = self._records.get((file.kind, file.split), 0) + records
        if records > 1 and file.kind in ("queries", "documents") and self._numeric.get(file):
            yield file, Problem("numeric-texts", facts={"records": records})
        scale = self._scales.get(file)
        if scale is not None and (what := scale.suspicion()):
            yield file, Problem("suspicious-score-scale", facts={"what": what})

    def finish(self) -> Iterator[Placed]:
        unknown = self._scored - self._queries
        splits = {f.split for f in self.dataset.files if f.split}
        queries = self.dataset.of_kind("queries")
        whole = bool(queries) and splits <= {f.split for f in queries}  # a master that is missing is an error itself
        if unknown and whole and all(f.readable and f.to_end and f.records for f in queries):
            facts = {
                "what": f"query {min(unknown)}" + (f" (and {len(unknown) - 1:,} more)" if len(unknown) > 1 else "")
            }
            yield self.dataset.of_kind("scores")[0], Problem("scores-for-unknown", facts=facts)
        config, options = self.dataset.config, self.dataset.options
        if config is None or "eval_loss_size" in options["missing_keys"]:
            return
        size, line = options["eval_loss_size"], options["lines"].get("eval_loss_size")
        kinds = ["triplets"] if self.dataset.of_kind("triplets", "train") else ["queries"]
        samples = sum(self._records.get((kind, "train"), 0) for kind in kinds)
        if not isinstance(size, int) or isinstance(size, bool):
            reason = "gives an eval_loss_size that is not a whole number"
            yield config, Problem("broken-config", facts={"reason": reason}, line=line)
        elif size >= samples:
            yield config, Problem("eval-loss-size-too-large", value=size, facts={"samples": samples}, line=line)


class _Scale:
    """The range of all scores of a file."""

    def __init__(self) -> None:
        self.least = float("inf")
        self.greatest = float("-inf")
        self.number = 0
        self.capped = 0

    def add(self, numbers: list[float]) -> None:
        """Take in scores."""
        finite = [n for n in numbers if abs(n) < 1e300]
        if finite:
            self.least = min(self.least, *finite)
            self.greatest = max(self.greatest, *finite)
            self.number += len(finite)
            self.capped += sum(1 for n in finite if abs(n) >= CAP)

    def follow(self, other: _Scale) -> None:
        """Take in what another one has."""
        self.least, self.greatest = min(self.least, other.least), max(self.greatest, other.greatest)
        self.number += other.number
        self.capped += other.capped

    def add_array(self, numbers: Any) -> None:
        """Take in scores that are an array of finite numbers."""
        import numpy as np

        finite = numbers[np.abs(numbers) < 1e300]
        if len(finite):
            self.least = min(self.least, float(finite.min()))
            self.greatest = max(self.greatest, float(finite.max()))
            self.number += len(finite)
            self.capped += int(np.count_nonzero(np.abs(finite) >= CAP))

    def suspicion(self) -> str:
        """What looks wrong with the scale, if anything."""
        if self.capped:
            return f"{self.capped:,} of {self.number:,} scores are at or near the cap of a million"
        if self.number > 10 and self.least >= 0 and self.greatest <= 1 and self.least < self.greatest:
            return f"all {self.number:,} scores are within 0..1"
        return ""


def score_key(key: str) -> int | None:
    """What ``int()`` makes of a score key, or None where it refuses."""
    try:
        return int(key)
    except ValueError:
        return None


def _has_scores(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("scores"), dict)


def _documents_by_row(
    documents: Any, rows: Any, wanted: Mapping[int, Any], index: Any
) -> dict[int, list[tuple[int, bool]]]:
    """The documents that these rows score, and whether each is known; all are where there is no ``index``."""
    known = set(map(int, index.present(index.find(documents)))) if index is not None and wanted else None
    found: dict[int, list[tuple[int, bool]]] = {}
    for i, row in enumerate(map(int, rows) if wanted else ()):
        if row in wanted:
            found.setdefault(row, []).append((_integers(documents[i : i + 1])[0], known is None or i in known))
    return found


def _repeated_positives(value: dict[str, Any]) -> Iterator[Problem]:
    documents = value.get("positive_doc_ids")
    if isinstance(documents, list):
        seen: set[int] = set()
        for i, document in enumerate(documents):
            if isinstance(document, int) and not isinstance(document, bool):
                if document in seen:
                    yield Problem("duplicate-positive", f"/positive_doc_ids/{i}", document)
                seen.add(document)


def _integers(codes: Any) -> list[int]:
    """Integer keys of a batch, whichever kind it is."""
    if isinstance(codes, list):
        return codes
    import numpy as np

    found: list[int] = codes.view(np.int64).tolist()
    return found
