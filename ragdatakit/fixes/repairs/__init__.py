"""What each format's rules have repaired by which function: a module a format, and what all share."""
