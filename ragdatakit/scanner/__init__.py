"""The compiled scanner, as Python sees it: what it is asked, how it is called, what comes back."""
