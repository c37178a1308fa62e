"""A target and what was reached of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """``goal`` is the most allowed (the least, if ``at_least``); ``reached`` None: not measured in this run."""

    text: str
    goal: float
    unit: str
    reached: float | None
    at_least: bool = False

    @property
    def verdict(self) -> str:
        """In one word, or by how much it is missed."""
        if self.reached is None:
            return "not measured"
        if self.reached >= self.goal if self.at_least else self.reached <= self.goal:
            return "met"
        if not self.unit:
            return "**missed**"
        off = self.goal / self.reached if self.at_least else self.reached / self.goal
        return f"**missed** by {off - 1:.0%}"
