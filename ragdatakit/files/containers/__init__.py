"""Files cut into lines, elements, cells and tagged texts, with the position of each; JSON as text."""
