"""The command `ragdata`, also as ``python -m ragdatakit``: sees to signals before anything else is imported."""

from ragdatakit.stopping import end_at_once


def main() -> None:
    """Run the command."""
    end_at_once()
    from ragdatakit.cli import main as command

    command()


if __name__ == "__main__":
    main()
