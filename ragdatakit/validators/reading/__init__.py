"""How a file is read and checked, by its container: lines, elements of arrays and objects, cells of tables, tags."""
