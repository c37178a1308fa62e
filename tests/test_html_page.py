"""The page of a report: what stands in it, that nothing in it is obeyed, and that it stays small."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from ragdatakit.reports.html.charts import frequencies, histogram
from ragdatakit.reports.html.frame import frame
from ragdatakit.reports.html.page import summary_page
from ragdatakit.reports.html.parts import json_text, number, plain, short_number, size, table
from ragdatakit.reports.summary.numbers import QUANTILES
from ragdatakit.schemas.findings import Excerpt, Finding
from ragdatakit.schemas.results import DatasetSummary, FileSummary, Report
from ragdatakit.schemas.summaries import Bin, Distribution, Frequencies, Note
from ragdatakit.schemas.texts import size as text_size
from tests.html_pages import EVIL, PAGES, evil, findings, graph_with, ring
from tests.summaries_made import HOSTILE, corpus_summary, many_summaries


class Parsed(HTMLParser):
    """The elements of a page with their attributes, and its text."""

    def __init__(self, page: bytes) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.code: list[str] = []
        self._in = ""
        self.feed(page.decode("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        self._in = tag
        if tag in ("script", "style"):
            self.code.append("")

    def handle_endtag(self, tag: str) -> None:
        self._in = ""

    def handle_data(self, data: str) -> None:
        if self._in in ("script", "style"):
            self.code[-1] += data
        else:
            self.text += data

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def made() -> dict[str, bytes]:
    return {name: make() for name, make in PAGES.items()}


def test_the_policy_allows_the_pages_own_code_only(made: dict[str, bytes]) -> None:
    for name, page in made.items():
        parsed = Parsed(page)
        policy = next(m["content"] for m in parsed.all("meta") if m.get("http-equiv") == "Content-Security-Policy")
        allowed = set(re.findall(r"'(sha256-[^']+)'", policy))
        kinds = [(tag, a) for tag, a in parsed.elements if tag in ("script", "style")]
        runs = [code for (_, a), code in zip(kinds, parsed.code, strict=True) if a.get("type") != "application/json"]

        assert policy.startswith("default-src 'none'; "), name
        assert "unsafe" not in policy
        assert {"sha256-" + base64.b64encode(hashlib.sha256(c.encode()).digest()).decode() for c in runs} == allowed
        assert not [a for _, a in parsed.elements if any(k.startswith("on") or k in ("style", "src") for k in a)]
        assert not [a for _, a in parsed.elements if a.get("href", "#")[:1] != "#" and a["href"] != "data:,"]


def test_every_id_is_there_once_and_every_reference_has_its_target(made: dict[str, bytes]) -> None:
    for name, page in made.items():
        parsed = Parsed(page)
        ids = [a["id"] for _, a in parsed.elements if "id" in a]
        wanted = {a["href"][1:] for a in parsed.all("a")}
        for _, a in parsed.elements:
            for key in ("aria-labelledby", "aria-describedby", "aria-controls", "for", "data-search", "data-graph"):
                wanted |= set(a.get(key, "").split())

        assert len(ids) == len(set(ids)), name
        assert wanted <= set(ids), name


def test_headings_go_down_step_by_step(made: dict[str, bytes]) -> None:
    for name, page in made.items():
        levels = [int(tag[1]) for tag, _ in Parsed(page).elements if re.fullmatch(r"h[1-6]", tag)]

        assert levels.count(1) == 1, name
        assert all(after - before <= 1 for before, after in pairwise(levels)), name


def test_texts_that_would_be_obeyed_are_shown() -> None:
    page = summary_page(*evil())
    parsed = Parsed(page)

    assert len(parsed.all("script")) == 4 + 2  # page, findings, hierarchy, neighbours; two blocks of data
    assert not parsed.all("img")
    assert plain(EVIL) in parsed.text
    assert "\\u003c/script\\u003e" in page.decode()
    assert plain(HOSTILE) in parsed.text
    assert "<U+202E>evil <U+D800>" in parsed.text
    assert "\x1b" not in page.decode()


def test_the_numbers_of_a_summary_stand_in_the_page() -> None:
    parsed = Parsed(summary_page([corpus_summary()], findings()))
    words = " ".join(parsed.text.split())

    assert "5,183" in words and "judgements" in words and "8.2\u00a0MB" in parsed.text
    assert "train 919, test 339" in words
    assert "12 questions of the split test also appear in train" in words
    assert "160 3.1%" in words
    assert "Columns without any value: documents.metadata." in words
    assert "integers from 4983 to 198309074" in words
    assert "Latin" in words and "99.7%" in words
    assert "Grades11,258" in words
    assert "4 errors, 4 warnings, 4 info." in words


def overview(page: bytes) -> str:
    """The HTML of the first section."""
    return page.decode().partition('<section id="overview"')[2].partition("</section>")[0]


def test_the_first_section_says_whether_the_data_is_sound_and_shows_some_of_it() -> None:
    first = overview(summary_page([corpus_summary()], findings()))

    assert '<span class="badge error">4 errors</span> <span class="badge warning">4 warnings</span>' in first
    assert '<a href="#findings">' in first
    assert "<dt>question</dt>" in first and "0-dimensional biomaterials lack induction." in first
    assert re.search(r"<dt>document</dt><dd dir=\"auto\">Alterations of the [^<]*[a-z]…</dd>", first)
    passed = '<span class="badge good">passed</span> No rule of the format is broken.'
    assert passed in overview(summary_page([corpus_summary()], Report()))
    assert "Validation" not in overview(summary_page([corpus_summary()]))


def test_pictures_stand_where_one_looks_first() -> None:
    page = summary_page([graph_with(ring(4))], findings()).decode()
    names = re.findall(r'<section id="(?:d1-)?([a-z]+)" aria-labelledby', page)

    assert names == ["overview", "distributions", "graph", "examples", "shape", "columns", "findings"]
    assert re.findall(r'<li><a href="#(?:d1-)?([a-z]+)"', page) == names


def test_the_first_section_has_the_weightiest_notes_only() -> None:
    summary = corpus_summary()
    summary.losses, summary.notes = [], [Note("sampled.languages", "languages are guessed", 9)]
    assert 'class="notes"' not in overview(summary_page([summary]))
    assert '<p class="small muted">Languages are guessed.</p>' in summary_page([summary]).decode()

    summary.notes += [Note(f"coverage.t{n}", f"fact {n}", n) for n in range(8)]
    summary.notes += [Note("leakage.x", "a warned <b>", 1, "warning")]
    first = overview(summary_page([summary]))
    assert re.findall(r"<summary>([^<]*)</summary>", first) == ["3 further notes"]
    assert first.index("a warned &lt;b&gt;") < first.index("fact 0") < first.index("<summary>") < first.index("fact 5")


def test_of_several_datasets_each_has_its_verdict_and_a_name_of_its_own() -> None:
    summaries = [replace(corpus_summary(), path=f"data/{name}/set", name="set") for name in ("a", "b", "c")]
    report = Report([DatasetSummary("data/a/set", "beir", None, split, (), 1, 2) for split in ("train", "test")])
    report.datasets.append(DatasetSummary("data/b/set", "beir", None, None, (), 0, 0))
    page = summary_page(summaries, report).decode()
    rows = re.findall(r"<tr>.*?</tr>", overview(page.encode()))

    assert '<p class="lead" dir="auto">data</p>' in page
    assert re.findall(r"<h2[^>]*>(./set)</h2>", page) == ["a/set", "b/set", "c/set"]
    assert "2 errors" in rows[1] and "4 warnings" in rows[1]
    assert "passed" in rows[2]
    assert "badge good" not in rows[3]


def test_names_of_landmarks_are_not_repeated(made: dict[str, bytes]) -> None:
    for name, page in made.items():
        parsed = Parsed(page)
        named = [a["aria-labelledby"] for a in parsed.all("section") if "aria-labelledby" in a]
        regions = [a for _, a in parsed.elements if a.get("role") in ("region", "search", "main")]

        assert len(named) <= 2 + 8, name
        assert len(regions) <= 1, name
        assert not re.search(rb"<th[^>]*></th>", page), name


def ticks(one: Distribution) -> list[str]:
    """The numbers of the axis, and the word below them."""
    return re.findall(r'<text (?:x="[^"]*" y="139"|class="unit")[^>]*>([^<]*)</text>', histogram(one, "a"))


def over(edges: list[float], *, logarithmic: bool = False, maximum: float | None = None) -> Distribution:
    bins = tuple(Bin(a, b, 1) for a, b in pairwise(edges))
    most = edges[-1] if maximum is None else maximum
    quantiles = dict.fromkeys(QUANTILES, edges[0])
    return Distribution("n", "Length", "tokens", len(bins), edges[0], most, 1.0, quantiles, bins, logarithmic)


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (over([500.0 * n for n in range(22)]), ["0", "2.5\u2009k", "5\u2009k", "7.5\u2009k", "10\u2009k", "tokens"]),
        (over([2.5 * n for n in range(1, 21)]), ["10", "20", "30", "40", "50", "tokens"]),
        (
            over([float(n) for n in range(31, 48)], maximum=46),
            ["32", "34", "36", "38", "40", "42", "44", "46", "tokens"],
        ),
        (over([0.54 + 0.02 * n for n in range(20)]), ["0.6", "0.7", "0.8", "0.9", "tokens"]),
        (
            over([0.0, *(2.0**n for n in range(15))], logarithmic=True),
            ["0", "10", "100", "1,000", "10\u2009k", "tokens, logarithmic scale"],
        ),
        (over([-4.0, -2.0, 0.0, 2.0]), ["−4", "−2", "0", "2", "tokens"]),
        (over([3.0, 3.0]), ["3", "tokens"]),
    ],
    ids=["thousands", "half-steps", "one-by-one", "small", "logarithmic", "negative", "no-width"],
)
def test_an_axis_has_round_numbers_and_a_name(one: Distribution, expected: list[str]) -> None:
    assert ticks(one) == expected


def test_one_is_one_token() -> None:
    assert "1 token: 1 (50%)" in histogram(over([1.0, 2.0, 3.0], maximum=2), "a")


def test_of_keys_no_share_is_reported_and_of_many_rare_values_only_some() -> None:
    keys = frequencies(Frequencies("questions.metadata", "Keys", (("a", 100), ("b", 100)), 2))
    rare = frequencies(Frequencies("nodes.type", "Types", tuple((f"t{n}", 1) for n in range(20)), 1000, 980))

    assert "%" not in keys.partition("<tbody>")[2].partition("<td><svg")[0]
    assert "share" not in keys
    assert rare.count("<tr>") == 1 + 5
    assert "And 995 others: 995" in rare


def test_a_column_that_nothing_has_is_left_out() -> None:
    summary = corpus_summary()
    summary.files = [FileSummary("data/scifact/corpus.json", "table", None, 5)]

    assert '<th scope="col" class="n">records</th>' not in summary_page([summary]).decode()


def test_a_few_findings_need_no_filters_and_are_marked_all_the_same() -> None:
    report = findings(3)
    report.findings[0] = replace(report.findings[0], hint="run `a<b>`", excerpt=Excerpt("a\x07b bad", 4, 3))
    report.unrecognised = ["data/notes.txt"]
    page = summary_page([corpus_summary()], report).decode()

    assert 'id="findings-data"' not in page and 'id="findings-words"' not in page
    assert "a&lt;U+0007&gt;b <mark>bad</mark>" in page
    assert "run <code>a&lt;b&gt;</code>" in page
    assert "1 file belongs to no dataset: <code>data/<wbr>notes.<wbr>txt</code>." in page


def test_what_is_marked_is_reported_in_the_text_that_is_shown() -> None:
    report = findings(9)
    report.findings[0] = replace(report.findings[0], excerpt=Excerpt("\u202ebad", 1, 3))
    page = summary_page([corpus_summary()], report).decode()

    assert '"\\u003cU+202E\\u003ebad",8,3]' in page


@pytest.mark.parametrize("number", [3, 9])
def test_nothing_is_marked_where_the_whole_line_is_at_fault_or_the_place_is_cut_off(number: int) -> None:
    report = findings(number)
    excerpts = (Excerpt("bad line"), Excerpt("x" * 150 + " far behind", 151, 10))
    report.findings = [replace(f, excerpt=excerpts[n % 2]) for n, f in enumerate(report.findings)]
    page = summary_page([corpus_summary()], report).decode()

    assert "bad line" in page and "x far behi…" in page and "<mark>" not in page
    assert ('"bad line",' not in page and '"bad line"]' in page) or number == 3


def test_behind_every_picture_is_a_table(made: dict[str, bytes]) -> None:
    for name in ("corpus", "graph", "all"):
        page = made[name].decode()
        for picture in re.findall(r"<figure>.*?</figure>", page):
            assert "<table" in picture
        assert page.count("<svg") == page.count('<svg class="chart" role="img"') + page.count(
            '<svg class="bar" aria-hidden="true"'
        )


def test_the_page_is_the_same_each_time() -> None:
    assert summary_page(*evil()) == summary_page(*evil())
    assert summary_page([corpus_summary()], made="5 May 2030").count(b"on 5 May 2030") == 1


def test_many_datasets_and_many_findings_stay_small() -> None:
    report = findings(30_000, "something long " * 20)
    page = summary_page([*many_summaries(300), graph_with(ring(30_000))], report)
    parsed = Parsed(page)

    assert len(page) < 1_100_000
    assert "Its details are left out, the page is full" in parsed.text
    assert "of them are on this page" in parsed.text
    kept = int(re.findall(r"([\d,]+) of them are on this page", parsed.text)[0].replace(",", ""))
    assert 500 < kept < 30_000


def test_a_full_page_keeps_findings_of_every_rule() -> None:
    report = Report()
    common = [Finding("AA101", "common", "warning", "x" * 300, "f", n) for n in range(5000)]
    report.findings = [*common, Finding("AA201", "rare", "error", "the only one", "f", 9)]
    report.counts.update(error=1, warning=5000)

    assert b"the only one" in summary_page([corpus_summary()], report)


def test_a_large_graph_is_cut_and_says_so() -> None:
    page = summary_page([graph_with(ring(20_000))])

    words = Parsed(page).text
    assert len(page) < 300_000
    assert re.search(r"takes along [\d,]+ of 20,000 nodes and [\d,]+ of 40,000 edges", words)
    assert "All 40 nodes and 80 edges are on this page." in Parsed(PAGES["graph"]()).text


def test_a_frame_is_a_whole_page_for_others_too() -> None:
    body = table("Changes", ("file", "added"), [("a<b>.jsonl", 3)])
    page = frame("A & B", body, kind="diff", lead="1 change", contents=[("main", "All")])

    parsed = Parsed(page)
    assert "<title>A &amp; B · ragdata diff</title>" in page.decode()
    assert "a<b>.jsonl" in parsed.text
    assert len(parsed.all("script")) == 1


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (6849, "6.8 kB"),
        (99_960, "100 kB"),
        (999_499, "999 kB"),
        (999_500, "1.0 MB"),
        (8_320_000, "8.3 MB"),
        (999_600_000_000, "1.0 TB"),
        (5 * 10**15, "5000 TB"),
    ],
)
def test_sizes_are_said_alike_on_screen_and_page(count: int, words: str) -> None:
    assert text_size(count) == words
    assert size(count) == words.replace(" ", "\u00a0")


@pytest.mark.parametrize(
    ("value", "long", "short"),
    [
        (0, "0", "0"),
        (1234567, "1,234,567", "1.23\u2009M"),
        (12345, "12,345", "12.3\u2009k"),
        (0.01234, "0.0123", "0.0123"),
        (-3.5, "−3.5", "−3.5"),
        (float("inf"), "∞", "∞\u2009T"),
    ],
    ids=["zero", "millions", "thousands", "small", "negative", "infinite"],
)
def test_numbers_are_said_shortly(value: float, long: str, short: str) -> None:
    assert number(value) == long
    assert short_number(value).startswith(short[0])
    if value != float("inf"):
        assert short_number(value) == short


def test_data_for_scripts_has_no_markup_and_no_rounded_numbers() -> None:
    assert json_text({"<": [2**60, float("nan"), "\ud800\u2028", None, True]}) == (
        '{"\\u003c":["1152921504606846976",null,"\\u003cU+D800\\u003e\\u2028",null,true]}'
    )


def test_only_numbers_that_are_always_the_same_are_listed_so() -> None:
    summary = corpus_summary()
    varied = summary.distributions[0]
    same = replace(varied, name="same", title="Width", minimum=7.0, maximum=7.0)
    train = replace(varied, minimum=9.0, maximum=9.0, by="train")
    summary.distributions += [same, replace(same, by="train"), train]

    page = summary_page([summary]).decode()

    listed = page.split("Always the same</span>")[1].split("</table>")[0]
    assert re.findall(r'scope="row">([^<]*?) ?<span.*?class="n">(\d+)<', listed) == [
        ("Length of documents", "9"),
        ("Width", "7"),
    ]
