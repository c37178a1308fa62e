"""Writes what is generated in the docs: ``python docs/generate.py``; ``--check`` lists what has drifted instead.

``python docs/generate.py docs/rules docs/cli.md`` makes only files whose paths begin so: the examples take minutes.

Whole files come from the declarations (rules, formats, schemas, the schema of the output). In README.md and the other
written pages, the examples are run and the blocks between ``<!-- generated: NAME -->`` and ``<!-- end generated -->``
are filled; the cells of the notebooks are run.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from docs.generator.format_pages import format_pages  # noqa: E402 - found only now that the root is on the path
from docs.generator.notebooks import notebooks  # noqa: E402
from docs.generator.pages import written_pages  # noqa: E402
from docs.generator.rule_pages import rule_pages  # noqa: E402
from docs.generator.terminal import pictures  # noqa: E402
from ragdatakit.reports.diff.schema import query_schemas  # noqa: E402
from ragdatakit.reports.findings.schema import output_schema  # noqa: E402
from ragdatakit.reports.gates.output_schema import gate_schema  # noqa: E402
from ragdatakit.reports.search_output_schema import search_output_schemas  # noqa: E402
from ragdatakit.reports.summary.schema import summary_schema  # noqa: E402
from ragdatakit.schemas import all_formats  # noqa: E402
from ragdatakit.schemas.catalog import documents  # noqa: E402

OWNED = (
    "docs/rules/*.md",
    "docs/formats/*.md",
    "docs/formats/*.svg",
    "docs/images/*.svg",
    "docs/schemas/*.json",
    "docs/output-schema*.json",
)
"""Whole files that are generated; one that is generated no more is removed."""


def generated(wanted: Callable[[str], bool] = lambda _: True) -> dict[str, str]:
    """Path below the root to the text that belongs there."""
    files = {f"docs/{name}": text for name, text in {**rule_pages(), **format_pages(), **pictures()}.items()}
    files["docs/output-schema.json"] = _json(output_schema())
    by_command = {"report": summary_schema(), **search_output_schemas(), **query_schemas(), "gate": gate_schema()}
    files.update({f"docs/output-schema-{name}.json": _json(schema) for name, schema in by_command.items()})
    files.update({f"docs/schemas/{name}": _json(document) for name, document in documents(all_formats()).items()})
    return {
        **{name: text for name, text in files.items() if wanted(name)},
        **written_pages(wanted),
        **notebooks(wanted),
    }


def drifted(files: dict[str, str], wanted: Callable[[str], bool] = lambda _: True) -> list[str]:
    """The files that are not as they should be, and those that should not be there."""
    wrong = [name for name, text in files.items() if not (ROOT / name).exists() or (ROOT / name).read_text() != text]
    stale = [p.relative_to(ROOT).as_posix() for pattern in OWNED for p in ROOT.glob(pattern)]
    stale = [name for name in stale if wanted(name)]
    return sorted({*wrong, *(name for name in stale if name not in files)})


def _json(document: object) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def main() -> int:
    """Write, or compare; returns the exit code."""
    parser = argparse.ArgumentParser(description="Write the generated part of the docs.")
    parser.add_argument("--check", action="store_true", help="change nothing, list the files that have drifted")
    parser.add_argument("beginnings", nargs="*", metavar="PATH", help="only files whose paths begin so")
    arguments = parser.parse_args()
    check, beginnings = arguments.check, tuple(arguments.beginnings) or ("",)

    def wanted(name: str) -> bool:
        return name.startswith(beginnings)

    files = generated(wanted)
    wrong = drifted(files, wanted)
    for name in wrong:
        if not check:
            path = ROOT / name
            if name in files:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(files[name])
            else:
                path.unlink()
        print(f"{'drifted' if check else 'wrote' if name in files else 'removed'}: {name}")
    if check and wrong:
        print(f"{len(wrong)} files lag behind the code; run `make docs`", file=sys.stderr)
    return int(check and bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
