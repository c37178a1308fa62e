"""Mutations of lines and of storage: what is not JSON, encodings, line ends, compression, shards, names."""

from __future__ import annotations

import json
from functools import partial

from tests.light_splade_mutations import Mutation, NothingToChange, Target, dumped, every, mutation

LINE_MUTATIONS: list[Mutation] = []
line = partial(mutation, LINE_MUTATIONS)


def _replace(name: str, codes: str, old: str, new: str) -> None:
    """A mutation that rewrites the line of one record, its first ``old`` becoming ``new``."""

    def change(t: Target) -> None:
        index, row = t.pick()
        t.rows[index] = dumped(row).replace(old, new, 1)

    line(name, **every(codes))(change)


def _insert(name: str, codes: str, text: str) -> None:
    """A mutation that adds a line somewhere."""

    def change(t: Target) -> None:
        t.rows.insert(t.rng.randint(0, len(t.rows)), text)

    line(name, **every(codes))(change)


_replace("single-quotes", "E04", '"', "'")
_replace("missing-colon", "E04", ":", " ")
_replace("pretty-printed", "E04", "{", "{\n  ")
_replace("cr-inside-record", "E04", ": ", ":\r")
_replace("form-feed-before-record", "E04", "{", "\f{")
_replace("nbsp-inside-record", "E04", ": ", ":\u00a0")
_replace("invalid-utf8", "E03", ": ", ': "\udcff", "x": ')
_replace("padded", "", "{", " \t { \t")
_replace("no-spaces", "", ": ", ":")
_replace("extra-key", "E05", "{", '{"lang": "en", ')
_replace("renamed-key", "E05", '{"', '{"x_')
_replace("key-in-capitals", "E05", "id", "ID")
_insert("blank-line", "E04", "")
_insert("whitespace-line", "E04", " \t ")
_insert("array-line", "E04", '["a", 1]')
_insert("text-line", "E04", '"a"')
_insert("number-line", "E04", "7")
_insert("null-line", "E04", "null")
_insert("comment-line", "E04", "# queries")
_insert("unclosed-line", "E04", '{"qid": 1, "te')
_insert("nested-too-deep", "E", '{"qid": 1, "text": ' + "[" * 100_000 + "]" * 100_000 + "}")
_insert("integer-too-long", "E", '{"qid": ' + "9" * 5000 + ', "text": "x"}')


@line("escaped-key", **every(""))
def _(t: Target) -> None:
    index, row = t.pick()
    t.rows[index] = dumped(row).replace('"qid"', '"\\u0071id"').replace('"doc_id"', '"\\u0064oc_id"')


@line("duplicate-key", **every("E14"))
def _(t: Target) -> None:
    index, row = t.pick()
    key = t.rng.choice(list(row))
    t.rows[index] = dumped({key: row[key]})[:-1] + ", " + dumped(row)[1:]


@line("duplicate-key-by-escape", queries="E14", documents="E14")
def _(t: Target) -> None:
    index, row = t.pick()
    t.rows[index] = '{"te\\u0078t": "lost", ' + dumped(row)[1:]


@line("missing-key", **every("E05"))
def _(t: Target) -> None:
    index, row = t.pick()
    lost = t.rng.choice(list(row))
    t.rows[index] = {key: value for key, value in row.items() if key != lost}


@line("key-order", **every("") | dict.fromkeys(("queries", "documents"), "W17"))
def _(t: Target) -> None:
    index, row = t.pick()
    t.rows[index] = dict(reversed(row.items()))


@line("trailing-comma", **every("E04"))
def _(t: Target) -> None:
    index, row = t.pick()
    t.rows[index] = dumped(row)[:-1] + ",}"


@line("two-on-one-line", **every("E04"))
def _(t: Target) -> None:
    if len(t.rows) < 2:
        raise NothingToChange
    t.rows[0:2] = [dumped(t.rows[0]) + " " + dumped(t.rows[1])]


@line("json-array-file", **every("E04"))
def _(t: Target) -> None:
    t.rows[:] = [json.dumps([row for row in t.rows if isinstance(row, dict)])]


@line("blank-line-at-end", **every("E04"))
def _(t: Target) -> None:
    t.file.tail = "\n"


@line("spaces-at-end", **every("E04"))
def _(t: Target) -> None:
    t.file.tail = "  "


@line("cut-in-last-line", **every("E04"))
def _(t: Target) -> None:
    t.rows[-1] = dumped(t.rows[-1])[:-4] if t.rows else ""
    t.file.final_newline = False


@line("no-final-newline", **every(""))
def _(t: Target) -> None:
    t.file.final_newline = False


@line("crlf", **every(""))
def _(t: Target) -> None:
    t.file.newline = "\r\n"


@line("lone-cr", **every("W20"))
def _(t: Target) -> None:
    if len(t.rows) < 2:
        raise NothingToChange
    t.rows[0:2] = [dumped(t.rows[0]) + "\r" + dumped(t.rows[1])]


@line("cr-everywhere", **every("W20"))
def _(t: Target) -> None:
    t.file.newline = "\r"


@line("byte-order-mark", **every("E03"))
def _(t: Target) -> None:
    t.file.head = b"\xef\xbb\xbf"


@line("utf-16", **every("E03"))
def _(t: Target) -> None:
    t.file.alter = lambda data: data.decode("utf-8", "surrogateescape").encode("utf-16", "replace")


@line("gz", **every(""))
def _(t: Target) -> None:
    t.file.suffix = ".ndjson.gz"


@line("gz-of-several-members", **every(""))
def _(t: Target) -> None:
    t.file.suffix, t.file.members = ".ndjson.gz", 3


@line("gz-with-zeros-after", **every(""))
def _(t: Target) -> None:
    t.file.suffix, t.file.alter = ".ndjson.gz", lambda data: data + bytes(16)


@line("gz-with-garbage-after", **every("E02"))
def _(t: Target) -> None:
    t.file.suffix, t.file.alter = ".ndjson.gz", lambda data: data + b"garbage"


@line("gz-cut", **every("E02"))
def _(t: Target) -> None:
    t.file.suffix, t.file.alter = ".ndjson.gz", lambda data: data[: len(data) * 2 // 3]


@line("gz-without-checksum", **every("E02"))
def _(t: Target) -> None:
    t.file.suffix, t.file.alter = ".ndjson.gz", lambda data: data[:-8]


@line("gz-with-wrong-checksum", **every("E02"))
def _(t: Target) -> None:
    t.file.suffix, t.file.alter = ".ndjson.gz", lambda data: data[:-8] + b"\0\0\0\0" + data[-4:]


@line("plain-named-gz", **every("E02"))
def _(t: Target) -> None:
    t.file.suffix, t.file.compressed = ".ndjson.gz", False


@line("gz-named-plain", **every("E02"))
def _(t: Target) -> None:
    t.file.compressed = True


@line("empty-file", queries="E", documents="E", positives="E", triplets="E24", scores="E")
def _(t: Target) -> None:
    t.rows.clear()


@line("wrong-ending", **every("E01"))
def _(t: Target) -> None:
    t.file.suffix = t.rng.choice([".jsonl", ".json", ".NDJSON", ".ndjson.gzip", ".ndjson.GZ", ""])
    t.file.compressed = False


@line("missing-file", queries="E01", documents="E01", positives="E01")
def _(t: Target) -> None:
    t.file.absent = True


@line("shards", **every(""))
def _(t: Target) -> None:
    t.file.shards = ["part-0.ndjson", "part-1.ndjson"]


@line("shards-plain-and-gz", **every(""))
def _(t: Target) -> None:
    t.file.shards = ["a.v1.ndjson.gz", "b.ndjson"]


@line("shard-of-another-name", **every("E01"))
def _(t: Target) -> None:
    t.file.shards = ["part-0.ndjson", "part-1.jsonl"]


@line("shard-in-subfolder", **every("E"))
def _(t: Target) -> None:
    t.file.shards = ["part-0.ndjson", "more/part-1.ndjson"]


@line("shards-all-of-another-name", **every("E01"))
def _(t: Target) -> None:
    t.file.shards = ["part-0.jsonl", "part-1.json"]


@line("shard-plain-beside-gz", queries="E12", documents="E12", positives="E13", scores="E13", triplets="W16")
def _(t: Target) -> None:
    t.file.shards, t.file.copies = ["a.ndjson"], ["a.ndjson.gz"]
