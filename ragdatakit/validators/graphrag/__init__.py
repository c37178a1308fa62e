"""The checks of GraphRAG data that its declaration cannot say."""
