"""Files to records: paths, detection, readers that keep positions, git."""
