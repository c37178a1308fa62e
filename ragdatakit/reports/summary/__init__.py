"""What is in a dataset, in numbers: asked by SQL, shown as text, Markdown and JSON."""
