"""The Python interface, a module for each thing one can do; `import ragdatakit` offers its functions."""
