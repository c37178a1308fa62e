"""Vectors of texts, made, given and kept, and the exact search in them."""
