"""Repairs of what validation finds: edits of bytes, applied to whole datasets or not at all."""
