"""Columns of whole blocks: decoders, keys, words and graphs without a Python object for each value."""
