"""RAGChecker's files, read and written."""
