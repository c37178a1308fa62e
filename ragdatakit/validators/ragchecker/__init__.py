"""The checks of RAGChecker files that their declaration cannot say."""
