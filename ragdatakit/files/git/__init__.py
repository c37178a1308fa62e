"""Datasets in the revisions of a git repository."""
