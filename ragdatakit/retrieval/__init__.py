"""The reference retriever and its evaluation: simple, exact, reproducible. Reads canonical tables, knows no format."""
