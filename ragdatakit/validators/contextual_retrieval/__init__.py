"""Checks of contextual-retrieval data that its declaration cannot say."""
