"""What a text is called, how it is counted, compared and made fit to print."""
