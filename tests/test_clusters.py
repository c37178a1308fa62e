"""`--engine ray` and `--engine spark` on clusters of two workers, in other folders: the report is that of one machine,
to the byte, whatever is killed meanwhile, or there is none."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from random import Random
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import ragdatakit
from ragdatakit.api.in_parts import converting, reporting
from ragdatakit.converters.light_splade import document_parts
from ragdatakit.validators.ranges import plan
from tests.command_line import FIXTURES, run

_SECONDS = 90
USUAL_BYTES = plan.RANGE_BYTES


def free_port() -> int:
    with socket.socket() as at:
        at.bind(("127.0.0.1", 0))
        return int(at.getsockname()[1])


@contextmanager
def begun(*words: str, folder: Path, ready: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process with all its children, until the block ends; ``ready`` is what it says when others may connect."""
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "log"
    with log.open("wb") as written:
        process = subprocess.Popen(words, cwd=folder, stdout=written, stderr=written, start_new_session=True)
    try:
        for _ in range(_SECONDS * 10):
            if ready in log.read_text(errors="replace"):
                break
            assert process.poll() is None, log.read_text(errors="replace")
            time.sleep(0.1)
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A light-splade split in shards, some packed, with faults of lines, records and references."""
    root, random = tmp_path_factory.mktemp("shared") / "train", Random(3)
    root.mkdir()
    queries = [{"qid": n if n % 50 else str(n), "text": f"query {n % 300}"} for n in range(400)]
    documents = [{"doc_id": n, "text": f"document {n}" * (n % 70 > 0)} for n in (*range(600), 5)]
    positives = [{"qid": n, "positive_doc_ids": [n, n + 1, 599 + n // 100]} for n in range(400)]
    triplets = [
        {"qid": random.randrange(403), "pos_doc_id": random.randrange(602), "neg_doc_id": random.randrange(600)}
        for _ in range(4000)
    ]
    for name, rows in (
        ("query_master", queries),
        ("doc_master", documents),
        ("positive_lists", positives),
        ("triplets", triplets),
    ):
        lines = [json.dumps(row) for row in rows]
        lines[len(lines) // 2] = '{"qid": '
        (root / f"{name}.ndjson").write_text("\n".join(lines) + "\n")
    return root


@pytest.fixture(autouse=True)
def small_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "RANGE_BYTES", 6_000)


def outcome(folder: Path, *words: str) -> tuple[int, str]:
    """The exit code and the JSON."""
    found = run("validate", folder, "--output-format", "json", "-v", *words)
    return found.code, re.sub(r'("seconds": )[\d.e-]+', r"\1 0", found.out) or found.err


def key_numbers(folder: Path, *words: str) -> str:
    """The exit code and the JSON of a report by an engine, without the time it took."""
    found = run("report", folder, "--output-format", "json", *words)
    without = re.sub('"seconds": [^,}]*', "", found.out)
    return f"{found.code} {without or found.err}"


@pytest.fixture
def in_small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reporting, "PART_BYTES", 6_000)


def converted(source: Path, target: Path, *words: str) -> tuple[int, str, dict[str, bytes]]:
    """The exit code, what is said, and the files of a conversion."""
    words = words if "--to" in words else ("--to", "light-splade", *words)
    found = run("convert", source, target, "--output-format", "json", *words)
    files = {path.relative_to(target).as_posix(): path.read_bytes() for path in target.rglob("*") if path.is_file()}
    return found.code, found.out.replace(str(target), "") or found.err, files


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BEIR set."""
    root = tmp_path_factory.mktemp("corpus") / "beir"
    (root / "qrels").mkdir(parents=True)
    rows = [{"_id": f"d{n}", "title": "", "text": f"document {n} " * 5, "metadata": {}} for n in range(2000)]
    (root / "corpus.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    rows = [{"_id": f"q{n}", "text": f"query {n}", "metadata": {}} for n in range(200)]
    (root / "queries.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    lines = [f"q{n}\td{n}\t1\nq{n}\td{n + 7}\t0\n" for n in range(200)]
    (root / "qrels" / "train.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(lines))
    return root


def is_ours(process: int) -> bool:
    """Whether this process has begun it, or one that has."""
    try:
        while process > 1 and process != os.getpid():
            process = int(Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()[1])
    except OSError:  # it has ended
        return False
    return process > 1


def processes(word: str) -> list[int]:
    """Those whose command line has a word."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if word in place.read_text(errors="replace").replace("\0", " "):
                found.append(int(place.parent.name))
        except OSError:
            continue
    return found


def executors() -> set[int]:
    """Those of Spark that we have begun: other tests may run beside."""
    return {process for process in processes("CoarseGrainedExecutorBackend") if is_ours(process)}


@contextmanager
def killing(word: str, times: int) -> Iterator[list[int]]:
    """While the block runs, processes of ours with a word in their command line are killed, so many times."""
    killed: list[int] = []
    over = threading.Event()

    def kill() -> None:
        while len(killed) < times and not over.is_set():
            for process in processes(word):
                with suppress(OSError):
                    if is_ours(process):
                        os.kill(process, signal.SIGKILL)
                        killed.append(process)
                        break
            time.sleep(0.02)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The address of a cluster of two nodes, and the second one."""
    pytest.importorskip("ray", reason="ray is not installed (make test-cluster)")
    ray, port = str(Path(sys.executable).with_name("ray")), free_port()
    common = ("--num-cpus=1", "--node-ip-address=127.0.0.1", "--block", "--object-store-memory=100000000")
    settings = {"RAY_raylet_start_wait_time_s": "120", "RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled"}
    root = tmp_path_factory.mktemp("ray")
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setenv(name, value)
        stack.enter_context(
            begun(
                *(ray, "start", "--head", f"--port={port}", "--include-dashboard=false", *common),
                folder=root / "head",
                ready="Ray runtime started",
            )
        )
        address = f"127.0.0.1:{port}"
        second = stack.enter_context(
            begun(*(ray, "start", f"--address={address}", *common), folder=root / "second", ready="Ray runtime started")
        )
        yield address, second


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a standalone cluster with two workers."""
    pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed (make test-cluster)")
    if subprocess.run(["java", "-version"], capture_output=True, check=False).returncode:
        pytest.skip("Spark needs Java")
    home = Path(pyspark.__file__).parent
    begin, port, root = str(home / "bin/spark-class"), free_port(), tmp_path_factory.mktemp("spark")
    settings = {
        "SPARK_HOME": str(home),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
    }
    address = f"spark://127.0.0.1:{port}"
    master = ("--host", "127.0.0.1", "--port", str(port), "--webui-port", "0")
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setenv(name, value)
        stack.enter_context(
            begun(
                begin,
                "org.apache.spark.deploy.master.Master",
                *master,
                folder=root / "master",
                ready="I have been elected",
            )
        )
        for name in ("one", "two"):
            worker = ("--cores", "1", "--memory", "700m", "--webui-port", "0", "--work-dir", str(root / name / "w"))
            stack.enter_context(
                begun(
                    begin,
                    "org.apache.spark.deploy.worker.Worker",
                    *worker,
                    address,
                    folder=root / name,
                    ready="Successfully registered",
                )
            )
        yield address


class TestRay:
    @pytest.fixture
    def words(self, nodes: tuple[str, Any]) -> tuple[str, ...]:
        return "--engine", "ray", "--engine-option", f"address={nodes[0]}"

    @pytest.mark.parametrize("cap", ["0", "2"])
    @pytest.mark.parametrize("size", [-1, 3 << 20], ids=["as-large", "as-small"])
    def test_the_report_is_the_same(
        self, data: Path, words: tuple[str, ...], cap: str, size: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("ragdatakit.validators.dataset_run.SMALL_DATASET", size)
        monkeypatch.chdir(data.parent)

        expected = outcome(Path("train"), "--max-per-rule", cap)

        assert expected[0] == 1
        assert outcome(Path("train"), "--max-per-rule", cap, *words) == expected

    def test_workers_that_are_killed(self, data: Path, words: tuple[str, ...]) -> None:
        expected = outcome(data)

        with killing("ray::attempted", times=2) as killed:
            found = outcome(data, *words)

        assert found == expected
        assert killed

    @pytest.mark.usefixtures("in_small_parts")
    def test_reports_have_the_same_numbers(
        self, data: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(data.parent)
        expected = key_numbers(Path("train"), "--engine", "local", "--jobs", "1")
        assert expected.startswith("0 ")

        with killing("ray::attempted", times=1) as killed:
            found = key_numbers(Path("train"), *words)

        assert found == expected
        assert killed

    @pytest.mark.usefixtures("in_small_parts")
    def test_reports_of_workers_that_share_a_folder(self, data: Path, words: tuple[str, ...], tmp_path: Path) -> None:
        expected = key_numbers(data, "--engine", "local", "--jobs", "1")

        assert key_numbers(data, *words, "--engine-option", f"scratch={tmp_path}") == expected
        assert not list(tmp_path.iterdir())

    def test_conversions_are_the_same(
        self, corpus: Path, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(converting, "PART_BYTES", 9_000)
        monkeypatch.chdir(corpus.parent)
        sharded = ("--shard-size", "8KB")
        expected = converted(Path("beir"), tmp_path / "one", *sharded)

        with killing("ray::attempted", times=2) as killed:
            found = converted(Path("beir"), tmp_path / "two", *sharded, *words)

        assert expected[0] == 0
        assert found == expected
        assert killed

    def test_a_cluster_that_wants_a_token(self, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        pytest.importorskip("ray", reason="ray is not installed (make test-cluster)")
        monkeypatch.setenv("RAY_AUTH_TOKEN", "a" * 64)
        monkeypatch.setenv("RAY_AUTH_MODE", "token")
        monkeypatch.setenv("RAY_raylet_start_wait_time_s", "120")
        port = free_port()
        node = ("start", "--head", f"--port={port}", "--include-dashboard=false", "--num-cpus=1", "--block")
        address = ("--node-ip-address=127.0.0.1", "--object-store-memory=100000000")
        ray = str(Path(sys.executable).with_name("ray"))
        with begun(ray, *node, *address, folder=tmp_path / "head", ready="Ray runtime started"):
            monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
            started = time.monotonic()
            found = run("validate", data, "--engine", "ray", "--engine-option", f"address=127.0.0.1:{port}")

        assert found.code == 2
        assert found.err.startswith(
            f"ragdata: Ray: the cluster at 127.0.0.1:{port} takes only those who have its token"
        )
        assert time.monotonic() - started < 15

    def test_in_a_session_of_the_caller(self, data: Path, nodes: tuple[str, Any]) -> None:
        import ray

        ray.init(nodes[0], log_to_driver=False)
        try:
            report = ragdatakit.validate(data, engine="ray")
            assert ray.is_initialized(), "it is the caller's"
        finally:
            ray.shutdown()
        assert report.counts == ragdatakit.validate(data).counts

    def test_no_cluster_at_the_address(self, data: Path) -> None:
        pytest.importorskip("ray", reason="ray is not installed (make test-cluster)")

        found = run(*("validate", data, "--engine", "ray", "--engine-option", f"address=127.0.0.1:{free_port()}"))

        assert found.code == 2
        assert found.err.startswith("ragdata: Ray: "), found.err
        assert "Traceback" not in found.err

    def test_a_node_that_goes_away(self, data: Path, nodes: tuple[str, Any], words: tuple[str, ...]) -> None:
        expected = outcome(data)
        gone = threading.Timer(1.5, lambda: os.killpg(nodes[1].pid, signal.SIGKILL))
        gone.start()

        found = outcome(data, *words)

        gone.join()
        assert found == expected


class TestSpark:
    @pytest.fixture
    def words(self, master: str) -> tuple[str, ...]:
        options = (f"master={master}", "spark.executor.memory=512m", "spark.driver.bindAddress=127.0.0.1")
        return "--engine", "spark", *(word for each in options for word in ("--engine-option", each))

    def test_the_report_is_the_same(self, data: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("ragdatakit.validators.dataset_run.SMALL_DATASET", -1)
        monkeypatch.chdir(data.parent)

        expected = outcome(Path("train"))

        assert expected[0] == 1
        assert outcome(Path("train"), *words) == expected

    @pytest.mark.usefixtures("in_small_parts")
    def test_reports_have_the_same_numbers(self, data: Path, words: tuple[str, ...]) -> None:
        expected = key_numbers(data, "--engine", "local", "--jobs", "1")

        with killing("CoarseGrainedExecutorBackend", times=1) as killed:
            found = key_numbers(data, *words)

        assert found == expected
        assert killed

    def test_conversions_are_the_same(
        self, corpus: Path, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(converting, "PART_BYTES", 60_000)
        expected = converted(corpus, tmp_path / "one")

        with killing("CoarseGrainedExecutorBackend", times=1) as killed:
            found = converted(corpus, tmp_path / "two", *words)

        assert expected[0] == 0
        assert found == expected
        assert killed

    def test_ctrl_c(self, words: tuple[str, ...], tmp_path: Path) -> None:
        (tmp_path / "set").mkdir()
        (tmp_path / "set" / "query_master.ndjson").write_text('{"qid": 1, "text": "a"}\n')
        (tmp_path / "set" / "doc_master.ndjson").write_text('{"doc_id": 1, "text": "a"}\n')
        line = '{"qid": 1, "pos_doc_id": 1, "neg_doc_id": 1}\n'
        (tmp_path / "set" / "triplets.ndjson").write_text(line * (6 * USUAL_BYTES // len(line)))
        command = (sys.executable, "-m", "ragdatakit", "validate", str(tmp_path / "set"), *words)
        others = executors()
        driver = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        try:
            while not executors() - others:
                assert driver.poll() is None, "it ended before there was an executor"
                time.sleep(0.05)
            time.sleep(1)
            os.killpg(driver.pid, signal.SIGINT)  # as the terminal does: Spark's own process gets it, too
            out, err = driver.communicate(timeout=_SECONDS)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(driver.pid, signal.SIGKILL)

        assert driver.returncode in (130, -signal.SIGINT), err.decode()
        assert not out
        assert b"Traceback" not in err
        assert b"Exception" not in err

    def test_executors_that_are_killed(self, data: Path, words: tuple[str, ...]) -> None:
        expected = outcome(data)

        with killing("CoarseGrainedExecutorBackend", times=1) as killed:
            found = outcome(data, *words)

        assert found == expected
        assert killed


def test_the_driver_is_killed(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="ray is not installed (make test-cluster)")
    out, data = tmp_path / "report.json", tmp_path / "train"
    data.mkdir()
    out.write_bytes(b"the report of yesterday")
    (data / "query_master.ndjson").write_text('{"qid": 1, "text": "a"}\n')
    (data / "doc_master.ndjson").write_text('{"doc_id": 1, "text": "a"}\n')
    (data / "triplets.ndjson").write_text('{"qid": 1, "pos_doc_id": 1, "neg_doc_id": 1}\n' * (3 * USUAL_BYTES // 40))
    words = ("validate", str(data), "--engine", "ray", "--output-format", "json", "--output-file", str(out))
    others = set(processes("raylet"))

    driver = subprocess.Popen([sys.executable, "-m", "ragdatakit", *words], start_new_session=True)
    try:
        while not set(processes("raylet")) - others:
            assert driver.poll() is None, "it ended before there was a cluster"
            time.sleep(0.05)
        driver.kill()
        driver.wait()
    finally:
        with suppress(ProcessLookupError):
            os.killpg(driver.pid, signal.SIGKILL)

    assert out.read_bytes() == b"the report of yesterday"
    assert {each.name for each in tmp_path.iterdir()} == {"report.json", "train"}


@pytest.mark.parametrize("who", ["driver", "workers"])
def test_a_conversion_is_killed(who: str, corpus: Path, tmp_path: Path) -> None:
    """The old target stays, and nothing beside it; where only workers are killed, the whole new one comes."""
    old, data = tmp_path / "out" / "old.txt", tmp_path / "set"
    old.parent.mkdir()
    old.write_text("of yesterday")
    shutil.copytree(corpus, data)
    rows = [{"_id": f"e{n}", "title": "", "text": "words " * 40, "metadata": {}} for n in range(240_000)]
    with (data / "corpus.jsonl").open("a") as file:
        file.writelines(f"{json.dumps(row)}\n" for row in rows)
    command = (sys.executable, "-m", "ragdatakit", "convert", str(data), str(old.parent), "--to", "light-splade")
    words = ("--overwrite", "--engine", "local", "--jobs", "2", "-q")
    driver = subprocess.Popen([*command, *words], start_new_session=True, stderr=subprocess.PIPE)
    try:
        while not list(tmp_path.glob("*/.parts/*")):
            assert driver.poll() is None, "it ended before there was a part"
            time.sleep(0.01)
        if who == "driver":
            driver.kill()
        else:
            for process in processes("side_process"):
                if is_ours(process):
                    os.kill(process, signal.SIGKILL)
        _, err = driver.communicate(timeout=_SECONDS)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(driver.pid, signal.SIGKILL)

    for _ in range(100):
        if len(list(tmp_path.iterdir())) == 2:
            break
        time.sleep(0.1)
    assert {each.name for each in tmp_path.iterdir()} == {"out", "set"}
    if who == "driver":
        assert [each.name for each in old.parent.iterdir()] == ["old.txt"]
    else:
        assert driver.returncode == 0, err.decode()
        expected = converted(data, tmp_path / "plain")
        assert expected[2] == {
            path.relative_to(old.parent).as_posix(): path.read_bytes()
            for path in old.parent.rglob("*")
            if path.is_file()
        }


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("corpus.jsonl", ("--to", "beir", "--from", "table", "--map", "text=text,id=_id")),
        ("", ("--to", "light-splade", "--shard-size", "4KB")),
    ],
    ids=["tables", "shards"],
)
def test_a_conversion_whose_workers_are_killed(
    path: str, words: tuple[str, ...], corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = converted(corpus / path, tmp_path / "one", *words)
    monkeypatch.setattr(converting, "PART_BYTES", 4_000)
    monkeypatch.setattr(document_parts, "_SPAN_BYTES", 4_000)

    with killing("side_process", times=2) as killed:
        found = converted(corpus / path, tmp_path / "two", *words, "--engine", "local", "--jobs", "2")

    assert expected[0] == 0
    assert found == expected
    assert killed


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--engine", "ray", "--engine-option", "adress=x"), "unknown option of the engine 'adress', did you mean"),
        (("--engine", "spark", "--engine-option", "mastr=x"), "unknown option of the engine 'mastr', did you mean"),
        (("--engine", "local", "--engine-option", "a=b"), "the engine local has no option a"),
        (("--engine-option", "a=b"), "a is an option of an engine, and none is chosen"),
        (("--engine", "ray", "--engine-option", "ab"), "--engine-option ab: expected NAME=VALUE"),
        (("--engine", "rai"), "did you mean ray"),
    ],
)
def test_words_that_do_not_fit(words: tuple[str, ...], said: str) -> None:
    found = run("validate", FIXTURES / "demo-broken", *words)

    assert found.code == 2
    assert said in found.err


def test_a_cluster_of_another_version(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def init(**_: Any) -> None:
        raise RuntimeError("Version mismatch: The cluster was started with:\n    Ray: 2.1.0\n    Python: 3.9.2")

    library = ModuleType("ray")
    errors = SimpleNamespace(RayError=KeyError)
    vars(library).update(is_initialized=lambda: False, init=init, exceptions=errors)
    monkeypatch.setitem(sys.modules, "ray", library)

    found = run("validate", data, "--engine", "ray", "--engine-option", "address=ray://head:10001")

    assert found.code == 2
    assert found.err == (
        "ragdata: Ray does not start: Version mismatch: The cluster was started with: Ray: 2.1.0 Python: 3.9.2\n"
    )


@pytest.mark.parametrize(("name", "library"), [("ray", "ray"), ("spark", "pyspark.sql")])
def test_without_the_library_the_extra_is_named(name: str, library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)

    found = run("validate", FIXTURES / "demo-broken", "--engine", name)

    assert found.code == 2
    assert f"pip install 'ragdatakit[{name}]'" in found.err
