"""From a path to records: what lies there, which datasets that is, what is in their files and on which line.

Folders: `paths`, `containers`, `detection`, `reading`, `git`, `texts`, and one for each format that has something here
which no declaration can say. Nothing else knows a format by name.
"""
