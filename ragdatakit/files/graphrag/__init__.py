"""Reading the tables, settings, vectors and extraction text of GraphRAG."""
