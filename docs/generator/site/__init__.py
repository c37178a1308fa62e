"""The pages as a site: split, linked, drawn and built by Sphinx."""
