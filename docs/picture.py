"""Makes the picture of a page that the README shows: a report by the command, opened in a headless browser.

    .venv/bin/python docs/picture.py DATA OUT.png [--dark] [--at ID]

DATA is a dataset; its path stands on the page as it is given. Needs the browser that `make env` gets.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.browser_tools import launched, open_page

WIDTH, HEIGHT = 1180, 1162


def main() -> None:
    """Make the page and the picture."""
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("data", type=Path)
    words.add_argument("out", type=Path)
    words.add_argument("--dark", action="store_true")
    words.add_argument("--at", default="", help="the id of a section to begin with")
    given = words.parse_args()
    with TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        command = [sys.executable, "-m", "ragdatakit", "report", str(given.data.name), "--output-file", str(page)]
        subprocess.run(command, check=True, cwd=given.data.absolute().parent)
        with launched() as browser:
            shown = open_page(browser, page, width=WIDTH, scheme="dark" if given.dark else "light")
            shown.page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
            if given.at:
                shown.page.evaluate("(id) => document.getElementById(id).scrollIntoView()", given.at)
            given.out.parent.mkdir(parents=True, exist_ok=True)
            shown.page.screenshot(path=given.out)
            if not shown.quiet:
                sys.exit(f"the page is not quiet: {shown.noise}")


if __name__ == "__main__":
    main()
