"""Keys, references and coverage of datasets that are judged in ranges: keys are written to files, cut into partitions
by their codes, and compared a partition at a time, so that nobody holds all of them."""
