"""Retrieval in GraphRAG's own manner: from entities to what is known of them, or over the reports of communities."""
