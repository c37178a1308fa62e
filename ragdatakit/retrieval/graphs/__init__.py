"""Graph mode: the graph of an index, the nodes that a text names, the walk from them."""
