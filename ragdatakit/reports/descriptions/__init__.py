"""Descriptions of datasets in the standards of others."""
