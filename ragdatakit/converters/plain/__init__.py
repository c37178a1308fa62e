"""Texts and tables of no format, into the canonical tables."""
