"""What lies at a path, what of it may be read, and files written whole."""
