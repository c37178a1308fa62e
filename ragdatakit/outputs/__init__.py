"""What ragdata writes: writers, staging, sidecars, scratch folders, caches."""
