"""Datasets at URLs: listed, recognised by how files begin, fetched into a cache, and read from there as any folder."""
