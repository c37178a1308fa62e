"""Runs the whole grid through both engines, the scanner in 1, 2 and 7 threads, and writes docs/fault-score.md."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.faults.engines import SCANNED, SMALL
from tests.faults.graphrag import TABLE_DRAFTS, TableBench, table_injections
from tests.faults.grid import DRAFTS, Bench, Verdict, injections, judge
from tests.faults.score import PAGE, page, tally

JOBS = (1, 2, 7)


def main() -> int:
    """Write the page; what went wrong goes to stderr."""
    differing: list[str] = []
    verdicts = list(_verdicts(differing))
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(tally(verdicts)), encoding="utf-8")
    wrong = [v for v in verdicts if not v.right]
    for said in (*wrong, *differing):
        print(said, file=sys.stderr)
    print(f"{PAGE.name}: {len(verdicts):,} injections, {len(wrong):,} judged wrongly, {len(differing):,} differently")
    return 1 if wrong or differing else 0


def _verdicts(differing: list[str]) -> Iterator[Verdict]:
    """The verdict on each injection; where the engines do not agree is added to ``differing``."""
    for draft in DRAFTS:
        with tempfile.TemporaryDirectory() as folder:
            bench = Bench(draft, Path(folder))
            for injection in injections(draft):
                found = bench.findings(injection, SMALL)
                if any(bench.findings(injection, SCANNED, jobs) != found for jobs in JOBS):
                    differing.append(f"the engines differ: {injection}")
                yield judge(injection, found)
    for tables in TABLE_DRAFTS:
        with tempfile.TemporaryDirectory() as folder:
            index = TableBench(tables, Path(folder))
            for damage in table_injections(tables):
                found = index.findings(damage, SMALL)
                if index.findings(damage, SCANNED) != found:
                    differing.append(f"the engines differ: {damage}")
                yield judge(damage, found)


if __name__ == "__main__":
    raise SystemExit(main())
