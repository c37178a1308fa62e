"""The explorer: a page on this machine, by which one looks into datasets."""
