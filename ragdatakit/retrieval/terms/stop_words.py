"""Words that say nothing about what a text is about, by the stemmer's language. Only English has a list."""

from __future__ import annotations

STOP_WORDS: dict[str, frozenset[str]] = {
    "english": frozenset(
        "a an and are as at be but by for if in into is it no not of on or such that the their then there these they "
        "this to was will with".split()
    )
}
"""Lucene's English list, the one that published BM25 numbers are made with."""
