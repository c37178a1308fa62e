"""An OpenAI-compatible server on this machine for tests: chat completions and embeddings, and ways to fail.

Faults are taken in their order, one for each request; after the last one requests are answered as they should be.
"""

from __future__ import annotations

import base64
import hashlib
import json
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DIMENSIONS = 16
KEY = "sk-test-1234567890"


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one request. Empty fields leave their part of the answer as it should be.

    ``stall`` seconds pass before the answer; ``drip`` seconds between the bytes of the body
    (``drip_head``: from the first byte on); ``cut`` ends the connection after so
    many bytes of the body (0: before the status line).
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    stall: float = 0
    drip: float = 0
    drip_head: float = 0
    cut: int | None = None
    change: Callable[[dict[str, Any]], Any] | None = None


def refusal(status: int, message: str = "no", headers: Mapping[str, str] | None = None, **members: Any) -> Fault:
    """An answer with a status and an error object, as OpenAI sends it."""
    body = json.dumps({"error": {"message": message, **members}}).encode()
    return Fault(status, headers or {}, body)


def vector_of(text: str) -> list[float]:
    """The vector of a text: a bag of its words, hashed; texts that share words are near to each other."""
    values = [0.0] * DIMENSIONS
    for word in text.lower().replace(".", " ").replace("?", " ").split():
        digest = hashlib.sha256(word.encode("utf-8", "replace")).digest()
        for at in range(4):
            values[digest[at] % DIMENSIONS] += 1.0 if digest[8 + at] % 2 else -1.0
    if not any(values):
        values[0] = 1.0
    return values


@dataclass
class Call:
    """A request that the server got."""

    path: str
    payload: Any
    headers: dict[str, str]


class ModelServer(ThreadingHTTPServer):
    """Answers at ``url``. ``chat`` turns the payload of a chat request into the text of the answer."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}/v1"
        self.faults: deque[Fault] = deque()
        self.always: Fault | None = None
        self.calls: list[Call] = []
        self.chat: Callable[[dict[str, Any]], str] = lambda payload: str(payload["messages"][-1]["content"])
        self.key: str | None = None
        self.use_base64 = False
        self.most_at_once = 0
        self.at_once = 0
        self.lock = threading.Lock()

    def fail(self, *faults: Fault) -> None:
        """The next requests fail in these ways."""
        self.faults.extend(faults)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is what many tests are about."""

    def reply(self, path: str, payload: dict[str, Any]) -> dict[str, Any] | None:
        """The answer to a request; None for a path that is not served."""
        path = path.partition("?")[0]
        if path.endswith("/chat/completions"):
            text = self.chat(payload)
            message = {"role": "assistant", "content": text}
            return {
                "object": "chat.completion",
                "model": payload.get("model"),
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": len(json.dumps(payload["messages"])) // 4, "completion_tokens": len(text)},
            }
        if path.endswith("/embeddings"):
            given = payload["input"]
            texts = [given] if isinstance(given, str) else given
            data = [{"object": "embedding", "index": i, "embedding": self._vector(t)} for i, t in enumerate(texts)]
            used = sum(len(t.split()) for t in texts)
            return {"object": "list", "data": data, "model": payload.get("model"), "usage": {"prompt_tokens": used}}
        return None

    def _vector(self, text: str) -> list[float] | str:
        values = vector_of(text)
        if self.use_base64:
            return base64.b64encode(struct.pack(f"<{len(values)}f", *values)).decode()
        return values


class _Handler(BaseHTTPRequestHandler):
    server: ModelServer

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._send(405, {}, b'{"error": {"message": "only POST"}}', Fault())

    def do_POST(self) -> None:
        server = self.server
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with server.lock:
            server.calls.append(Call(self.path, json.loads(data), dict(self.headers)))
            fault = server.faults.popleft() if server.faults else server.always or Fault()
            server.at_once += 1
            server.most_at_once = max(server.most_at_once, server.at_once)
        time.sleep(fault.stall)
        with server.lock:
            server.at_once -= 1  # before the client has the answer, and asks for more
        self._answer(json.loads(data), fault)

    def _answer(self, payload: dict[str, Any], fault: Fault) -> None:
        if fault.cut == 0:
            self._end()
            return
        status, body = fault.status, fault.body
        if self.server.key is not None and self.headers.get("Authorization") != f"Bearer {self.server.key}":
            status, body = 401, b'{"error": {"message": "Incorrect API key provided"}}'
        if body is None:
            reply: Any = self.server.reply(self.path, payload)
            if reply is None:
                status, reply = 404, {"detail": "Not Found"}
            elif fault.change is not None:
                reply = fault.change(reply)
            body = json.dumps(reply).encode()
        self._send(status, fault.headers, body, fault)

    def _send(self, status: int, headers: Mapping[str, str], body: bytes, fault: Fault) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        if fault.drip_head:
            self._drip(b"HTTP/1.0 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body), fault.drip_head)
            return
        if fault.drip:
            self.end_headers()
            self._drip(body, fault.drip)
            return
        self.end_headers()
        self.wfile.write(body if fault.cut is None else body[: fault.cut])
        if fault.cut is not None:
            self._end()

    def _drip(self, data: bytes, seconds: float) -> None:
        for at in range(len(data)):
            self.wfile.write(data[at : at + 1])
            self.wfile.flush()
            time.sleep(seconds)

    def _end(self) -> None:
        self.wfile.flush()
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)


@contextmanager
def running_models() -> Iterator[ModelServer]:
    """A server that answers until the block ends."""
    server = ModelServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
