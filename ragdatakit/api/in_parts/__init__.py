"""What is done part by part, by an engine: reports and conversions."""
