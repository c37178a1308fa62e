"""What `ragdata validate` does once its words are read, and command lines that are read without click."""
