"""Records of datasets and rows of any tables, as converters take them: canonical tables in streams."""
