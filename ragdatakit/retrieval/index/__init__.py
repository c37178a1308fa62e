"""Indexes on the disk: their files, whether their datasets are what they were, where they lie."""
