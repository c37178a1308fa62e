"""Addresses of rules on the web: in outputs, and by `explain --web`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragdatakit.reports import rule_addresses
from ragdatakit.reports.rule_addresses import address_of
from ragdatakit.schemas.settings.plugins import PLUGGED
from tests.command_line import run

SITE = "https://docs.example/ragdata/"
PAGE = "https://docs.example/ragdata/rules/SP201.html"
BROKEN = str(Path(__file__).parents[1] / "fixtures/demo-broken")


@pytest.fixture(autouse=True)
def nothing_documented(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule_addresses, "_documented", lambda: "")


def test_explain_prints_the_address() -> None:
    assert run("explain", "dangling-qid", "--web", env={"RAGDATA_DOCS_URL": SITE}).out == f"{PAGE}\n"


def test_without_a_site_there_is_an_error_that_says_how() -> None:
    done = run("explain", "SP201", "--web")

    assert done.code == 2
    assert "set RAGDATA_DOCS_URL" in done.err


def test_the_metadata_of_the_package_name_the_site(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule_addresses, "_documented", lambda: SITE)

    assert address_of("SP201") == PAGE


def test_what_is_not_an_address_leads_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGDATA_DOCS_URL", "javascript:alert(1)")

    assert address_of("SP201") == ""


def test_rules_of_others_have_no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGDATA_DOCS_URL", SITE)

    assert address_of("XX001") == ""


def test_rules_of_a_format_that_was_plugged_in_have_no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGDATA_DOCS_URL", SITE)
    monkeypatch.setitem(PLUGGED, "beir", ("cards", "BEIR"))  # as if it were one of a plug-in
    monkeypatch.setattr(rule_addresses, "_codes", rule_addresses._codes.__wrapped__)

    assert address_of("BE203") == ""
    assert address_of("SP201") == PAGE


@pytest.mark.parametrize("form", ["sarif", "rdjson"])
def test_findings_link_to_their_rule(form: str) -> None:
    def text(**env: str) -> str:
        return run("validate", BROKEN, "--select", "SP201", "--output-format", form, env=env).out

    linked = json.loads(text(RAGDATA_DOCS_URL=SITE))
    if form == "sarif":
        assert linked["runs"][0]["tool"]["driver"]["rules"][0]["helpUri"] == PAGE
    else:
        assert linked["diagnostics"][0]["code"] == {"value": "SP201", "url": PAGE}
    assert SITE not in text()
