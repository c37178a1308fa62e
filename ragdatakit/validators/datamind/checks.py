"""The checks of DataMind datasets that their declaration cannot say, for both loaders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragdatakit.files.containers.lines import line_begin, line_ends
from ragdatakit.files.datasets import DataFile
from ragdatakit.schemas.findings import Problem, Related
from ragdatakit.validators.checks import FormatChecks, Needs, Scanning
from ragdatakit.validators.datamind.bench import plain_questions, question_problems, reference_problems
from ragdatakit.validators.datamind.chunks import FATAL_RULES, chunk_problems, v2_hash, v2_id
from ragdatakit.validators.datamind.csv import csv_problems
from ragdatakit.validators.datamind.images import ImageFolder
from ragdatakit.validators.datamind.layout import CLOCK_SECONDS, layout_problems, storage_of
from ragdatakit.validators.datamind.shapes import shape_of
from ragdatakit.validators.datamind.skills import read_skill
from ragdatakit.validators.datamind.sql import file_problems, read_sql
from ragdatakit.validators.datamind.tallies import Tally, record_traits
from ragdatakit.validators.datamind.triples import triple_problems

if TYPE_CHECKING:
    from ragdatakit.files.datasets import Dataset
    from ragdatakit.validators.checks import Placed
    from ragdatakit.validators.coded_columns import ScannedCodes
    from ragdatakit.validators.csv_parts import CsvTable
    from ragdatakit.validators.datamind.sql_run import TrialDatabase

_LINES = ("chunks", "triplets", "bench")
_UTF8 = ("tables", "plain-bench", "claude-skills", "uploads-csv", "documents")
_BATCH = 2_048
_FOUND = {"array": "one JSON array", "spread objects": "objects over several lines"}


class DataMindChecks(FormatChecks):
    """Chunks, triples, questions and results one by one; SQL, skills and tables file by file; the layout."""

    age_seconds = CLOCK_SECONDS

    def __init__(self, dataset: Dataset, profiles: tuple[str, ...]) -> None:
        super().__init__(dataset, profiles)
        self._for_v1 = not profiles or "v1" in profiles
        self._images = ImageFolder(_profile_folder(dataset))
        self._tally = Tally()
        self._fatal = 0
        self._chunks = 0
        self._skills: dict[str, tuple[DataFile, int | None]] = {}
        self._trial: TrialDatabase | None = None
        self._shapes = self._settle_kinds()
        chunk_files = dataset.of_kind("chunks")
        self._name = ""
        if dataset.layout == "profile" and chunk_files:
            self._images.list_unnamed()

    def _settle_kinds(self) -> list[tuple[DataFile, str, str]]:
        """Files that are not what their name says get another kind; those that need a word are returned."""
        found: list[tuple[DataFile, str, str]] = []
        for file in self.dataset.files:
            if file.kind in _LINES:
                shape = shape_of(file.path, plain_allowed=file.kind == "bench")
                if shape == "plain text":
                    file.kind = "plain-bench"
                elif shape != "lines":
                    rule = "questions-in-array" if file.kind == "bench" else "not-json-lines"
                    found.append((file, rule, _FOUND[shape]))
                    file.kind = "not-read"
        return found

    def needs(self, kind: str, split: str | None = None) -> Needs:
        """All JSON kinds have something that the declaration does not say."""
        return Needs(records=kind in (*_LINES, "results"), in_ranges=kind in (*_LINES, "results"))

    def start_file(self, file: DataFile) -> None:
        """A chunk without a source gets the file's name for one; question ids are compared within a file."""
        self._name = file.name.rsplit("/", 1)[-1]

    def state(self, file: DataFile) -> Any:
        """What is counted, and the images that no record has named."""
        return self._fatal, self._tally.counts(), self._images.unnamed()

    def merge(self, file: DataFile, states: Sequence[Any]) -> None:
        """The sums; and the images that are named nowhere."""
        for fatal, counts, unnamed in states:
            self._fatal += fatal
            self._tally.add(counts)
            self._images.keep_unnamed(unnamed)

    def record(self, file: DataFile, value: Any) -> Iterable[Problem]:
        """The faults of one chunk, triple, question or result."""
        self.start_file(file)
        if file.kind == "chunks":
            problems = list(chunk_problems(value, self._images, self._for_v1))
            self._fatal += any(p.rule in FATAL_RULES for p in problems)
        elif file.kind == "triplets":
            problems = list(triple_problems(value, self._images))
        elif file.kind == "bench":
            return question_problems(value)
        elif file.kind == "results":
            return reference_problems(value)
        else:
            return ()
        self._tally.note(record_traits(file.kind, value, self._name))
        return problems

    def scanning(self, file: DataFile) -> Scanning:
        """What the rules look at; what is in nearly every record is counted. The keys of chunks are made of fields."""
        from ragdatakit.validators.datamind.predicates import CHUNKS, TRIPLES, own_source

        if file.kind == "chunks":
            asked = (*CHUNKS, own_source(self._name))
            return Scanning(asked, made_of=("text", "id", "source"), derive=self._derive_chunks, counted=self._counted)
        return Scanning(TRIPLES, counted=self._counted) if file.kind == "triplets" else Scanning()

    def _counted(self, counts: Mapping[Any, int]) -> None:
        """What the records have that were not looked at one by one."""
        self._tally.add(Counter(counts))

    def derive(self, kind: str, value: Any, to_show: bool = False) -> dict[str, Any]:
        """v2's ids, the texts that have several ids, and the set that a question belongs to."""
        if kind == "bench":
            return {"@set": self._name}
        if kind != "chunks":
            return {}
        chunk_id = v2_id(value)
        repeatable = isinstance(value, dict) and (chunk_id is not None or self.profiles == ("v1",))
        text = value.get("text") if repeatable else None
        return {
            "@v2_id": chunk_id,
            "@v2_hash": v2_hash(value, self._name),
            "@text": text if isinstance(text, str) and text.strip() else None,
        }

    def _derive_chunks(self, given: Mapping[str, ScannedCodes], batch: Any) -> None:
        from ragdatakit.validators.datamind.keys import fill_keys

        fill_keys(given, batch, self._name, self.profiles == ("v1",))

    def text(self, file: DataFile, data: bytes) -> Iterable[Problem]:
        """The faults of one text file."""
        if file.kind in _UTF8:
            yield from _invalid_utf8(data)
        if file.kind == "tables":
            yield from self._sql(file, data)
        elif file.kind == "plain-bench":
            yield from plain_questions(data)
        elif file.kind == "claude-skills":
            yield from self._skill(file, data)
        elif file.kind == "uploads-csv":
            yield from csv_problems(data)

    def _sql(self, file: DataFile, data: bytes) -> Iterator[Problem]:
        sql = read_sql(data)
        yield from file_problems(sql)
        if not all(other.readable for other in self.dataset.of_kind("tables")):
            return  # the tables that it needs may be in the other file
        if self._trial is None:
            from ragdatakit.validators.datamind.sql_run import TrialDatabase  # with SQLite

            self._trial = TrialDatabase()
        yield from self._trial.run(file.name, sql)

    def _skill(self, file: DataFile, data: bytes) -> Iterator[Problem]:
        skill = read_skill(data, Path(file.name).parent.name)
        yield from skill.problems
        if skill.name in self._skills:
            other, line = self._skills[skill.name]
            related = (Related(other.display, line, "first given here"),)
            yield Problem("duplicate-skill-name", value=skill.name, line=skill.name_line, related=related)
        else:
            self._skills[skill.name] = (file, skill.name_line)

    @property
    def beside(self) -> Iterable[Path]:
        """The profile with the images of a lone file, and what was built of a profile."""
        places = (_profile_folder(self.dataset), storage_of(self.dataset))
        return [place for place in places if place is not None]

    def start(self) -> Iterator[Placed]:
        """The layout, and files that are not lines of JSON."""
        for file, problem in layout_problems(self.dataset):
            yield file, problem
        for file, rule, found in self._shapes:
            yield file, Problem(rule, facts={"found": found})

    def finish_file(self, file: DataFile, records: int, table: CsvTable | None = None) -> Iterator[Placed]:
        """What was counted in the file."""
        for problem in self._tally.problems():
            yield file, problem
        if file.kind == "chunks":
            self._chunks += records

    def finish(self) -> Iterator[Placed]:
        """What shows only when all files were read: late tables, half-built indexes, images that nothing names."""
        chunk_files = self.dataset.of_kind("chunks")
        if self._fatal and self._chunks > _BATCH:
            facts = {"count": f"{self._fatal:,}", "records": f"{self._chunks:,}"}
            yield chunk_files[0], Problem("partial-index", facts=facts)
        named_in = [*chunk_files, *self.dataset.of_kind("triplets")]
        for name in self._images.unnamed() if all(f.readable for f in named_in) else ():
            path = self.dataset.root / name
            yield DataFile(path, str(path), name, "images"), Problem("unused-image")
        yield from self._finish_trial()

    def _finish_trial(self) -> Iterator[Placed]:
        if self._trial is None:
            return
        files = {f.name: f for f in self.dataset.files}
        # A lone file may need tables that its neighbours create.
        waiting = () if self.dataset.layout == "file" else self._trial.waiting()
        for name, problem in (*waiting, *self._trial.row_problems()):
            yield files[name], problem
        self._trial.close()


def _profile_folder(dataset: Dataset) -> Path | None:
    """Where image paths start: known for a profile, and for a lone file in a folder called chunks or triplets."""
    if dataset.layout == "profile":
        return dataset.root
    if dataset.layout == "file" and dataset.root.absolute().name in ("chunks", "triplets"):
        return dataset.root.absolute().parent
    return None


def _invalid_utf8(data: bytes) -> Iterator[Problem]:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        begin = line_begin(data, error.start)
        position = len(data[begin : error.start].decode("utf-8"))
        line = line_ends(data[:begin]) + 1
        yield Problem("invalid-utf8", facts={"byte": data[error.start]}, line=line, position=position, length=1)
