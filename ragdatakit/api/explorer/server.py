"""The server of the explorer: on 127.0.0.1, for whoever has the address with its token, and for reading only."""

from __future__ import annotations

import errno
import hmac
import secrets
import sys
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from ragdatakit.api.explorer.jobs import Waiting
from ragdatakit.api.explorer.opened import NoSuchPageError
from ragdatakit.api.explorer.views import Views
from ragdatakit.reports.html.explorer.layout import message_page, waiting_page
from ragdatakit.schemas.errors import RagdataError

if TYPE_CHECKING:
    from ragdatakit.api.explorer.explored import Explored

_HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_LONGEST_ADDRESS = 8_000


class Server:
    """Answers requests for pages. Other web sites that a browser has open cannot guess the token, and what asks by
    another name of this machine is refused."""

    def __init__(self, explored: Explored, port: int) -> None:
        token = secrets.token_urlsafe(24)
        self._views = Views(explored, f"/{token}")
        try:
            self._http = ThreadingHTTPServer(("127.0.0.1", port), partial(_Handler, self._views))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            raise RagdataError(f"port {port} is in use; --port 0 takes any that is free") from None
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/{token}/"

    def serve(self) -> None:
        """Answer requests, until `close`."""
        self._http.serve_forever(poll_interval=0.2)

    def close(self) -> None:
        """Answer no more requests."""
        self._http.shutdown()
        self._http.server_close()


class _Handler(BaseHTTPRequestHandler):
    timeout = 60
    server_version = "ragdata"
    sys_version = ""

    def __init__(self, views: Views, *words: Any) -> None:
        self._views = views
        super().__init__(*words)

    def do_GET(self) -> None:
        status, page = self._answer()
        self.send_response(status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(page)

    def do_HEAD(self) -> None:
        self.do_GET()

    def _answer(self) -> tuple[HTTPStatus, bytes]:
        port = self.server.server_address[1]  # type: ignore[index]
        if self.headers.get("Host") not in (f"127.0.0.1:{port}", f"localhost:{port}"):
            return HTTPStatus.FORBIDDEN, b"this page is for this machine only\n"
        path, _, query = self.path[:_LONGEST_ADDRESS].partition("?")
        _, token, *parts = path.split("/") if path.count("/") > 1 else ("", "", "")
        root = self._views.links.root
        if not hmac.compare_digest(f"/{token}".encode(), root.encode()):
            return HTTPStatus.NOT_FOUND, b"there is no such page: take the whole address that ragdata printed\n"
        links, dataset = self._views.links, self._views.dataset_at(parts)
        try:
            return HTTPStatus.OK, self._views.page([part for part in parts if part], query)
        except Waiting as waiting:
            return HTTPStatus.OK, waiting_page(links, str(waiting), dataset)
        except NoSuchPageError:
            return HTTPStatus.NOT_FOUND, message_page(links, "Not found", "There is no such page.", dataset)
        except (RagdataError, OSError) as error:
            return HTTPStatus.OK, message_page(links, "This does not work", str(error), dataset)
        except Exception as error:  # noqa: BLE001 - a browser waits for an answer
            words = f"internal error: {type(error).__name__}: {error}"
            sys.stderr.write(f"ragdata: {words}\n")
            return HTTPStatus.INTERNAL_SERVER_ERROR, message_page(links, "This does not work", words, dataset)

    def log_message(self, *_: Any) -> None:
        """Say nothing: addresses have the token in them."""
