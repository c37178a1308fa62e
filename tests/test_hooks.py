"""Hooks: a changed file brings its dataset, what is no data is passed over; with the real pre-commit and prek."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import ragdatakit
from ragdatakit.schemas import all_formats
from tests.broad import some
from tests.command_line import DEMO, FIXTURES, GOOD, ROOT, Outcome, run

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 12345\n"
CODE = {
    "package.json": '{"name": "shop", "version": "1.0.0"}',
    "tsconfig.json": '{"compilerOptions": {"strict": true}}',
    ".vscode/settings.json": '{"editor.formatOnSave": true}',
    "locales/en/common.json": '{"greeting": "Hello", "farewell": "Bye"}',
    "tests/table.csv": "a,b\n1,2\n",
    "tests/results.json": '[{"name": "one", "passed": true}]',
    "migrations/1.sql": "create table users (id int);\n",
    "docker-compose.yaml": "services:\n  web: {image: shop}\n",
    "broken.yaml": "a: [1,\n",
    "requirements.txt": "requests==2\n",
    "empty.jsonl": "",
    "nothing.json": "{}",
    "backup.json.zip": "PK",
    "name with blanks.json": "[]",
    "line\nbreak.json": '"text"',
    "-q.json": "{}",
    "--output-file=x.json": "{}",
}
OWN = {
    "ragdata.toml": 'baseline = "ci/known.jsonl"\n',
    "ci/known.jsonl": '{"ragdata_baseline":1}\n',
    "ragdata-baseline.jsonl": '{"ragdata_baseline":1}\n',
    "ragdata-removed.ndjson": '{"file":"data/train.ndjson","line":3}\n',
    "data/beir/ragdata.json": "{}",
    "data/beir/ragdata.ids.ndjson": '{"id":"d1"}\n',
    "data/beir/ragdata.sidecar/nodes.ndjson": '{"id":"d1"}\n',
}
"""Files of ragdata itself."""
NAMED = {
    "db/tables/users.sql": "CREATE TABLE users (id BIGSERIAL PRIMARY KEY, at TIMESTAMPTZ DEFAULT now());\n",
    "bench/run.jsonl": '{"name": "sort", "ms": 3.1}\n',
    "chunks/part.jsonl": '{"content": "x"}\n',
    "seeds/entities.csv": "id,name\n1,a\n",
    "seeds/relationships.csv": '[[{"a": 1}]]\n',
    "graph/nodes.csv": "name,size\na,1\n",
    "graph/edges.csv": "from,to\na,b\n",
    "graph/relations.csv": "a,b\n1,2\n",
    "model/train.json": '[{"x": 1}]',
    "model/test.json": '[{"x": 2}]',
    "model/chunks.json": '[{"body": "t"}]',
    "model/questions.json": '[{"q": "t"}]',
    "model/test_results.json": '[{"test": "a", "passed": true}]',
    "model/train.txt": "a b c d\n",
    "notes/skills/x.md": "# X\n",
}
"""Names that formats have, and other things, too."""
HOOKS = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))}
WORDS = HOOKS["ragdata-validate"]["entry"].split()[1:]
BROKEN = '{"qid": 1, "pos_doc_id": 11, "neg_doc_id": 9999}\n'


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Code, a dataset that is valid and one that never was."""
    root = tmp_path / "repository"
    write(root, CODE)
    (root / ".git").mkdir()
    shutil.copytree(GOOD, root / "data/splade")
    shutil.copytree(DEMO, root / "data/legacy")
    return root


def hook(root: Path, *names: str) -> Outcome:
    return run(*WORDS, "--", *names, cwd=root)


def test_files_of_ragdata_are_not_named_as_unrecognised(repository: Path) -> None:
    write(repository, OWN)

    only, among = hook(repository, *OWN), hook(repository, *OWN, "package.json", "data/splade/train/qrels.ndjson")

    assert (only.code, only.out, only.err) == (0, "Nothing to check\n", "")
    assert among.code == 0 and "not recognised, not checked: package.json\n" in among.out


def test_files_of_code_are_passed_over(repository: Path) -> None:
    outcome = hook(repository, *CODE)

    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.endswith(f"Nothing to check: {len(CODE)} files of no known format\n")


def test_names_alone_make_no_dataset_in_hooks(repository: Path) -> None:
    write(repository, NAMED)

    outcome = hook(repository, *NAMED)

    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.endswith(f"Nothing to check: {len(NAMED)} files of no known format\n")


VALID = sorted(p.relative_to(FIXTURES) for p in FIXTURES.glob("*/valid/*") if p.is_dir())


@pytest.mark.parametrize("number", some(len(VALID), of="hooks"))
def test_the_names_of_its_files_find_a_dataset_as_its_folder_does(number: int, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    folder = shutil.copytree(FIXTURES / VALID[number], tmp_path / VALID[number].name)
    files = [path for path in folder.rglob("*") if path.is_file()]

    by_folder = ragdatakit.validate(folder)
    by_names = ragdatakit.validate(files, whole_datasets=True, skip_unrecognised=True)

    assert by_names.by_rule == by_folder.by_rule
    listed = [[(d.format, d.path, d.split, d.files) for d in report.datasets] for report in (by_names, by_folder)]
    assert listed[0] == listed[1]


def test_other_folders_are_not_listed(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(50):
        shutil.copytree(DEMO / "validation", repository / f"other/{number}/validation")
    listed: list[str] = []
    scan = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: listed.append(str(path)) or scan(path))  # type: ignore[func-returns-value]

    assert hook(repository, "data/splade/train/triplets.ndjson").code == 0

    listed = [path for path in listed if not path.startswith(str(ROOT / "ragdatakit"))]  # which is ours
    assert 0 < len(listed) < 20 and not [path for path in listed if "other/" in path]


def test_a_file_brings_its_dataset_and_no_other_and_that_once(repository: Path) -> None:
    names = [f"data/splade/train/{name}.ndjson" for name in ("triplets", "doc_master", "query_master")]
    (repository / names[0]).write_text(BROKEN, encoding="utf-8")

    outcome = hook(repository, "package.json", *names)

    assert outcome.code == 1 and outcome.err == ""
    assert outcome.out.count("SP202") == 2 and "legacy" not in outcome.out  # once, and in the line about `explain`
    assert "data/splade/train/triplets.ndjson\n  1:44 SP202 error neg_doc_id 9999" in outcome.out
    assert "Found 1 error" in outcome.out and "1 file not checked" in outcome.out


def test_what_is_recognised_is_checked_where_something_else_is_not(repository: Path) -> None:
    (repository / "data/splade/train/triplets.ndjson").write_text(BROKEN, encoding="utf-8")

    outcome = run("validate", "package.json", "data/splade", "missing", cwd=repository)

    assert outcome.code == 2 and "SP202" in outcome.out
    errors = outcome.err.splitlines()
    assert [line.split(":")[1] for line in errors] == [" package.json", " no such file or folder"]
    with pytest.raises(ragdatakit.RagdataError, match=r"package\.json: not recognised"):
        ragdatakit.validate([repository / "package.json", repository / "data/splade"])


@pytest.mark.parametrize("name", ["package.json", "locales/en/common.json"])
def test_an_object_of_texts_alone_is_of_no_format(repository: Path, name: str) -> None:
    outcome = run("validate", repository / name)

    assert outcome.code == 2 and "not recognised" in outcome.err


def test_a_lone_file_is_recognised_by_its_content(repository: Path) -> None:
    write(repository, {"notes/mine.jsonl": '{"_id": "1", "text": 3}\n', "tests/test.json": '{"a": 1}'})

    outcome = hook(repository, "notes/mine.jsonl", "tests/test.json")

    assert outcome.code == 1 and "notes/mine.jsonl" in outcome.out and "Found 1 error" in outcome.out


def test_a_list_of_ids_and_texts_is_of_no_format_by_that_alone(repository: Path) -> None:
    """Comments, test cases and answers of a code base look like that; a file of the name is checked."""
    rows = '[{"id": 1, "text": "hello there"}, {"id": 2, "text": "and here"}]'
    asked = '[{"question": "who", "answer": "she"}]'
    write(repository, {"src/comments.json": rows, "src/faq.json": asked, "a/chunks.json": rows})

    among = hook(repository, "src/comments.json", "src/faq.json")
    named = hook(repository, "a/chunks.json")

    assert (among.code, among.err) == (0, "") and "Nothing to check: 2 files of no known format" in among.out
    assert named.code == 1 and "AR109" in named.out


@pytest.mark.parametrize("change", ["deleted", "renamed", "deleted with its folder"])
def test_a_file_that_is_gone_brings_the_dataset(repository: Path, change: str) -> None:
    masters = repository / "data/splade/train/doc_master.ndjson"
    name = "data/splade/train/doc_master.ndjson"
    if change == "renamed":
        name = "data/splade/train/doc_master_old.ndjson"
        masters.rename(repository / name)
    elif change == "deleted":
        masters.unlink()
    else:
        shutil.rmtree(repository / "data/splade")

    outcome = hook(repository, name)

    if change.endswith("folder"):
        assert (outcome.code, outcome.out, outcome.err) == (0, "Nothing to check\n", "")
    else:
        assert outcome.code == 1 and "there is no doc_master.ndjson" in outcome.out


@pytest.mark.parametrize("name", ["README.md", "package.json", "notes.txt"])
def test_other_files_beside_a_dataset_do_not_bring_it(repository: Path, name: str) -> None:
    write(repository, {f"data/legacy/train/{name}": '{"a": 1}\n'})

    assert hook(repository, f"data/legacy/train/{name}").code == 0


def test_hidden_folders_and_installed_packages_are_no_data(repository: Path) -> None:
    for folder in ("node_modules/x", ".cache"):
        shutil.copytree(DEMO, repository / folder / "data")
        outcome = hook(repository, f"{folder}/data/train/query_master.ndjson")
        assert "light-splade (" not in outcome.out  # as one file, not as the dataset


@pytest.mark.parametrize("marker", ["folder", "file"])
def test_a_dataset_does_not_reach_beyond_its_repository(tmp_path: Path, marker: str) -> None:
    """A submodule, or a further working tree, has a file ``.git``."""
    shutil.copytree(GOOD, tmp_path / "set")
    top = tmp_path / "set/train"
    if marker == "file":
        (top / ".git").write_text("gitdir: elsewhere\n", encoding="utf-8")
    else:
        (top / ".git").mkdir()
    shutil.rmtree(tmp_path / "set/validation")
    shutil.copytree(DEMO / "validation", tmp_path / "set/validation")

    outcome = run(*WORDS, "-v", "--", top / "triplets.ndjson")

    assert outcome.code == 0 and "validation" not in outcome.out


def test_paths_are_shown_from_where_one_is(repository: Path) -> None:
    (repository / "data/splade/train/triplets.ndjson").write_text(BROKEN, encoding="utf-8")

    inside = hook(repository / "data/splade/validation", "../train/triplets.ndjson")
    absolute = hook(repository, str(repository / "data/splade/train/triplets.ndjson"))

    assert "../../../data/splade/train/triplets.ndjson\n" in inside.out
    assert f"{repository}/data/splade/train/triplets.ndjson\n" in absolute.out


def test_without_a_repository_the_current_folder_is_the_outermost(repository: Path) -> None:
    (repository / ".git").rmdir()

    report = run(*WORDS, "data/splade/train/triplets.ndjson", "--output-format", "json", cwd=repository).json

    assert {(one["path"], one["split"]) for one in report["datasets"]} == {
        ("data/splade", "train"),
        ("data/splade", "validation"),
    }


@pytest.mark.parametrize("words", [(*WORDS, "data/splade/train/doc_master.ndjson"), ("validate", "."), ("report", ".")])
def test_links_into_the_folder_of_git_are_not_followed(repository: Path, words: tuple[str, ...]) -> None:
    """The token of a checkout is there, and what is printed is in a public log."""
    write(repository, {".git/config": '{"qid": "TOKEN", "pos_doc_id": "TOKEN", "neg_doc_id": 1}\n'})
    (repository / "data/splade/train/triplets.ndjson").unlink()
    (repository / "data/splade/train/triplets.ndjson").symlink_to("../../../.git/config")

    outcome = run(*words, "-v", cwd=repository)

    assert "TOKEN" not in outcome.out + outcome.err
    assert "link" in outcome.out
    inside = run("validate", repository / ".git/config", "--from", "light-splade", "-v")
    assert "TOKEN" in inside.out  # what the user names is read wherever it is


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text here")
def test_a_name_that_is_not_text(repository: Path) -> None:
    odd = os.fsdecode(b"data/sp\xff")
    (repository / "data/splade").rename(repository / odd)
    (repository / odd / "train/triplets.ndjson").write_text(BROKEN, encoding="utf-8")

    outcome = hook(repository, f"{odd}/train/triplets.ndjson")

    assert outcome.code == 1 and "SP202" in outcome.out and "sp<U+DCFF>" in outcome.out


POINTED = [
    ("light-splade/valid/triplet", "train/doc_master.ndjson"),
    ("beir/valid/folder", "corpus.jsonl"),
    ("trec/valid/collection", "qrels.txt"),
    ("graphrag/valid/csv", "entities.csv"),
    ("gfm-rag/valid/both-loaders", "processed/stage1/nodes.csv"),
    ("datamind/valid/both-loaders", "tables/01_schema.sql"),
    ("lightrag/valid/extraction", "chunk-1.extraction.txt"),
]


@pytest.mark.broad(3)
@pytest.mark.parametrize(("case", "name"), POINTED)
def test_pointers_of_git_lfs_are_warnings_in_hooks_and_hide_no_other_error(
    tmp_path: Path, case: str, name: str
) -> None:
    (tmp_path / ".git").mkdir()
    shutil.copytree(FIXTURES / case, tmp_path / "set")
    (tmp_path / "set" / name).write_text(POINTER, encoding="utf-8")
    names = [str(p.relative_to(tmp_path)) for p in (tmp_path / "set").rglob("*") if p.is_file()]

    outcome = hook(tmp_path, *names)
    everywhere = run("validate", "set", cwd=tmp_path)

    assert outcome.code == 0 and "RD103 warning is a Git LFS pointer (12345 bytes" in outcome.out
    assert everywhere.code == 1 and "RD103 error" in everywhere.out


def test_a_lone_pointer_is_passed_over(repository: Path) -> None:
    write(repository, {"weights.parquet": POINTER})

    assert hook(repository, "weights.parquet").code == 0
    refused = run("validate", repository / "weights.parquet")
    assert refused.code == 2 and "Git LFS pointer" in refused.err


def test_python_has_both(repository: Path) -> None:
    paths = [repository / "package.json", repository / "data/splade/train/triplets.ndjson"]

    report = ragdatakit.validate(paths, whole_datasets=True, skip_unrecognised=True)

    assert report.ok and len(report.datasets) == 2
    assert report.unrecognised == [str(paths[0])]


def test_the_hooks_choose_what_formats_have() -> None:
    """All but what a picture or a name without an ending has, which most repositories have of other things."""
    chosen = re.compile(HOOKS["ragdata-validate"]["files"])
    unusual = re.compile(r"(?i)\.(png|jpe?g|gif|webp|bak)$|/?[^./]*$|\*$|\.\d+$|\]\*$")
    for fmt in all_formats():
        names = {name for layout in fmt.layouts for name in (*layout.patterns, *layout.endings)}
        names |= set(fmt.config.suffixes) if fmt.config is not None else set()
        assert [name for name in names if not chosen.search(name) and not unusual.search(name)] == []
    assert HOOKS["ragdata-validate-dataset"]["files"] == HOOKS["ragdata-validate"]["files"]
    assert not chosen.search("main.py") and not chosen.search("photo.jpg")
    settings = ("ragdata.toml", "data/.ragdata.toml", "pyproject.toml", "data/ragdata-baseline.jsonl")
    assert all(map(chosen.search, settings)) and not chosen.search("Cargo.toml")


@pytest.mark.parametrize(
    ("name", "text", "code", "message"),
    [
        ("ragdata.toml", "ignroe = ['SP']\n", 2, "ragdata.toml:1: unknown setting 'ignroe', did you mean ignore?"),
        ("data/ragdata.toml", "ignore = [\n", 2, "data/ragdata.toml is not TOML"),
        ("pyproject.toml", "[tool.ragdata]\nignore = ['XY']\n", 2, "pyproject.toml:2: "),
        ("ragdata-baseline.jsonl", "{\n", 2, "ragdata-baseline.jsonl:1"),
        ("ragdata.toml", "ignore = ['SP']\n", 0, ""),
        ("pyproject.toml", "[project]\nname = 'shop'\n", 0, ""),
    ],
)
def test_settings_that_are_wrong_are_not_committed(
    name: str, text: str, code: int, message: str, repository: Path
) -> None:
    write(repository, {name: text})

    outcome = hook(repository, name)

    assert outcome.code == code and message in outcome.err and bool(message) == bool(outcome.err)
    assert ("Nothing to check" in outcome.out) is (code == 0)


def test_the_entries_are_commands(repository: Path) -> None:
    assert HOOKS["ragdata-validate"]["args"] == ["--"] and HOOKS["ragdata-validate"]["require_serial"]
    folders = HOOKS["ragdata-validate-dataset"]
    assert folders["pass_filenames"] is False
    assert run(*folders["entry"].split()[1:], "data/splade", cwd=repository).code == 0


def git(root: Path, *words: str) -> str:
    settings = ("-c", "user.name=n", "-c", "user.email=n@example.org", "-c", "core.hooksPath=/dev/null")
    done = subprocess.run(["git", *settings, *words], cwd=root, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout


def as_local(identity: str, **others: Any) -> dict[str, Any]:
    """A hook of ours, without an environment to be built: ragdata is the one that runs the tests."""
    entry = HOOKS[identity]["entry"].removeprefix("ragdata")
    command = f"{sys.executable} -m ragdatakit{entry}"
    return {**HOOKS[identity], "entry": command, "language": "system", "verbose": True, **others}


class Manager:
    """pre-commit or prek in a repository of its own."""

    def __init__(self, name: str, root: Path, *hooks: dict[str, Any]) -> None:
        found = shutil.which(name, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
        if found is None:
            pytest.skip(f"{name} is not installed")
        self.root, self._command = root, found
        config = yaml.safe_dump({"repos": [{"repo": "local", "hooks": list(hooks)}]})
        (root / ".pre-commit-config.yaml").write_text(config, encoding="utf-8")
        (root / ".git").rmdir()
        git(root, "init", "-q")
        git(root, "add", "-A")
        git(root, "commit", "-qm", "As it was")

    def run(self, *words: str) -> tuple[int, str]:
        """The exit code, and what was printed."""
        home = self.root.parent / "managers"
        places = {"PRE_COMMIT_HOME": str(home), "PREK_HOME": str(home), "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
        done = subprocess.run(
            [self._command, "run", *words],
            cwd=self.root,
            capture_output=True,
            env={**os.environ, **places},
            timeout=120,
            check=False,
        )
        return done.returncode, done.stdout.decode("utf-8", "backslashreplace") + done.stderr.decode()


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.parametrize("name", ["pre-commit", pytest.param("prek", marks=pytest.mark.broad(2))])
def test_with_a_real_manager(name: str, repository: Path) -> None:
    folders = as_local("ragdata-validate-dataset", args=["data/splade"])
    manager = Manager(name, repository, as_local("ragdata-validate"), folders)

    write(repository, dict.fromkeys(CODE, '{"a": 1}'))  # code alone
    git(repository, "add", "-A")
    code, out = manager.run()
    changed = sum(bool(re.search(HOOKS["ragdata-validate"]["files"], name)) for name in CODE)
    assert code == 0 and f"Nothing to check: {changed} files of no known format" in out and "Valid: 7 files" in out

    (repository / "data/splade/train/triplets.ndjson").write_text(BROKEN, encoding="utf-8")
    git(repository, "add", "-A")
    code, out = manager.run()  # a broken commit
    assert code == 1 and out.count("SP202 error") == 2 and "legacy" not in out

    code, out = manager.run("ragdata-validate", "--all-files")
    assert code == 1 and "SP202 error" in out and "data/legacy/train/triplets.ndjson" in out

    git(repository, "checkout", "HEAD", "data/splade")
    git(repository, "rm", "-q", "data/splade/train/doc_master.ndjson")
    git(repository, "mv", "data/splade/train/triplets.ndjson", "data/splade/train/other.ndjson")
    code, out = manager.run("ragdata-validate")  # a deletion, and a new name
    assert code == 1 and "there is no doc_master.ndjson" in out


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_dataset_is_checked_once_though_its_names_fill_two_calls(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """128 KiB of names are what pre-commit passes at once."""
    monkeypatch.setenv("RAGDATA_CACHE_DIR", str(repository.parent / "cache"))
    manager = Manager("pre-commit", repository, as_local("ragdata-validate"))
    folder = repository / "data/long"
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text('{"_id": "d", "title": "", "text": "tide times"}\n')
    queries = (f'{{"_id": "q{number}", "text": "question {number}"}}\n' for number in range(700))
    (folder / "queries.jsonl").write_text("".join(queries))
    for number in range(700):
        judged = f"query-id\tcorpus-id\tscore\nq{number}\td\t1\n"
        (folder / f"qrels/{'x' * 200}{number}.tsv").write_text(judged)
    git(repository, "add", "-A")

    code, out = manager.run()

    assert code == 0, out
    assert (out.count("\nValid: "), out.count("\nValid (unchanged since ")) == (1, 1)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.parametrize("name", ["pre-commit", pytest.param("prek", marks=pytest.mark.broad(2))])
def test_a_real_manager_fixes_what_changed(name: str, repository: Path) -> None:
    manager = Manager(name, repository, as_local("ragdata-fix"))
    file, legacy = repository / "data/splade/train/triplets.ndjson", repository / "data/legacy/train/triplets.ndjson"
    sound, old = file.read_bytes(), legacy.read_bytes()

    code, out = manager.run()
    assert code == 0

    file.write_bytes(sound.replace(b"}\n", b",}\n", 1) + b"\n")
    git(repository, "add", "-A")
    code, out = manager.run()  # it changes a file, so the commit fails
    assert code == 1 and "files were modified by this hook" in out and "1 × SP112 blank-line" in out
    assert file.read_bytes() == sound and legacy.read_bytes() == old

    git(repository, "add", "-A")
    code, out = manager.run()
    assert code == 0


def test_the_local_hook_of_the_docs_is_the_one_of_the_repository() -> None:
    text = (ROOT / "docs/ci.md").read_text("utf-8")
    (block,) = [part for part in text.split("```yaml\n")[1:] if "repo: local" in part.partition("```")[0]]

    (local,) = yaml.safe_load(block.partition("```")[0])["repos"][0]["hooks"]

    same = HOOKS[local["id"]]
    assert local["entry"] == f"{same['entry']} --" and local["files"] == same["files"]
    assert local["require_serial"] is same["require_serial"] is True
