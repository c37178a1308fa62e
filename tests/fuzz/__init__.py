"""The fault harness: datasets damaged at random, odd files, failing writes and signals, through every command.

``python -m tests.fuzz`` runs it (see CONTRIBUTING.md); `test_fuzz` runs a short seeded part of it.
"""
