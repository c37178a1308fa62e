"""What each output of `ragdata validate` costs where many findings are written, beside the validation itself.

    python benchmarks/outputs.py [--findings 1000000] [FORM…]

Processor seconds of this process, reading the findings from the disk included. The target: no form costs more than a
tenth of the validation.
"""

from __future__ import annotations

import argparse
import gc
import json
import tempfile
import time
from pathlib import Path

from ragdatakit.api.validate import check
from ragdatakit.reports.findings.output_forms import OUTPUT_FORMS, Found, written
from ragdatakit.schemas.options import ValidateOptions


def make(folder: Path, findings: int) -> None:
    """A BEIR dataset with so many judgements of documents that are not there."""
    (folder / "qrels").mkdir(parents=True)
    with (folder / "corpus.jsonl").open("w") as corpus, (folder / "queries.jsonl").open("w") as queries:
        for number in range(1000):
            corpus.write(json.dumps({"_id": f"d{number}", "title": "", "text": f"Text number {number}."}) + "\n")
            queries.write(json.dumps({"_id": f"q{number}", "text": f"question {number}"}) + "\n")
    with (folder / "qrels/test.tsv").open("w") as qrels:
        qrels.write("query-id\tcorpus-id\tscore\n")
        qrels.writelines(f"q{number % 1000}\tx{number}\t1\n" for number in range(findings))


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("forms", nargs="*", choices=[*OUTPUT_FORMS, []], help="which (default: all)")
    parser.add_argument("--findings", type=int, default=1_000_000)
    given = parser.parse_args()
    gc.set_threshold(200_000, 50, 100)  # as the command does
    with tempfile.TemporaryDirectory() as scratch:
        data = Path(scratch) / "data"
        make(data, given.findings)
        began = time.process_time()
        report, findings = check(data, ValidateOptions(max_per_rule=0))
        whole = time.process_time() - began
        print(f"validate {whole:.1f} s of processor time, {sum(report.counts.values()):,} findings", flush=True)
        for form in given.forms or OUTPUT_FORMS:
            began, size = time.process_time(), 0
            for piece in written(form, Found(report, findings)):
                size += len(piece)
            seconds = time.process_time() - began
            print(f"{form:15} {seconds:6.1f} s  {100 * seconds / whole:5.1f} %  {size / 1e6:8.1f} MB", flush=True)
        findings.close()


if __name__ == "__main__":
    main()
