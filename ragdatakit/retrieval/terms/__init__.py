"""Texts as terms: tokens in any script, accents, stop words, snippets."""
