"""The checks of RAPTOR trees that their declaration cannot say."""
