"""Keys, references, coverage and agreement between files, as set operations over key columns.

What a format declares is interpreted once (`set_plan.py`). An index class does the arithmetic, `PythonIndex` for small
datasets and `NumpyIndex` for big ones, with the same methods.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any, Protocol

from ragdatakit.schemas.declarations import Consistency, Coverage, Membership, Variants
from ragdatakit.validators.python_keys import PythonBatch, PythonConsistency, PythonIndex, spelling
from ragdatakit.validators.row_problems import RowProblems, unreliable_keys
from ragdatakit.validators.set_plan import IndexKey, SetPlan


class Batch(Protocol):
    """Key columns of consecutive records."""

    columns: dict[str, Any]

    def codes(self, fields: tuple[str, ...]) -> tuple[Any, Any]:
        """Values (or codes) of the columns, and their rows."""

    def without(self, field: str) -> list[int]:
        """Rows in which the column has no readable value."""

    def heads(self, fields: tuple[str, ...]) -> tuple[Any, Any]:
        """Values of the first column where the second is a readable list with an item, and their rows."""


class SetChecks:
    """The set checks of one split of a dataset, those of the ``plan``.

    Per block: `probe` (may run in any thread once the kinds it refers to are frozen), then `absorb` in file order.
    ``unreliable`` kinds were not read to their end: nothing is said to be missing from them, and those that something
    refers to are ``unchecked``. Of ``partial`` ones single rows could not be read: what their rows name is not known
    whole, but a key that is not among theirs is missing. ``keyless`` are, by kind, the rows whose key cannot be relied
    on; they are reported where anything (``missed``) refers to a key that is not there.
    """

    def __init__(
        self,
        plan: SetPlan,
        split: str | None,
        kinds: set[str],
        new_index: Callable[[str, tuple[str, ...], bool], Any] = lambda kind, fields, lookups: PythonIndex(),
        new_consistency: Callable[[], Any] = PythonConsistency,
        new_pairs: Callable[[str, tuple[str, ...]], Any] = lambda kind, fields: None,  # a `PairIndex` where it can be
    ) -> None:
        self.split = split
        self.kinds = kinds
        self.unreliable: set[str] = set()
        self.partial: set[str] = set()
        self.unchecked: set[str] = set()
        self.missed: set[str] = set()
        self.keyless: dict[str, list[int]] = {}
        self.plan = plan
        looked_up, compared = plan.looked_up, plan.compared
        self._looked_up = looked_up
        self._pairs = {key: found for key in plan.paired if (found := new_pairs(*key)) is not None}
        self.indexes = {
            key: self._pairs.get(key) or new_index(*key, key in looked_up or key in compared) for key in plan.indexed
        }
        self.heads = {key: new_index(key[0], key[1][:1], True) for key in plan.headed}
        self._consistencies = [(c, new_consistency()) for c in plan.consistencies]
        self._variants = [(v, new_consistency()) for v in plan.variants]
        self.marks: dict[Coverage, Any] = {}

    def probe(self, kind: str, batch: Batch) -> list[RowProblems]:
        """What is wrong with references of these records, by the indexes that are complete."""
        found: list[RowProblems] = []
        dangling: list[Any] = []
        found_in: dict[tuple[IndexKey, str], Any] = {}

        def find(key: IndexKey, field: str) -> Any:
            if (key, field) not in found_in:
                found_in[key, field] = self.indexes[key].find(batch.codes((field,))[0])
            return found_in[key, field]

        for ref in self.plan.references:
            if ref.kind == kind and ref.to_kind in self.unreliable:
                self.unchecked.add(ref.to_kind)
            elif ref.kind == kind:
                key = (ref.to_kind, (ref.to_field,))
                missing = self.indexes[key].missing(find(key, ref.field))
                if not isinstance(batch, PythonBatch):
                    batch.found[ref.field] = found_in[key, ref.field]  # type: ignore[attr-defined]
                if len(missing):
                    values, rows = batch.codes((ref.field,))
                    at, of = _take(rows, missing), _take(values, missing)
                    found.append(RowProblems(ref.rule, kind, ref.field, at, of, are_keys=self.indexes[key].are_keys))
                    dangling.append(at)
                    self.missed.add(ref.to_kind)
        for member in self.plan.memberships:
            if member.kind == kind and member.to_kind not in self.unreliable:
                found += self._probe_membership(member, batch, dangling)
        for coverage in self.plan.coverages:
            for by_kind, field in coverage.by:
                if by_kind == kind and coverage in self.marks:
                    key = (coverage.kind, (coverage.field,))
                    self.indexes[key].mark(find(key, field), self.marks[coverage])
        return found

    def _keys_of(self, batch: Batch, key: IndexKey, fields: tuple[str, ...] = ()) -> tuple[Any, ...]:
        """What an index takes in or looks up of these columns, its own or others: codes, of pairs two columns of them;
        and their rows."""
        if key in self._pairs:
            columns, rows = batch.parts(fields or key[1])  # type: ignore[attr-defined]
            return (*columns, rows)
        return batch.codes(fields or key[1])

    def prepare(self, kind: str, batch: Batch) -> None:
        """Have the batch make the keys, which it keeps, that `absorb` takes in, and look up what need not be taken in:
        that is done by one thread for all."""
        for of_kind, fields in self.indexes:
            if of_kind == kind:
                self._keys_of(batch, (of_kind, fields))
        for same, store in self._consistencies:
            if same.kind == kind:
                batch.look_up_pairs(store, same.names, same.default)  # type: ignore[attr-defined]

    def _probe_membership(self, member: Membership, batch: Batch, dangling: list[Any]) -> list[RowProblems]:
        key = member.to_kind, member.to_fields
        index = self.indexes[key]
        *pairs, rows = self._keys_of(batch, key, member.fields)
        looked_up = index.find(*pairs)
        found = index.missing(looked_up) if member.within else index.present(looked_up)
        if member.within and len(found):
            # A row whose reference dangles, or whose list is missing or unreadable, has been reported for that.
            heads, head_rows = batch.codes(member.fields[:1])
            head_index = self.heads[key]
            without = head_index.missing(head_index.find(heads))
            found = _outside(found, rows, [*dangling, _take(head_rows, without)])
        if member.same_as:
            found = _also_equal(found, rows, batch, member)
        if not len(found):
            return []
        return [RowProblems(member.rule, member.kind, member.fields[1], _take(rows, found))]

    def lookup(self, kind: str, field: str) -> Any | None:
        """The index of a key column, if it is one that answers look-ups."""
        index = self.indexes.get((kind, (field,)))
        return index if (kind, (field,)) in self._looked_up else None

    def absorb(self, kind: str, batch: Batch) -> None:
        """Take in the keys of these records."""
        if named := self.plan.named.get(kind):
            self.keyless.setdefault(kind, []).extend(batch.without(named))
        for (of_kind, fields), index in self.indexes.items():
            if of_kind == kind:
                index.add(*self._keys_of(batch, (of_kind, fields)))
        for (of_kind, fields), index in self.heads.items():
            if of_kind == kind:
                index.add(*batch.heads(fields))
        for same, store in self._consistencies:
            if same.kind == kind:
                _add_pairs(store, batch, same)
        for variant, store in self._variants:
            if variant.kind == kind:
                _add_spellings(store, batch, variant)

    def freeze(self, kind: str) -> list[RowProblems]:
        """After the last file of a kind: which of its keys repeat, which names disagree."""
        found: list[RowProblems] = []
        for (of_kind, _), index in (*self.indexes.items(), *self.heads.items()):
            if of_kind == kind:
                index.freeze()
        for coverage in self.plan.coverages:
            if coverage.kind == kind:
                self.marks[coverage] = self.indexes[kind, (coverage.field,)].new_marks()
        for key in self.plan.keys:
            if key.kind == kind:
                rows, firsts = self.indexes[kind, key.fields].repeats()
                if len(rows):
                    first_seen = RowProblems(
                        key.rule, kind, key.fields[-1], rows, None, firsts, kind, "first seen here"
                    )
                    first_seen.is_repeat = True
                    found.append(first_seen)
        stores = [(c.rule, c.kind, meant_field(*c.names[0]), s, "first given here") for c, s in self._consistencies]
        stores += [(v.rule, v.kind, v.fields[0], s, "spelled otherwise here") for v, s in self._variants]
        for rule, of_kind, field, store, note in stores:
            if of_kind == kind:
                rows, firsts = store.disagreements()
                if len(rows):
                    found.append(RowProblems(rule, kind, field, rows, None, firsts, kind, note))
        return found

    def finish(self) -> list[RowProblems]:
        """After the last file: keys that nothing names."""
        found: list[RowProblems] = []
        for coverage in self.plan.coverages:
            kinds = [k for k, _ in coverage.by if k in self.kinds]
            if coverage in self.marks and self.unreliable.isdisjoint(kinds) and self.partial.isdisjoint(kinds):
                rows = self.indexes[coverage.kind, (coverage.field,)].unmarked(self.marks[coverage])
                if len(rows):
                    found.append(RowProblems(coverage.rule, coverage.kind, coverage.field, rows))
        return found + self.doubtful()

    def doubtful(self) -> list[RowProblems]:
        """The kinds that references missed and of which some keys cannot be relied on, at the first such row."""
        counted = [(kind, *self.keyless_rows(kind)) for kind in sorted(self.missed)]
        named = self.plan.named
        return [unreliable_keys(kind, named.get(kind, ""), first, count) for kind, count, first in counted if count]

    def keyless_rows(self, kind: str) -> tuple[int, int]:
        """How many rows of a kind have a key that cannot be relied on, and the first of them."""
        rows = self.keyless.get(kind, ())
        return len(set(rows)), min(rows, default=-1)

    def compare(self, earlier: SetChecks) -> list[RowProblems]:
        """What this split has in common with an earlier one and should not, and where they disagree."""
        found: list[RowProblems] = []
        both = self.kinds & earlier.kinds
        for apart in self.plan.disjoints:
            if apart.kind not in both:
                continue
            rows, firsts = self.indexes[apart.kind, (apart.field,)].common(earlier.indexes[apart.kind, (apart.field,)])
            if len(rows):
                found.append(
                    RowProblems(apart.rule, apart.kind, apart.field, rows, None, firsts, apart.kind, "also here")
                )
        for same in self.plan.agreements:
            for name, value in same.names if same.kind in both else ():
                rows, firsts = self.indexes[same.kind, (name,)].common(earlier.indexes[same.kind, (name,)])
                agreeing = set(
                    self.indexes[same.kind, (name, value)].common(earlier.indexes[same.kind, (name, value)])[0]
                )
                pairs = [(r, f) for r, f in zip(rows, firsts, strict=True) if r not in agreeing]
                if pairs:
                    found.append(
                        RowProblems(
                            same.rule,
                            same.kind,
                            name,
                            [r for r, _ in pairs],
                            None,
                            [f for _, f in pairs],
                            same.kind,
                            "the other text",
                        )
                    )
        return found


def _take(values: Any, positions: Any) -> Any:
    if isinstance(values, list):
        return [values[i] for i in positions]
    if isinstance(values, range):  # rows of a batch of codes, all of them readable
        return values.start + positions if not isinstance(positions, list) else [values[i] for i in positions]
    return values[positions]


def _outside(found: Any, rows: Any, others: list[Any]) -> Any:
    """The positions of which the row is none of the others."""
    if isinstance(found, list):
        gone = set(chain.from_iterable(others))
        return [i for i in found if rows[i] not in gone]
    import numpy as np

    from ragdatakit.arrays.codes import are_among, distinct

    those = distinct(np.concatenate([np.asarray(each, np.int64) for each in others]))
    return found[~are_among(_take(rows, found), those)]


def _also_equal(found: Any, rows: Any, batch: Batch, member: Membership) -> Any:
    if not isinstance(batch, PythonBatch):
        return batch.also_equal(found, member.fields, member.same_as)  # type: ignore[attr-defined]
    second, other = batch.columns[member.fields[1]], batch.columns[member.same_as]
    first = batch.first_row
    equal = [i for i, row in enumerate(rows) if second[row - first] == other[row - first]]
    return sorted({*found, *equal})


def _add_pairs(store: Any, batch: Batch, same: Consistency) -> None:
    """All that the records say of names, record by record."""
    if not isinstance(batch, PythonBatch):
        batch.give_pairs(store, same.names, same.default)  # type: ignore[attr-defined]
        return
    triples = []
    for name, value in same.names:
        for i, (one, given) in enumerate(zip(batch.columns[name], batch.columns[value], strict=True)):
            if one is not None:
                triples.append((batch.first_row + i, one, same.default if given is None else given))
    _add_in_order(store, triples)


def _add_spellings(store: Any, batch: Batch, variant: Variants) -> None:
    """The names of the records under what their spelling is reduced to."""
    if not isinstance(batch, PythonBatch):
        batch.give_spellings(store, variant.fields)  # type: ignore[attr-defined]
        return
    triples = []
    for field in variant.fields:
        names, rows = batch.codes((field,))
        triples += [(row, spelling(n), n) for n, row in zip(names, rows, strict=True) if isinstance(n, str)]
    _add_in_order(store, triples)


def _add_in_order(store: Any, triples: list[tuple[int, Any, Any]]) -> None:
    triples.sort(key=lambda t: t[0])
    store.add([t[1] for t in triples], [t[2] for t in triples], [t[0] for t in triples])


def meant_field(name: str, value: str) -> str:
    """The field that a finding points at: the value that differs, or its name where that is of the file."""
    return name if value.startswith("@") else value
