"""Great Expectations' own pages (Data Docs) of what a gate found. They load their styles from the network."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

from ragdatakit.reports.gates.running import GateLibrary, silence
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.gates import Suite

_SITE = "ragdata"
_LONGEST = 100


def check_folder(folder: Path) -> None:
    """Raise `RagdataError` unless pages can go there: to a folder that is empty, has earlier ones, or is not there."""
    if folder.exists() and not folder.is_dir():
        raise RagdataError(f"{folder} is not a folder")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / "index.html").is_file():
        raise RagdataError(f"{folder} has other files in it; give a folder of their own for the pages")
    if not folder.absolute().parent.is_dir():
        raise RagdataError(f"there is no folder {folder.absolute().parent}")


def keep_results(library: GateLibrary, suite: Suite, kept: dict[str, list[Any]]) -> None:
    """Put the results of a suite, table by table, where the pages are made from."""
    from great_expectations.core.expectation_suite import ExpectationSuite
    from great_expectations.core.expectation_validation_result import ExpectationSuiteValidationResult
    from great_expectations.core.run_identifier import RunIdentifier
    from great_expectations.data_context.types.resource_identifiers import (
        ExpectationSuiteIdentifier,
        ValidationResultIdentifier,
    )
    from great_expectations.validator.validator import calc_validation_statistics

    taken = {each.name for each in library.context.suites.all()}
    for table, results in kept.items():
        name = _page_name(suite.name, table, taken)
        with silence():
            configurations = [result.expectation_config.to_domain_obj() for result in results]
            library.context.suites.add_or_update(ExpectationSuite(name=name, expectations=configurations))
            statistics = calc_validation_statistics(results)
            whole = ExpectationSuiteValidationResult(
                success=statistics.success,
                results=results,
                suite_name=name,
                statistics={
                    "evaluated_expectations": statistics.evaluated_expectations,
                    "successful_expectations": statistics.successful_expectations,
                    "unsuccessful_expectations": statistics.unsuccessful_expectations,
                    "success_percent": statistics.success_percent,
                },
                meta={"great_expectations_version": library.version},
            )
            key = ValidationResultIdentifier(ExpectationSuiteIdentifier(name), RunIdentifier(run_name="ragdata"), table)
            whole.meta["run_id"] = key.run_id
            library.context.validation_results_store.set(key, whole)


def _page_name(suite: str, table: str, taken: set[str]) -> str:
    """What the results are called: files and folders get this name, and of the same one only the last have a page."""
    plain = re.sub(r"[^\w ,()-]+", "-", suite).strip(" -")[:_LONGEST] or "suite"
    name, number = f"{plain}, {table}", 1
    while name in taken:
        number += 1
        name = f"{plain} {number}, {table}"
    return name


def write_pages(library: GateLibrary, folder: Path) -> None:
    """Build the pages, beside ``folder`` first; earlier ones are replaced."""
    folder = folder.absolute()
    with tempfile.TemporaryDirectory(prefix=".ragdata-", dir=folder.parent) as scratch:
        site = {
            "class_name": "SiteBuilder",
            "show_how_to_buttons": False,
            "store_backend": {
                "class_name": "TupleFilesystemStoreBackend",
                "base_directory": str(Path(scratch) / "site"),
            },
            "site_index_builder": {"class_name": "DefaultSiteIndexBuilder"},
        }
        with silence():
            library.context.add_data_docs_site(_SITE, site)
            library.context.build_data_docs(site_names=[_SITE])
        if folder.exists():
            shutil.rmtree(folder)
        (Path(scratch) / "site").rename(folder)
