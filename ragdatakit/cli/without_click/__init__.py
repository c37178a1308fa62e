"""What `ragdata validate` and `ragdata report` do once their words are read, and command lines that are read without
click."""
