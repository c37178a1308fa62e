"""Generated benchmark sets: SPLADE triplets, a DataMind profile, A-RAG chunks, and faults planted into them."""
