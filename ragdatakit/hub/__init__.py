"""Datasets on the Hugging Face hub: fetch, push, dataset card."""
