"""Gold, runs, metrics, and what they mean: the ceiling, checks, comparisons."""
