"""Checks and repairs as the command line and the Python interface both ask for them."""
