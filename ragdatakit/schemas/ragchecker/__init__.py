"""RAGChecker, declared."""
