"""Why the scanner notes a line."""

REFUSED = 0
"""It is not proved to be clean."""
CANDIDATE = 1
"""It is, except for what a predicate names, or for members that are no keys and not as declared."""
BLANK = 2
"""It is no record."""
