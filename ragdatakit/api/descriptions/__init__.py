"""Descriptions of datasets for others: catalogues, hubs, loaders."""
