"""light-splade into the canonical tables and out of them."""
