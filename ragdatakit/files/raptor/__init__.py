"""RAPTOR's trees as they are stored: pickles, read without running them, and the JSON form."""
