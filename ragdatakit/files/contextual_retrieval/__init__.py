"""Readers of contextual-retrieval files that are no JSON."""
