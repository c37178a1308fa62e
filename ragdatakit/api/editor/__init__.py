"""What editors ask of a dataset: findings of the files that are open, their fixes, and where an id leads."""
