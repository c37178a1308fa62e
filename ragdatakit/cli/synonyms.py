"""What other tools call the things that these commands do: for people who type the name they know."""

_SYNONYMS = {
    "validate": "check lint test scan audit verify-data valid doctor",
    "convert": "transform export import translate migrate to",
    "report": "stats statistics describe info inspect summary summarize summarise profile show count",
    "index": "build embed",
    "retrieve": "search find ask lookup rag",
    "eval": "evaluate benchmark score measure metrics bench",
    "query": "sql select duckdb",
    "diff": "compare changes",
    "gate": "expect expectations suite",
    "fetch": "download pull get",
    "push": "upload publish",
    "verify": "checksum checksums manifest",
    "formats": "format list ls",
    "rules": "rule codes checks",
    "explain": "why doc docs man",
    "schema": "schemas jsonschema json-schema",
    "init": "new create scaffold example start",
    "--help": "help",
    "--version": "version",
}

COMMAND_OF = {word: command for command, words in _SYNONYMS.items() for word in words.split()}
"""The command that is meant by a word which is none."""
