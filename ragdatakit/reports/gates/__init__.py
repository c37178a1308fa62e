"""Gates: suites of Great Expectations over the tables of a dataset, and a first suite made of today's data."""
