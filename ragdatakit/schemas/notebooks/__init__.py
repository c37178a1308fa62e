"""What notebooks show of a result, and what pandas and Arrow get of it."""
