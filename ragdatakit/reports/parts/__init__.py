"""The key numbers of a dataset, measured part by part and put together: each part is a value, in any order."""
