"""Which version this is: the one place, which the package's build reads, too."""

__version__ = "0.2.0"
