"""LightRAG: the checks that its declaration cannot say."""
