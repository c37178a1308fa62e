"""Why the scanner notes a line."""

REFUSED = 0
"""It is not proved to be clean."""
CANDIDATE = 1
"""It is, and a predicate names it."""
BLANK = 2
"""It is no record."""
