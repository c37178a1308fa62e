"""Pages of the explorer: what they show is given as plain values, and nothing is read here."""
