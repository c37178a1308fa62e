"""Answers in the form in which frameworks compare them: one that is empty then is right, or wrong, by accident."""

from __future__ import annotations

import re
import string

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_NO_WORD = re.compile(r"[^\w\s]")


def without_articles(text: str) -> str:
    """Lower case, no ASCII punctuation, no articles, single blanks."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def words_only(text: str) -> str:
    """Lower case, what is no word or white space a blank, single blanks."""
    return " ".join(_NO_WORD.sub(" ", text.lower()).split())
