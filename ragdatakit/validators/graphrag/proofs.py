"""What the tables of an index are proved to be free of, so that the database need not be asked.

The questions of `ReferenceChecks` and `CommunityChecks` are joins; mostly nothing is wrong, which `ArrayProofs` finds
quicker. A method that returns True has proved that its question has no answer. False says
nothing: the question is asked.
"""

from __future__ import annotations


class Proofs:
    """Nothing is proved."""

    def forget(self) -> None:
        """Let go of what the proofs are made of; nothing is asked any more."""

    def has(self, kind: str, *columns: str) -> bool:
        """Whether all these columns are known to have no null; that is a proof that no id is missing."""
        return False

    def has_like_lengths(self, kind: str, shortest: int) -> bool:
        """Whether all ids of a table are of one length, or none is as long as the shortest that are made."""
        return False

    def has_words(self, kind: str) -> bool:
        """Whether an id of a table is not a number."""
        return False

    def resolves(self, kind: str, column: str, to_kind: str, to_column: str) -> bool:
        """Whether each text, or member of a list, is one of another column."""
        return False

    def is_unique(self, kind: str, column: str) -> bool:
        """Whether no value of a column appears twice."""
        return False

    def has_ends(self) -> bool:
        """Whether both ends of each relationship are entities."""
        return False

    def has_degrees(self) -> bool:
        """Whether each entity has the degree that its relationships give."""
        return False

    def has_combined_degrees(self) -> bool:
        """Whether each relationship has the degrees of its ends, added."""
        return False

    def has_frequencies(self) -> bool:
        """Whether each entity has the number of its text units as its frequency."""
        return False

    def has_text_units(self) -> bool:
        """Whether any entity names a text unit."""
        return False

    def mirrors(self, kind: str, column: str, other: str, back: str) -> bool:
        """Whether the lists of a table are what the column ``back`` of another one says, id by id."""
        return False

    def has_hierarchy(self) -> bool:
        """Whether each community is on the level behind that of its parent, and only those on the first have none."""
        return False

    def has_children(self) -> bool:
        """Whether each community lists those whose parent it is."""
        return False

    def has_all_entities(self) -> bool:
        """Whether each entity is in a community."""
        return False

    def has_members_in_parents(self) -> bool:
        """Whether the members of each community are in its parent, too."""
        return False

    def has_own_relationships(self) -> bool:
        """Whether the relationships of each community exist, and have both ends in it."""
        return False

    def has_top_level(self, reported: bool) -> bool:
        """Whether a community is on level 0, and has a report where there are any."""
        return False
