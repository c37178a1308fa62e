"""Keys and graphs as arrays of numbers: no Python object for each value."""
