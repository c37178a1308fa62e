"""The rules of no format: shared by all, of quality, of an evaluation."""
