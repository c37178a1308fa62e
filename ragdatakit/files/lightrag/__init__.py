"""What LightRAG's files hold beyond JSON records: a graph, stores of vectors, names, ids, extraction text."""
