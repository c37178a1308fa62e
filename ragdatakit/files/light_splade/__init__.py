"""What only light-splade has: its data config and its training samples."""
