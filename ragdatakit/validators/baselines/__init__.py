"""Findings that are accepted: read from a baseline or from an older state, matched, and written."""
