"""Graphs made of texts: names without a model, or entities and triples by a language model; see `graph_tables`."""
