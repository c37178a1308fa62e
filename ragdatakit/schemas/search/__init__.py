"""Ways to search, as options name them."""
