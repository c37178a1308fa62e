"""`ragdata push` against a hub on this machine: what goes up, what stays at home, the card, and one commit."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("huggingface_hub")

from huggingface_hub import DatasetCard

import ragdatakit
from ragdatakit.hub.dataset_card import BEGIN, END, CardFacts, DataFile, card, configs
from tests.command_line import FIXTURES
from tests.hub_server import TOKEN, Hub, run_with, running_hub, spawn_with

REPO = "keeper/harbour"
GOOD = FIXTURES / "arag/valid/strings"
SPLADE = FIXTURES / "light-splade/valid/shards"


@pytest.fixture
def hub() -> Iterator[Hub]:
    """A hub without anything on it."""
    with running_hub() as hub:
        yield hub


def push(hub: Hub | None, home: Path, *words: str, source: Path = GOOD, **settings: str) -> Any:
    if not (home / "data").exists():
        shutil.copytree(source, home / "data")
    return run_with(hub, home, "push", "data", REPO, *words, **{"HF_TOKEN": TOKEN, **settings})


def header(text: bytes | str) -> Any:
    text = text if isinstance(text, str) else text.decode()
    return DatasetCard(text).data.to_dict()


class TestUpload:
    def test_files_and_card_come_with_one_commit(self, hub: Hub, tmp_path: Path) -> None:
        shutil.copytree(SPLADE, tmp_path / "data")
        outcome = spawn_with(hub, tmp_path, "push", "data", REPO, "--license", "mit", HF_TOKEN=TOKEN)

        repo = hub.repos[REPO]
        files = {p.relative_to(SPLADE).as_posix(): p.read_bytes() for p in SPLADE.rglob("*") if p.is_file()}
        found = {k: v for k, v in repo.files.items() if k != ".gitattributes"}
        text = found.pop("README.md")
        assert (outcome.code, outcome.err) == (0, "")
        assert found == files
        assert repo.messages == ["Add light-splade data"]
        assert len(repo.commits) == 2  # with the one it was made with
        assert f"pushed: {hub.url}/datasets/{REPO}\n" in outcome.out
        assert f"/commit/{repo.refs['main']}" in outcome.out
        assert header(text)["license"] == "mit"
        assert not (tmp_path / "data/README.md").exists()
        assert TOKEN not in outcome.out

    def test_what_was_pushed_can_be_fetched(self, hub: Hub, tmp_path: Path) -> None:
        assert push(hub, tmp_path).code == 0

        outcome = run_with(hub, tmp_path, "fetch", f"hf:{REPO}", "back")

        assert outcome.code == 0, outcome.err
        assert ragdatakit.validate(tmp_path / "back").ok
        for path in GOOD.iterdir():
            assert (tmp_path / "back" / path.name).read_bytes() == path.read_bytes()

    def test_the_same_again_changes_nothing(self, hub: Hub, tmp_path: Path) -> None:
        push(hub, tmp_path)
        commits = len(hub.repos[REPO].commits)

        outcome = push(hub, tmp_path)

        assert outcome.code == 0, outcome.err
        assert "nothing has changed" in outcome.out
        assert len(hub.repos[REPO].commits) == commits

    def test_a_branch_is_made(self, hub: Hub, tmp_path: Path) -> None:
        push(hub, tmp_path)
        main = hub.repos[REPO].refs["main"]
        (tmp_path / "data/notes.md").write_text("New notes.\n")

        outcome = push(hub, tmp_path, "--revision", "draft", "--message", "Notes")

        repo = hub.repos[REPO]
        assert outcome.code == 0, outcome.err
        assert repo.refs["main"] == main
        assert "notes.md" in repo.commits[repo.refs["draft"]]
        assert repo.messages[-1] == "Notes"

    def test_private_is_asked_for(self, hub: Hub, tmp_path: Path) -> None:
        assert push(hub, tmp_path, "--private").code == 0
        assert hub.repos[REPO].private

    def test_private_data_do_not_go_into_a_public_repository(self, hub: Hub, tmp_path: Path) -> None:
        repo = hub.add(REPO, {"README.md": b"# Mine\n"})

        outcome = push(hub, tmp_path, "--private")

        assert outcome.code == 2
        assert "is there already and public" in outcome.err
        assert len(repo.commits) == 1

    @pytest.mark.parametrize("token", ["", "hf_aWrongOne"])
    def test_without_a_token_that_holds(self, hub: Hub, tmp_path: Path, token: str) -> None:
        outcome = push(hub, tmp_path, HF_TOKEN=token)

        assert outcome.code == 2
        assert "refuses keeper/harbour (401)" in outcome.err
        assert ("no token is set (HF_TOKEN)" in outcome.err) == (not token)
        assert "hf_aWrongOne" not in outcome.err
        assert hub.repos == {}

    def test_a_refused_commit_is_reported(self, hub: Hub, tmp_path: Path) -> None:
        hub.fail_commit = True

        outcome = push(hub, tmp_path)

        assert outcome.code == 2
        assert "refuses keeper/harbour (403)" in outcome.err
        assert len(hub.repos[REPO].commits) == 1

    @pytest.mark.parametrize("repo", ["harbour", "a/b/c", "../x", "a//b"])
    def test_names_that_are_none(self, tmp_path: Path, repo: str) -> None:
        outcome = run_with(None, tmp_path, "push", GOOD, repo)

        assert outcome.code == 2
        assert "expected OWNER/NAME" in outcome.err

    def test_offline(self, hub: Hub, tmp_path: Path) -> None:
        shutil.copytree(GOOD, tmp_path / "data")
        outcome = spawn_with(hub, tmp_path, "push", "data", REPO, HF_TOKEN=TOKEN, HF_HUB_OFFLINE="1")

        assert outcome.code == 2
        assert "HF_HUB_OFFLINE is set" in outcome.err
        assert hub.requests == []

    @pytest.mark.parametrize("answer", ["y", "n"])
    def test_on_a_terminal_it_asks(
        self, hub: Hub, tmp_path: Path, answer: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        terminal = io.StringIO(f"{answer}\n")
        terminal.isatty = lambda: True  # type: ignore[method-assign]
        monkeypatch.setattr(sys, "stdin", terminal)

        outcome = push(hub, tmp_path)

        assert "Upload this? [y/N]" in outcome.out
        assert outcome.code == {"y": 0, "n": 130}[answer]
        assert bool(hub.repos) == (answer == "y")


class TestWhatStays:
    def test_hidden_files_pickles_links_and_litter(self, hub: Hub, tmp_path: Path) -> None:
        shutil.copytree(GOOD, tmp_path / "data")
        (tmp_path / "secret.txt").write_text("secret")
        for name in (".env", "index/sentence_index.pkl", "stage2/a.json", "__pycache__/x.py", "model.pt", "b.json~"):
            path = tmp_path / "data" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"secret")
        (tmp_path / "data/out.txt").symlink_to(tmp_path / "secret.txt")
        (tmp_path / "data/ragdata.ids.ndjson").write_text('{"kind": "passage", "id": "0", "was": "a"}\n')

        outcome = push(hub, tmp_path)

        assert outcome.code == 0, outcome.err
        assert set(hub.repos[REPO].files) == {
            ".gitattributes",
            "README.md",
            "chunks.json",
            "questions.json",
            "ragdata.ids.ndjson",
        }
        assert not any(b"secret" in content for content in hub.repos[REPO].files.values())
        for left in (
            ".env (hidden)",
            "index/sentence_index.pkl (a pickle: loading it would run what is in it)",
            "model.pt (a pickle",
            "stage2/ (built from the data)",
            "__pycache__/ (left by a program)",
            "b.json~ (left by a program)",
            "out.txt (a link that leads elsewhere)",
        ):
            assert f"left out: {left}" in outcome.out

    def test_hidden_files_of_the_dataset_go(self, hub: Hub, tmp_path: Path) -> None:
        outcome = push(hub, tmp_path, source=FIXTURES / "datamind/valid/repository")

        assert outcome.code == 0, outcome.err
        assert ".claude/skills/tide-tables/SKILL.md" in hub.repos[REPO].files

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
    def test_a_pipe_is_not_opened(self, hub: Hub, tmp_path: Path) -> None:
        shutil.copytree(GOOD, tmp_path / "data")
        os.mkfifo(tmp_path / "data/pipe.txt")

        assert "left out: pipe.txt (no regular file)" in push(hub, tmp_path).out


class TestCheck:
    def broken(self, home: Path) -> None:
        shutil.copytree(GOOD, home / "data")
        (home / "data/chunks.json").write_text('["0:", 5]')

    def test_errors_stop_the_push(self, hub: Hub, tmp_path: Path) -> None:
        self.broken(tmp_path)

        outcome = push(hub, tmp_path)

        assert outcome.code == 1
        assert "chunks.json" in outcome.out and "error" in outcome.out
        assert "nothing was pushed" in outcome.err
        assert hub.requests == []

    def test_unless_reported_to_keep_going(self, hub: Hub, tmp_path: Path) -> None:
        self.broken(tmp_path)

        outcome = push(hub, tmp_path, "--keep-going")

        assert outcome.code == 0, outcome.err
        text = hub.repos[REPO].files["README.md"].decode()
        assert "found 1 error" in text or "found 2 errors" in text
        assert "AR" in text.partition("### Check")[2]

    def test_a_folder_without_a_dataset(self, hub: Hub, tmp_path: Path) -> None:
        (tmp_path / "data").mkdir()
        (tmp_path / "data/photo.jpg").write_bytes(b"\xff\xd8")

        outcome = push(hub, tmp_path)

        assert outcome.code == 2
        assert hub.requests == []


def test_dry_run_shows_files_and_card(tmp_path: Path) -> None:
    outcome = push(None, tmp_path, "--dry-run", "--license", "cc-by-4.0", "--language", "en", "--title", "Harbour talk")

    assert outcome.code == 0, outcome.err
    assert "questions.json" in outcome.out
    assert "nothing was uploaded" in outcome.out
    text = outcome.out[outcome.out.index("---\n") : outcome.out.index("nothing was uploaded")]
    assert header(text) | {"tags": None} == {
        "pretty_name": "Harbour talk",
        "license": "cc-by-4.0",
        "language": ["en"],
        "tags": None,
        "size_categories": ["n<1K"],
        "configs": [
            {"config_name": "chunks", "data_files": [{"split": "train", "path": "chunks.json"}]},
            {"config_name": "questions", "data_files": [{"split": "train", "path": "questions.json"}]},
        ],
    }
    assert "# Harbour talk" in text
    assert f'load_dataset("{REPO}", "questions")' in text


OWN = """---
# our own words
license: cc0-1.0
tags: [ferries]
extra: {kept: true}
---
# The harbour

What we say about it.
"""


class TestCard:
    def test_own_words_stay(self, hub: Hub, tmp_path: Path) -> None:
        shutil.copytree(GOOD, tmp_path / "data")
        (tmp_path / "data/README.md").write_text(OWN)

        assert push(hub, tmp_path).code == 0

        text = hub.repos[REPO].files["README.md"].decode()
        data = header(text)
        assert "\n# The harbour\n\nWhat we say about it.\n\n<!-- ragdata:begin" in text
        assert data["license"] == "cc0-1.0"
        assert data["extra"] == {"kept": True}
        assert data["tags"] == ["ferries", "rag", "ragdata", "arag"]
        assert (tmp_path / "data/README.md").read_text() == OWN

    def test_words_written_on_the_hub_stay(self, hub: Hub, tmp_path: Path) -> None:
        push(hub, tmp_path)
        repo = hub.repos[REPO]
        text = repo.files["README.md"].decode().replace(BEGIN, f"Written there.\n\n{BEGIN}") + "\nAt the end.\n"
        repo.commit({**repo.files, "README.md": text.encode()})
        questions = (tmp_path / "data/questions.json").read_text()
        (tmp_path / "data/questions.json").write_text(questions.replace("]", "]\n"))

        assert push(hub, tmp_path).code == 0

        new = repo.files["README.md"].decode()
        assert "Written there.\n\n<!-- ragdata:begin" in new
        assert new.endswith(f"{END}\n\nAt the end.\n")
        assert new.count("### Check") == 1
        assert new != text

    def test_own_configs_stay(self, hub: Hub, tmp_path: Path) -> None:
        shutil.copytree(GOOD, tmp_path / "data")
        (tmp_path / "data/README.md").write_text(
            "---\nconfigs:\n- config_name: mine\n  data_files: a.json\n---\nWords.\n"
        )

        outcome = push(hub, tmp_path)

        assert "README.md has its own `configs`" in outcome.out
        assert header(hub.repos[REPO].files["README.md"])["configs"] == [
            {"config_name": "mine", "data_files": "a.json"}
        ]

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("---\na: [\n---\n", "its header is not a YAML"),
            ("---\n- a\n---\n", "its header is not a YAML mapping"),
            (f"{BEGIN}\nno end\n", "does not end with"),
            (b"\xff\xfe", "is not UTF-8"),
        ],
    )
    def test_cards_that_cannot_be_read(self, hub: Hub, tmp_path: Path, text: str | bytes, message: str) -> None:
        shutil.copytree(GOOD, tmp_path / "data")
        (tmp_path / "data/README.md").write_bytes(text if isinstance(text, bytes) else text.encode())

        outcome = push(hub, tmp_path)

        assert outcome.code == 2
        assert message in outcome.err
        assert all(len(repo.commits) == 1 for repo in hub.repos.values())


def facts(*files: DataFile) -> CardFacts:
    return CardFacts(repo=REPO, files=files, report=ragdatakit.validate(GOOD), ragdata="0", license="mit")


def data_file(name: str, **words: Any) -> DataFile:
    by_name = {"dataset": "", "format": "arag", "kind": "chunks", "split": None, "records": 5, "bytes": 9, **words}
    return DataFile(name=name, **by_name)


@pytest.mark.parametrize(
    "base",
    [
        None,
        "",
        "Words.\n",
        OWN,
        "---\n---\nEmpty header.\n",
        "\ufeff---\nlicense: mit\n---\nWith a mark.\n",
        OWN.replace("\n", "\r\n"),
        "Text with --- in it\n---\nand a rule.\n",
    ],
)
def test_a_card_made_twice_is_the_same(base: str | None) -> None:
    once = card(facts(data_file("chunks.json")), base).text
    twice = card(facts(data_file("chunks.json")), once).text

    assert twice == once
    assert header(once)["configs"][0]["config_name"] == "chunks"
    assert (base is not None and "\r\n" in base) == ("\r\n" in once)
    for line in (base or "").replace("\r\n", "\n").partition("---\n# ")[2].splitlines()[4:]:
        assert line in once


def test_a_header_that_says_it_all_keeps_its_comments() -> None:
    once = card(facts(data_file("chunks.json")), None).text.replace("license: mit", "license: mit  # agreed")

    assert "license: mit  # agreed" in card(facts(data_file("chunks.json")), once).text


def test_many_files_and_odd_names_in_the_table() -> None:
    files = [data_file(f"a|b`{n}.json") for n in range(60)]

    text = card(facts(*files), None).text

    assert "… and 20 more" in text
    assert "| <code>a&#124;b&#96;0.json</code> |" in text


def test_configurations_by_kind_split_and_dataset() -> None:
    words = {"format": "light-splade", "kind": "queries", "split": "train"}
    files = [
        data_file("a/train/q.ndjson", dataset="a", **words),
        data_file("a/validation/q[1].ndjson.gz", dataset="a", **{**words, "split": "validation"}),
        data_file("b c/q.ndjson", dataset="b c", **words),
        data_file("b c/empty.ndjson", dataset="b c", records=0, **words),
        data_file("b c/notes.bin", dataset="b c", **words),
        data_file("b c/unknown.json", dataset="b c", kind="not-a-kind"),
    ]

    assert configs(files) == [
        {
            "config_name": "a-queries",
            "data_files": [
                {"split": "train", "path": "a/train/q.ndjson"},
                {"split": "validation", "path": "a/validation/q[[]1].ndjson.gz"},
            ],
        },
        {"config_name": "b-c-queries", "data_files": [{"split": "train", "path": "b c/q.ndjson"}]},
    ]
