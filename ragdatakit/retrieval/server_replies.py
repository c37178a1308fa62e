"""JSON to and from model servers: what they send may be cut, odd or hostile, and messages show it on one line."""

from __future__ import annotations

import json
from typing import Any

import orjson

_MOST = 300
"""Characters of a server's message that are shown."""


class ReplyError(ValueError):
    """A reply is not what it has to be; the message says how."""


def json_body(payload: Any) -> bytes:
    """A payload as JSON, its members sorted. Raises ValueError for what JSON cannot hold."""
    try:
        return orjson.dumps(payload, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # lone surrogates, which UTF-8 has no form for
        text = json.dumps(payload, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
        return text.encode("utf-8", "replace")


def json_object(data: bytes) -> dict[str, Any]:
    """A reply's JSON object. NaN and infinities are read, as some servers write them; lone surrogates become U+FFFD.

    Raises `ReplyError`.
    """
    try:
        reply = orjson.loads(data)
    except orjson.JSONDecodeError:
        reply = _lenient(data)
    if not isinstance(reply, dict):
        raise ReplyError(f"the reply is JSON, but no object: {excerpt(data)}")
    return reply


def _lenient(data: bytes) -> Any:
    if not data.strip():
        raise ReplyError("the reply is empty")
    try:
        reply = json.loads(data.decode("utf-8"))
        if "\\ud" in data.decode("utf-8").lower():
            text = json.dumps(reply, ensure_ascii=False)
            reply = json.loads(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    except (ValueError, RecursionError):
        raise ReplyError(f"the reply is not JSON: {excerpt(data)}") from None
    return reply


def server_message(data: bytes) -> str:
    """What a server says about an error, in one line; empty where it says nothing."""
    try:
        reply = json_object(data)
    except ReplyError:
        return excerpt(data) if data.strip() else ""
    found: Any = reply.get("error", reply.get("detail", reply.get("message")))
    if isinstance(found, dict):
        found = found.get("message", found)
    if isinstance(found, list | dict):
        found = json.dumps(found, ensure_ascii=False)
    return one_line(str(found)) if found else excerpt(data)


def excerpt(data: bytes) -> str:
    """The beginning of a reply, for a message."""
    return one_line(data[: 4 * _MOST].decode("utf-8", "replace"), 100)


def one_line(text: str, most: int = _MOST) -> str:
    """A text for a message: one line, without control characters, cut where it is long."""
    shown = "".join(c if c.isprintable() else " " for c in text)
    shown = " ".join(shown.split())
    return shown if len(shown) <= most else f"{shown[:most].rstrip()} …"
