"""Which datasets are at a path, by the names of files and by how they begin. Names no format."""
