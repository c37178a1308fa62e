"""The configuration of a project: where it is, what it says, and what of it holds for a path."""
