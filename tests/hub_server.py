"""A hub on this machine: a local HTTP server that speaks as much of the Hugging Face hub's protocol as is used.

Repositories are in memory. It can be told to cut a connection, to serve other bytes than it lists, to lead to another
address for large files, to ask for a token. The command runs as a process of its own: the library reads HF_ENDPOINT
when it is imported.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import parse_qs, unquote, urlsplit

from ragdatakit.hub import fetch as hub_fetch
from tests.command_line import ROOT, Outcome, run

TOKEN = "hf_thisIsTheTokenOfTheTests"
_REPO = r"([^/]+/[^/]+)"
_PAGE = 3


@dataclass(slots=True)
class Repo:
    """A dataset repository: its commits (path to content), its branches, and which of its files are large."""

    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)
    large: set[str] = field(default_factory=set)
    private: bool = False
    messages: list[str] = field(default_factory=list)

    def commit(self, files: dict[str, bytes], branch: str = "main", sha: str | None = None) -> str:
        """Put the next commit on a branch."""
        sha = sha or hashlib.sha1(repr((len(self.commits), sorted(files.items()))).encode()).hexdigest()
        self.commits[sha] = files
        self.refs[branch] = sha
        return sha

    def at(self, revision: str) -> str | None:
        """The commit that a revision names."""
        return self.refs.get(revision, revision if revision in self.commits else None)

    @property
    def files(self) -> dict[str, bytes]:
        """Those of the branch `main`."""
        return self.commits[self.refs["main"]]


@dataclass(slots=True)
class Hub:
    """The server's state. ``cuts`` are byte counts after which the next answers for a path end; ``instead`` is served
    in place of what is listed; ``storage`` is the address that large files are led to; ``says`` answers everything."""

    url: str = ""
    repos: dict[str, Repo] = field(default_factory=dict)
    cuts: dict[str, list[int]] = field(default_factory=dict)
    instead: dict[str, bytes] = field(default_factory=dict)
    storage: str = ""
    uploads: dict[str, bytes] = field(default_factory=dict)
    requests: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    fail_commit: bool = False
    says: bytes = b""

    def add(self, name: str, files: dict[str, bytes], **settings: Any) -> Repo:
        """A repository with one commit."""
        sha = settings.pop("sha", None)
        repo = self.repos[name] = Repo(**settings)
        repo.commit(files, sha=sha)
        return repo

    def gets(self, part: str) -> list[dict[str, str]]:
        """The headers of the GET requests whose path has this part."""
        return [headers for method, path, headers in self.requests if method == "GET" and part in path]


def git_id(content: bytes) -> str:
    """What git calls a file of this content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class calls it so
        """Tests look at `Hub.requests`."""

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def do_PUT(self) -> None:
        self._answer()

    def _answer(self) -> None:
        hub = self.server.hub
        hub.requests.append((self.command, unquote(self.path), {k.lower(): v for k, v in self.headers.items()}))
        parts = urlsplit(self.path)
        self._body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self._query = parse_qs(parts.query)
        if hub.says:
            self._send(200, hub.says, {})
            return
        for pattern, method in _ROUTES:
            match = re.fullmatch(pattern, parts.path)
            if match:
                getattr(self, method)(*map(unquote, match.groups()))
                return
        self._refuse(404)

    def _repo(self, name: str, revision: str | None = None) -> tuple[Repo, str] | None:
        """The repository and commit; None after a refusal."""
        repo = self.server.hub.repos.get(name)
        if repo is None or (repo.private and self.headers.get("Authorization") != f"Bearer {TOKEN}"):
            self._refuse(401 if self.headers.get("Authorization") is None else 404, "RepoNotFound")
            return None
        sha = repo.at(revision or "main")
        if sha is None:
            self._refuse(404, "RevisionNotFound")
            return None
        return repo, sha

    def info(self, name: str, revision: str | None = None) -> None:
        """What is known of a repository at a revision."""
        if found := self._repo(name, revision):
            self._json({"id": name, "sha": found[1], "private": found[0].private, "siblings": [], "tags": []})

    def tree(self, name: str, revision: str) -> None:
        """The files, a page at a time."""
        found = self._repo(name, revision)
        if not found:
            return
        repo, sha = found
        entries: list[dict[str, Any]] = []
        for path, content in repo.commits[sha].items():
            entry: dict[str, Any] = {"type": "file", "path": path, "size": len(content), "oid": git_id(content)}
            if path in repo.large:
                digest = hashlib.sha256(content).hexdigest()
                entry |= {"lfs": {"oid": digest, "size": len(content), "pointerSize": 127}, "oid": "0" * 40}
            entries.append(entry)
        start = int(self._query.get("cursor", ["0"])[0])
        more = {}
        if start + _PAGE < len(entries):
            url = f"{self.server.hub.url}/api/datasets/{name}/tree/{revision}?recursive=true&cursor={start + _PAGE}"
            more = {"Link": f'<{url}>; rel="next"'}
        self._json(entries[start : start + _PAGE], headers=more)

    def resolve(self, name: str, revision: str, path: str) -> None:
        """A file."""
        found = self._repo(name, revision)
        if not found:
            return
        repo, sha = found
        hub = self.server.hub
        content = repo.commits[sha].get(path)
        if content is None:
            self._refuse(404, "EntryNotFound")
            return
        if path in repo.large and hub.storage:
            self._send(302, b"", {"Location": f"{hub.storage}/storage/{hashlib.sha256(content).hexdigest()}"})
            return
        self._file(path, content, {"X-Repo-Commit": sha, "ETag": f'"{hashlib.sha256(content).hexdigest()}"'})

    def stored(self, digest: str) -> None:
        """A large file, from the other address."""
        for repo in self.server.hub.repos.values():
            for files in repo.commits.values():
                for path, content in files.items():
                    if hashlib.sha256(content).hexdigest() == digest:
                        self._file(path, content, {})
                        return
        self._refuse(404)

    def _file(self, path: str, content: bytes, headers: dict[str, str]) -> None:
        hub = self.server.hub
        content = hub.instead.get(path, content)
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        start = int(wanted.group(1)) if wanted else 0
        end = int(wanted.group(2)) + 1 if wanted and wanted.group(2) else len(content)
        data = content[start:end]
        if wanted:
            headers = {**headers, "Content-Range": f"bytes {start}-{start + len(data) - 1}/{len(content)}"}
        if wanted and start >= len(content):
            self._refuse(416)
            return
        cut = hub.cuts[path].pop(0) if self.command == "GET" and hub.cuts.get(path) else None
        self._send(206 if wanted else 200, data, headers, cut)

    def create(self) -> None:
        """A new repository."""
        words = json.loads(self._body)
        name = f"{words.get('organization')}/{words['name']}" if words.get("organization") else words["name"]
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self._refuse(401)
        elif name in self.server.hub.repos:
            self._json({"error": "You already created this dataset repo", "url": self._url(name)}, 409)
        else:
            self.server.hub.add(name, {".gitattributes": b""}, private=words.get("visibility") == "private")
            self._json({"url": self._url(name), "name": name})

    def branch(self, name: str, branch: str) -> None:
        """A new branch."""
        if found := self._repo(name):
            repo, sha = found
            if branch in repo.refs:
                self._json({"error": "Reference already exists"}, 409)
                return
            repo.refs[branch] = sha
            self._json({})

    def check_card(self) -> None:
        """The check of a card's header."""
        self._json({"errors": [], "warnings": []})

    def preupload(self, name: str, revision: str) -> None:
        """How each file is to come: what is no text comes as a large file."""
        found = self._repo(name, revision)
        if not found:
            return
        there = found[0].commits[found[1]]
        answers = []
        for path in (f["path"] for f in json.loads(self._body)["files"]):
            mode = "regular" if path.endswith((".md", ".json", ".csv")) else "lfs"
            oid = None
            if path in there:
                oid = hashlib.sha256(there[path]).hexdigest() if mode == "lfs" else git_id(there[path])
            answers.append({"path": path, "uploadMode": mode, "shouldIgnore": False, "oid": oid})
        self._json({"files": answers})

    def batch(self, name: str) -> None:
        """Where large files go."""
        if self._repo(name):
            url = f"{self.server.hub.url}/upload"
            objects = [
                {**wanted, "actions": {"upload": {"href": f"{url}/{wanted['oid']}"}}}
                for wanted in json.loads(self._body)["objects"]
            ]
            self._json({"transfer": "basic", "objects": objects})

    def upload(self, oid: str) -> None:
        """A large file comes."""
        self.server.hub.uploads[oid] = self._body
        self._send(200, b"", {})

    def commit(self, name: str, revision: str) -> None:
        """A commit comes, as lines of JSON."""
        found = self._repo(name, revision)
        if not found:
            return
        if self.server.hub.fail_commit:
            self._json({"error": "storage quota exceeded"}, 403)
            return
        repo, sha = found
        files = dict(repo.commits[sha])
        for line in self._body.splitlines():
            item = json.loads(line)
            value = item["value"]
            if item["key"] == "header":
                repo.messages.append(value["summary"])
            elif item["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            else:
                assert item["key"] == "lfsFile"
                files[value["path"]] = self.server.hub.uploads[value["oid"]]
                repo.large.add(value["path"])
        new = repo.commit(files, revision)
        self._json({"commitUrl": f"{self._url(name)}/commit/{new}", "commitOid": new})

    def _url(self, name: str) -> str:
        return f"{self.server.hub.url}/datasets/{name}"

    def _refuse(self, status: int, code: str = "") -> None:
        self._send(status, b"{}", {"X-Error-Code": code} if code else {})

    def _json(self, value: Any, status: int = 200, headers: dict[str, str] | None = None) -> None:
        self._send(status, json.dumps(value).encode(), {"Content-Type": "application/json", **(headers or {})})

    def _send(self, status: int, data: bytes, headers: dict[str, str], cut: int | None = None) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data if cut is None else data[:cut])
        if cut is not None:
            self.wfile.flush()
            self.close_connection = True


_ROUTES = [
    (r"/api/repos/create", "create"),
    (r"/api/validate-yaml", "check_card"),
    (rf"/api/datasets/{_REPO}", "info"),
    (rf"/api/datasets/{_REPO}/revision/([^/]+)", "info"),
    (rf"/api/datasets/{_REPO}/tree/([^/]+)", "tree"),
    (rf"/api/datasets/{_REPO}/preupload/([^/]+)", "preupload"),
    (rf"/api/datasets/{_REPO}/commit/([^/]+)", "commit"),
    (rf"/api/datasets/{_REPO}/branch/([^/]+)", "branch"),
    (rf"/datasets/{_REPO}/resolve/([^/]+)/(.+)", "resolve"),
    (rf"/datasets/{_REPO}\.git/info/lfs/objects/batch", "batch"),
    (r"/storage/([0-9a-f]+)", "stored"),
    (r"/upload/([0-9a-f]+)", "upload"),
]


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, hub: Hub) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.hub = hub
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no news, and what the command says on stderr is what is tested."""


@contextmanager
def running_hub() -> Iterator[Hub]:
    """A hub that answers until the block ends; ``url`` is its address, ``storage`` may be set to ``other``'s."""
    hub = Hub()
    server = _Server(hub)
    hub.url = server.url
    with serving(server):
        yield hub


@contextmanager
def serving(server: ThreadingHTTPServer) -> Iterator[None]:
    """Answer in a thread until the block ends."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def running_storage(hub: Hub) -> Iterator[None]:
    """Large files of ``hub`` come from another address while the block runs."""
    server = _Server(hub)
    hub.storage = server.url
    with serving(server):
        yield


def environment(hub: Hub | None, home: Path, **settings: str) -> dict[str, str]:
    """The environment of a run: nothing of this machine's hub settings, and no address but the test's."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "HUGGING", "XDG_"))}
    kept = {k: v for k, v in kept.items() if not k.lower().endswith("_proxy")}
    return {
        **kept,
        "HF_ENDPOINT": hub.url if hub is not None else "http://127.0.0.1:9",
        "HF_HOME": str(home / "hf-home"),
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_UPDATE_CHECK": "1",
        "NO_COLOR": "1",
        **settings,
    }


COMMAND = [sys.executable, "-m", "ragdatakit"]


def spawn_with(hub: Hub | None, home: Path, *words: str | Path, **settings: str) -> Outcome:
    """Run the command as a process of its own in the folder ``home``, against a hub (None: there is none)."""
    done = subprocess.run(
        [*COMMAND, *map(str, words)],
        capture_output=True,
        cwd=home,
        env={**environment(hub, home, **settings), "PYTHONPATH": str(ROOT)},
        timeout=60,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())


def run_with(hub: Hub | None, home: Path, *words: str | Path, terminal: bool = False, **settings: str) -> Outcome:
    """The same in this process, which is faster; what the library read when it was imported is set anew."""
    from huggingface_hub import close_session, constants

    env = environment(hub, home, **settings)
    url = env["HF_ENDPOINT"]
    read = {
        "ENDPOINT": url,
        "HUGGINGFACE_CO_URL_TEMPLATE": f"{url}/{{repo_id}}/resolve/{{revision}}/{{filename}}",
        "HF_HOME": env["HF_HOME"],
        "HF_HUB_CACHE": f"{env['HF_HOME']}/hub",
        "HF_TOKEN_PATH": f"{env['HF_HOME']}/token",
        "HF_HUB_OFFLINE": env.get("HF_HUB_OFFLINE") == "1",
        "HF_HUB_DISABLE_XET": True,
        "HF_HUB_DISABLE_TELEMETRY": True,
    }
    gone = {k: "" for k in os.environ if k not in env}  # an empty token is none
    with mock.patch.multiple(constants, **read), mock.patch.multiple(hub_fetch, FIRST_WAIT=0.01), chdir(home):
        try:
            return run(*words, terminal=terminal, env={**env, **gone})
        finally:
            close_session()
