"""Contextual Retrieval below the rooms: stores of vectors, and contexts that are made of documents."""
