"""``python -m ragdatakit`` is the command `ragdata`."""

from ragdatakit.cli import main

if __name__ == "__main__":
    main()
