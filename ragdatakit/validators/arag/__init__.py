"""A-RAG: the checks that its declaration cannot say."""
