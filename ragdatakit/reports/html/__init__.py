"""The HTML page of `ragdata report`: frame, parts, pictures, scripts."""
