"""Writes the generated part of the docs: pages made from the declarations, blocks and screens within written pages."""
