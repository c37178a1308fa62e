"""The fault injector: every field, key and reference of every format × every kind of damage, on clean datasets.

What must be found, and where, is worked out from the declarations alone (`expected`, `set_oracle`) and from a table
per format of the rules that its declaration cannot say; nothing else may be reported.
"""
