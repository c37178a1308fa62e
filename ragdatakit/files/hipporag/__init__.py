"""What only HippoRAG has: its passages and answers."""
