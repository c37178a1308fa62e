"""light-splade: the checks that its declaration cannot say."""
