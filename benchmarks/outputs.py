"""What `ragdata validate` costs where there is much to say or to mend, beside the validation itself.

    python benchmarks/outputs.py [--findings 1000000] [FORM…]     each output
    python benchmarks/outputs.py --baseline [--findings 1000000]  a baseline that is written, read, and no longer fits
    python benchmarks/outputs.py --fix [--megabytes 500]          100 repairs, 3 rounds in turns

Processor seconds (user and system), for outputs those of this process, reading the findings from the disk included. The
targets: no form costs more than a tenth of the validation; memory does not grow with what is in a baseline; repairs
take no more than twice the time of a check. What was measured is in `results-outputs.md`.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ragdatakit.api.validating.check import check
from ragdatakit.reports.findings.output_forms import OUTPUT_FORMS, Found, written
from ragdatakit.schemas.options import ValidateOptions


def make(folder: Path, findings: int) -> None:
    """A BEIR dataset with so many judgements of documents that are not there."""
    (folder / "qrels").mkdir(parents=True)
    _judge(folder / "qrels/test.tsv", range(findings))
    with (folder / "corpus.jsonl").open("w") as corpus, (folder / "queries.jsonl").open("w") as queries:
        for number in range(1000):
            corpus.write(json.dumps({"_id": f"d{number}", "title": "", "text": f"Text number {number}."}) + "\n")
            queries.write(json.dumps({"_id": f"q{number}", "text": f"question {number}"}) + "\n")


def _judge(file: Path, numbers: range, query: int | None = None) -> None:
    with file.open("w") as qrels:
        qrels.write("query-id\tcorpus-id\tscore\n")
        qrels.writelines(f"q{number % 1000 if query is None else query}\tx{number}\t1\n" for number in numbers)


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("forms", nargs="*", choices=[*OUTPUT_FORMS, []], help="which (default: all)")
    parser.add_argument("--findings", type=int, default=1_000_000)
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--baseline", action="store_true")
    parser.add_argument("--fix", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        data = Path(scratch) / "data"
        if given.baseline:
            measure_baseline(data, given.findings)
        elif given.fix:
            measure_fixes(data, given.megabytes)
        else:
            measure_outputs(data, given.findings, given.forms)


def measure_outputs(data: Path, number: int, forms: list[str]) -> None:
    """Each form, with all findings."""
    gc.set_threshold(200_000, 50, 100)  # as the command does
    make(data, number)
    began = time.process_time()
    report, findings = check(data, ValidateOptions(max_per_rule=0))
    whole = time.process_time() - began
    print(f"validate {whole:.1f} s of processor time, {sum(report.counts.values()):,} findings", flush=True)
    for form in forms or OUTPUT_FORMS:
        began, size = time.process_time(), 0
        for piece in written(form, Found(report, findings)):
            size += len(piece)
        seconds = time.process_time() - began
        print(f"{form:15} {seconds:6.1f} s  {100 * seconds / whole:5.1f} %  {size / 1e6:8.1f} MB", flush=True)
    findings.close()


def measure_baseline(data: Path, findings: int) -> None:
    """With all findings in one file, and a thousand in each of many: above 50 of a rule in a file they are counted."""
    for files in (1, findings // 1000):
        shutil.rmtree(data, ignore_errors=True)
        make(data, findings)
        _spread(data, findings, files)
        baseline = data.parent / "ragdata-baseline.jsonl"
        baseline.unlink(missing_ok=True)
        print(f"{findings:,} findings in {files:,} files", flush=True)
        _show("without a baseline", *_run(str(data)))
        _show("written", *_run(str(data), "--write-baseline", "--baseline", str(baseline)))
        _show("read", *_run(str(data), "--baseline", str(baseline)))
        _spread(data, findings // 2, files)
        _show("half of it stale", *_run(str(data), "--baseline", str(baseline)))
        print(f"  {baseline.stat().st_size / 1e3:.1f} kB", flush=True)


def _spread(folder: Path, findings: int, files: int) -> None:
    """The judgements in so many splits, each query in one."""
    shutil.rmtree(folder / "qrels")
    (folder / "qrels").mkdir()
    each = findings // files
    for number in range(files):
        name, query = (f"s{number}", number) if files > 1 else ("test", None)
        _judge(folder / f"qrels/{name}.tsv", range(number * each, (number + 1) * each), query)


def measure_fixes(data: Path, megabytes: int) -> None:
    """A corpus in which 100 records have a comma too many."""
    make(data, 0)
    text, number = "The light on the north reef was built in one summer and mapped by two boats. " * 6, megabytes * 1900
    with (data / "damaged").open("w") as corpus:
        for i in range(number):
            line = json.dumps({"_id": f"d{i}", "title": "", "text": f"{text}{i}", "metadata": {}})
            corpus.write((f"{line[:-1]},}}" if i % (number // 100) == 5 else line) + "\n")
    (data / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    damaged = shutil.move(data / "damaged", data.parent / "damaged")
    ratios = []
    for _ in range(3):
        shutil.copyfile(damaged, data / "corpus.jsonl")
        checked, repaired = _run(str(data)), _run(str(data), "--fix")
        _show("validate", *checked)
        _show("validate --fix", *repaired)
        ratios.append(repaired[0] / checked[0])
    print(f"--fix ÷ validate: {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")


def _run(*words: str) -> tuple[float, float]:
    """Processor seconds of the command, and the most memory it held, in MiB."""
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    command = [sys.executable, "-m", "ragdatakit", "validate", *words]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode > 1:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def _show(name: str, seconds: float, memory: float) -> None:
    print(f"  {name:20} {seconds:6.2f} s  {memory:6.0f} MiB", flush=True)


if __name__ == "__main__":
    main()
