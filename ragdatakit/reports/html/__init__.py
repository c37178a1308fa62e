"""The page: its frame, its parts, its scripts."""
