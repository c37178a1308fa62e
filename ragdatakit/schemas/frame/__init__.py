"""Pandera models of the tables that files are, for frames of your own."""
