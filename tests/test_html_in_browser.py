"""The page of a report in a real headless browser: nothing runs, nothing is asked for, everything can be used."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragdatakit.reports.gates.output import gate_page
from ragdatakit.reports.html.page import summary_page
from ragdatakit.reports.html.parts import plain
from ragdatakit.schemas.gates import Check, Expectation, GateResult, Suite
from ragdatakit.schemas.neighbourhoods import Neighbourhoods
from tests.browser_tools import Opened, launched, open_page
from tests.command_line import FIXTURES, run
from tests.html_pages import EVIL, PAGES, findings, graph_with
from tests.summaries_made import corpus_summary


@pytest.fixture(scope="module")
def made() -> dict[str, bytes]:
    return {name: make() for name, make in PAGES.items()}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as running:
        yield running


@pytest.fixture(scope="module")
def files(made: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    for name, page in made.items():
        (folder / f"{name}.html").write_bytes(page)
    return {name: folder / f"{name}.html" for name in made}


@pytest.fixture
def opened(browser: Any, files: dict[str, Path]) -> Iterator[Any]:
    """Opens pages by name; in the end, none of them may have said or asked for anything."""
    pages: list[Opened] = []

    def start(name: str, **settings: Any) -> Opened:
        pages.append(open_page(browser, files[name], **settings))
        return pages[-1]

    yield start
    for page in pages:
        assert page.quiet, page.noise
        page.page.context.close()


@pytest.mark.parametrize("name", list(PAGES))
def test_a_page_asks_for_nothing_and_fits_a_phone(opened: Any, name: str) -> None:
    page = opened(name, width=360).page

    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.locator("h1").count() == 1
    assert page.title().endswith("ragdata report")


def test_a_script_in_a_text_does_not_run(opened: Any) -> None:
    shown = opened("evil")
    shown.page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    shown.page.locator("#findings-words").fill("script")
    shown.page.locator(".walk input").fill("script")
    shown.page.locator(".walk input").press("Enter")
    shown.page.mouse.move(300, 300)

    assert shown.page.evaluate("window.obeyed") is None
    assert shown.page.locator("img").count() == 0
    assert plain(EVIL).split("<style>")[0] in shown.one("#findings-rows tr:first-child td:last-child")
    assert shown.page.evaluate("getComputedStyle(document.body).display") == "block"


def test_examples_are_searched(opened: Any) -> None:
    shown = opened("corpus")
    page = shown.page

    page.get_by_label("Search", exact=True).fill("biomaterials LACK")
    assert page.locator("#d1-list li:visible").count() == 1
    assert shown.one("#d1-list-status") == "1 of 3 shown"
    page.get_by_label("Search", exact=True).fill("")
    page.get_by_label("Table").select_option("documents")
    assert shown.one("#d1-list-status") == "2 of 3 shown"
    page.locator("#d1-list summary").first.click()
    assert "Cerebral white matter" in shown.one("#d1-list li:first-child dl")


def test_findings_are_filtered_and_counted(opened: Any) -> None:
    shown = opened("corpus")
    page = shown.page
    rows = page.locator("#findings-rows tr")

    assert rows.count() == 12
    page.get_by_label("error (4)").uncheck()
    assert shown.one("#findings-status") == "8 of 8 shown; 4 are filtered out"
    page.locator("#findings-rule").select_option(label="SP311 query-leak (4)")
    assert {text.split()[0] for text in shown.texts("#findings-rows tr")} == {"warning"}
    page.locator("#findings-file").select_option(label="file0.jsonl (1)")
    assert rows.count() == 1
    assert "file0.jsonl:5" in shown.one("#findings-rows td.place")
    page.get_by_role("button", name="Clear").click()
    assert rows.count() == 12
    page.get_by_label("Words").fill("VALUE #11.")
    assert rows.count() == 1
    assert shown.one("#findings-rows mark") == "55"
    page.get_by_label("Words").fill("nowhere")
    assert shown.one("#findings-status").startswith("0 of 0 shown")


def test_thousands_of_findings_are_filtered_at_once(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_bytes(summary_page([corpus_summary()], findings(3000)))
    shown = open_page(browser, file)
    page = shown.page

    assert shown.one("#findings-status") == "25 of 3,000 shown"
    page.get_by_role("button", name="Show 100 more (2,975 left)").click()
    assert page.locator("#findings-rows tr").count() == 125
    page.get_by_label("Words").fill("#2999.")
    page.locator("#findings-rows tr").nth(1).wait_for(state="detached", timeout=2000)
    assert page.locator("#findings-rows tr").count() == 1
    assert shown.quiet, shown.noise


def test_errors_come_first(opened: Any) -> None:
    words = [text.split()[0] for text in opened("corpus").texts("#findings-rows tr")]

    assert words == ["error"] * 4 + ["warning"] * 4 + ["info"] * 4


def test_more_findings_take_the_keyboard_along(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_bytes(summary_page([corpus_summary()], findings(40)))
    page = open_page(browser, file).page

    page.get_by_role("button", name="Show 15 more (15 left)").press("Enter")
    assert page.evaluate("[...document.activeElement.parentElement.children].indexOf(document.activeElement)") == 25


def test_light_and_dark(opened: Any) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    light, dark = opened("corpus"), opened("corpus", scheme="dark")
    switch = light.page.get_by_role("button", name="Dark")

    assert light.page.evaluate(background) == "rgb(255, 255, 255)"
    assert dark.page.evaluate(background) == "rgb(20, 23, 26)"
    assert dark.page.locator("#theme").inner_text() == "Light"
    switch.click()
    assert light.page.evaluate(background) == "rgb(20, 23, 26)"
    assert light.page.locator("#theme").inner_text() == "Light"
    light.page.reload()
    assert light.page.evaluate(background) == "rgb(20, 23, 26)"


CONTRAST = """() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const weak = [];
  let seen = 0;
  for (const one of document.querySelectorAll("body *")) {
    const own = Array.from(one.childNodes).some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || !one.checkVisibility() || one.closest(".centre, title, script, style, noscript")) continue;
    const style = getComputedStyle(one);
    const front = parse(one.namespaceURI.endsWith("svg") ? style.fill : style.color);
    const [a, b] = [light(front), light(behind(one))].sort((x, y) => y - x);
    seen += 1;
    if ((a + 0.05) / (b + 0.05) < 4.5) weak.push(one.className + " " + one.textContent.slice(0, 40));
  }
  return { seen, weak };
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_what_is_behind_it(opened: Any, scheme: str) -> None:
    found = opened("all", scheme=scheme).page.evaluate(CONTRAST)

    assert found["seen"] > 300
    assert found["weak"] == []


def test_boxes_of_a_hierarchy_are_walked_by_keys_and_lead_to_their_texts(opened: Any) -> None:
    """One stop of the Tab key; what a box says is under the picture, and in the list without a script."""
    shown = opened("texts")
    page = shown.page
    figure = page.locator("#d1-hierarchy figure")
    boxes = figure.locator("a.box")
    words = "document.activeElement.textContent"

    assert boxes.evaluate_all("(all) => all.map((one) => one.tabIndex)") == [0, *[-1] * 5]
    boxes.first.focus()
    assert "Ships and Harbour." in figure.locator(".readout").inner_text()
    page.keyboard.press("ArrowRight")
    assert page.evaluate(words) == "Harbour 29"
    page.keyboard.press("ArrowDown")
    assert page.evaluate(words) == "Harbour 39"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowDown")
    assert page.evaluate(words) == "Lighthouse7"
    assert figure.locator(".readout").inner_text() == "no text"
    boxes.nth(2).hover()
    assert figure.locator(".readout").inner_text() == "Report 3 of Harbour"
    boxes.nth(2).press("Enter")
    page.locator("#d1-hierarchy-node-3 .text").wait_for(state="visible")
    assert shown.texts("#d1-hierarchy .more") == ["3 more"]


@pytest.mark.parametrize("width", [360, 1200])
def test_no_label_leaves_its_box(opened: Any, width: int) -> None:
    page = opened("texts", width=width).page

    beyond = """(all) => all.filter((one) => one.querySelector("bdi").getBoundingClientRect().right >
      one.getBoundingClientRect().right + 0.5).map((one) => one.textContent)"""
    assert page.locator(".boxes foreignObject").evaluate_all(beyond) == []


def test_one_walks_through_a_graph(opened: Any) -> None:
    shown = opened("graph")
    page = shown.page
    node = page.get_by_role("combobox", name="Node")

    node.fill("ode 1")
    assert page.locator('[role="option"]').count() == 10
    node.fill("node 17")
    assert shown.texts('[role="option"] bdi') == ["node 17"]
    node.press("ArrowDown")
    assert page.locator('[role="option"]').first.get_attribute("aria-selected") == "true"
    node.press("Enter")
    assert page.locator('[role="option"]:visible').count() == 0
    assert shown.one(".walk .status") == "node 17: place, 4 edges"
    names = [row.split("\t")[0] for row in shown.texts(".neighbours tbody tr")]
    assert sorted(names) == ["node 15", "node 16", "node 18", "node 19"]
    page.locator(".ego .node", has_text="node 19").click()
    assert shown.one(".walk .status") == "node 19: place, 4 edges"
    page.locator(".neighbours button", has_text="node 20").click()
    assert shown.one(".neighbours caption") == "Neighbours of node 20"
    assert shown.texts(".trail button") == ["node 0", "node 17", "node 19"]
    page.locator(".trail button", has_text="node 17").click()
    assert node.input_value() == "node 17"
    node.fill("no such node")
    assert "No node on this page" in shown.one(".walk .status")


def test_a_graph_is_walked_by_keys(opened: Any) -> None:
    page = opened("graph", width=380).page
    first = page.locator(".ego .node").first
    name = first.locator("text").first.text_content().strip()

    first.focus()
    page.keyboard.press("Enter")

    assert page.locator(".walk input").input_value() == name
    assert page.evaluate("document.activeElement.getAttribute('role')") == "combobox"


@pytest.mark.parametrize("width", [1100, 380])
def test_the_drawn_graph_is_one_stop_of_the_tab_key(opened: Any, width: int) -> None:
    page = opened("graph", width=width).page
    here = "document.activeElement.getAttribute('aria-label')"
    nodes = [one.get_attribute("aria-label") for one in page.locator(".ego .node").all()]

    assert len(nodes) == 4
    assert page.locator('.ego [tabindex="0"]').count() == 1
    page.locator('.ego [tabindex="0"]').focus()
    assert page.evaluate(here) == nodes[0]
    for key, at in (("ArrowDown", 1), ("End", 3), ("ArrowDown", 3), ("ArrowUp", 2), ("Home", 0), ("ArrowUp", 0)):
        page.keyboard.press(key)
        assert page.evaluate(here) == nodes[at], key
    page.keyboard.press("ArrowRight")
    assert page.evaluate(here) == nodes[2 if width > 560 else 0]  # to the other side, where there is one
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(here) == nodes[0]
    page.keyboard.press("End")
    assert page.locator('.ego [tabindex="0"]').count() == 1
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.ego')") is None


def test_edges_to_one_neighbour_are_drawn_once_and_no_name_leaves_the_picture(browser: Any, tmp_path: Path) -> None:
    names = ("hub", "長い名前" * 30, "W" * 90, "often")
    edges = ((0, 0, 1), (1, 1, 0), (0, 0, 3), (0, 1, 3), (2, 1, 0))
    graph = Neighbourhoods(names, (5, 2, 1, 2), (None,) * 4, ("",) * 4, ("見出し" * 40, "near"), edges, 4, 5)
    file = tmp_path / "page.html"
    file.write_bytes(summary_page([graph_with(graph)]))
    for width in (1100, 700, 360):
        page = open_page(browser, file, width=width).page
        often = page.locator(".ego .node", has_text="often")

        assert often.count() == 1
        assert "near" in often.get_attribute("aria-label")
        for one in page.locator(".ego .node").all():  # what is shown is how it is called
            shown = "".join(t for t in one.locator("text").all_text_contents()).replace("→ ", "").replace("← ", "")
            assert one.get_attribute("aria-label").startswith(shown)
        assert page.locator(".neighbours tbody tr").count() == 5
        assert page.locator(".neighbours thead th").count() == 4  # no node has a type
        out = page.evaluate(
            """() => {
              const box = document.querySelector(".ego").getBoundingClientRect();
              return Array.from(document.querySelectorAll(".ego text")).filter((text) => {
                const { left, right } = text.getBoundingClientRect();
                return left < box.left - 1 || right > box.right + 1;
              }).length;
            }"""
        )
        assert out == 0
        page.context.close()


def test_parallel_edges_stand_in_one_row_with_their_number(browser: Any, tmp_path: Path) -> None:
    names = ("hub", *(f"n{number}" for number in range(30)))
    edges = (*((0, 0, number) for number in range(1, 31)), (0, 0, 1), (0, 0, 1), (1, 0, 0))
    degrees = (33, 4, *([1] * 29))
    graph = Neighbourhoods(names, degrees, (None,) * 31, ("",) * 31, ("near",), edges, 31, 33)
    file = tmp_path / "page.html"
    file.write_bytes(summary_page([graph_with(graph)]))
    shown = open_page(browser, file, width=1100)

    rows = [row.split("\t") for row in shown.texts(".neighbours tbody tr")]
    assert rows[:2] == [["n0", "to the neighbour", "near (3 edges)", "4"], ["n0", "from the neighbour", "near", "4"]]
    assert len(rows) == 31
    assert shown.texts(".print-only") == []
    shown.page.emulate_media(media="print")
    assert len(shown.texts(".neighbours tbody tr")) == 20
    assert shown.texts(".print-only") == ["The first 20 are printed."]
    shown.page.context.close()


def test_rows_are_blocks_on_a_phone(browser: Any, tmp_path: Path) -> None:
    wide = Expectation(
        1, "expect_column_values_to_match_regex", "documents", {"column": "doc_id", "regex": "^[a-z]+$" * 9}
    )
    found = Check("s", wide, False, values=5140, unexpected=7, examples=("new words " * 9,))
    held = Check("s", Expectation(2, "expect_column_values_to_be_unique", "documents", {"column": "doc_id"}), True)
    result = GateResult(
        "data", "data", "beir", suites=[Suite("s", "s.json", (wide, held.expectation))], checks=[found, held]
    )
    pages = {"gate": gate_page(result), "all": PAGES["all"]()}
    for name, page in pages.items():
        (tmp_path / f"{name}.html").write_bytes(page)
        for width in (360, 1100):
            shown = open_page(browser, tmp_path / f"{name}.html", width=width)
            over = shown.page.evaluate(
                "[...document.querySelectorAll('.scroll:has(.blocks)')].map((box) => box.scrollWidth - box.clientWidth)"
            )
            assert over and max(over) <= 0
            assert bool(shown.texts(".blocks thead")) == (width > 640)
            labels = "[...document.querySelectorAll('#failing td, #table-0 td')].map((td) => td.dataset.label ?? '')"
            if name == "gate":  # what passes has nothing to tell of what was found
                fails, holds = ["result", "expected", "found"], ["result", "expected", ""]
                assert shown.page.evaluate(labels) == [*fails, *fails, *holds]
            shown.page.context.close()


def test_bars_and_contexts_take_the_width_of_a_phone(browser: Any, tmp_path: Path) -> None:
    for name, folder in (
        ("claims", "ragchecker/valid/outputs"),
        ("contexts", "contextual-retrieval/valid/with-contexts"),
    ):
        run("report", FIXTURES / folder, "--output-file", tmp_path / f"{name}.html")
    claims = open_page(browser, tmp_path / "claims.html", width=360).page
    contexts = open_page(browser, tmp_path / "contexts.html", width=360).page

    over = "[...document.querySelectorAll('.scroll:has(.bars)')].map((box) => box.scrollWidth - box.clientWidth)"
    assert set(claims.evaluate(over)) == {0}
    widths = "[...document.querySelectorAll('.contexts tbody th, .contexts td')].map((cell) => cell.offsetWidth)"
    assert min(contexts.evaluate(widths)) > 300
    for page in (claims, contexts):
        page.context.close()


def test_the_words_of_frequent_values_are_whole_on_a_phone(browser: Any, tmp_path: Path) -> None:
    folder = shutil.copytree(FIXTURES / "graphrag" / "valid" / "csv", tmp_path / "set")
    entities = folder / "entities.csv"
    found = entities.read_text("utf-8")
    entities.write_text(found.replace('"GEO"', '"ORGANIZATION"'), "utf-8")
    run("report", folder, "--output-file", tmp_path / "report.html")

    page = open_page(browser, tmp_path / "report.html", width=360).page

    cell = page.locator(".bars tbody th", has_text="ORGANIZATION").first
    line = page.locator(".bars tbody th", has_text="PERSON").first
    assert cell.bounding_box()["height"] == line.bounding_box()["height"]
    page.context.close()


def test_the_keyboard_stops_at_a_table_only_where_it_can_scroll(opened: Any) -> None:
    wide, narrow = opened("corpus", width=1280).page, opened("corpus", width=360).page
    stops = """async () => {
      for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame); // sizes are told by then
      return [...document.querySelectorAll(".scroll[tabindex]")]
        .map((box) => [box.getAttribute("aria-label"), box.scrollWidth, box.clientWidth]);
    }"""

    assert wide.evaluate(stops) == []
    assert wide.evaluate("Math.max(...[...document.querySelectorAll('.column')].map((one) => one.offsetHeight))") < 30
    assert "Values that are missing, empty or repeated" in [name for name, _, _ in narrow.evaluate(stops)]


def test_a_chart_tells_its_values_by_keys_and_by_pointer(opened: Any) -> None:
    page = opened("corpus").page
    assert "use the arrow keys" in page.locator("#d1-distributions .how").inner_text()
    chart = page.locator("svg.chart").first
    readout = page.locator(".readout").first

    usual = readout.inner_text()
    assert usual.startswith("Median 400, mean 400")
    chart.focus()
    page.keyboard.press("ArrowRight")
    assert readout.inner_text() == "0 to below 100 characters: 7 (0.1%)"
    page.keyboard.press("End")
    assert readout.inner_text() == "700 to 800 characters: 6 (0.1%)"
    page.keyboard.press("Escape")
    assert readout.inner_text() == usual
    chart.locator("g").nth(3).hover()
    assert readout.inner_text().startswith("300 to below 400 characters: 2,400")


def test_the_keyboard_reaches_the_content_first_and_shows_where_it_is(opened: Any) -> None:
    page = opened("corpus").page

    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    assert page.evaluate("document.activeElement.getBoundingClientRect().top") >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.get_by_role("link", name="Findings").focus()
    page.keyboard.press("Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll("button, input, select, a, [tabindex='0']")].filter((one) =>
          !(one.labels?.length || one.textContent.trim() || one.ariaLabel || one.getAttribute("aria-labelledby")))
          .map((one) => one.outerHTML)"""
    )
    assert unnamed == []


def test_motion_is_for_those_who_want_it(opened: Any) -> None:
    moves = "getComputedStyle(document.documentElement).scrollBehavior"

    assert opened("corpus").page.evaluate(moves) == "auto"
    assert opened("corpus", motion="no-preference").page.evaluate(moves) == "smooth"


def test_the_contents_tell_where_one_is(opened: Any) -> None:
    page = opened("corpus").page
    here = page.locator(".contents [aria-current]")

    here.wait_for()
    assert here.inner_text() == "Overview"
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    page.locator(".contents [aria-current]", has_text="Findings").wait_for()
    assert here.count() == 1


def test_a_link_opens_what_it_points_into(opened: Any) -> None:
    page = opened("all").page
    target = page.locator("#d5-shape")

    assert not target.is_visible()
    page.evaluate("location.hash = '#d5-shape'")
    target.wait_for(state="visible")


def test_on_paper_everything_is_open_and_nothing_is_to_be_pressed(opened: Any) -> None:
    page = opened("corpus", scheme="dark").page
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")

    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("button:visible, input:visible, nav:visible").count() == 0
    assert page.locator(".examples details:not([open])").count() == 0
    assert page.locator("dl.record:visible").count() == 3
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator(".examples details[open]").count() == 0


def test_without_scripts_the_page_still_tells_everything(opened: Any) -> None:
    shown = opened("all", script=False)
    page = shown.page

    assert page.locator("button:visible, input:visible").count() == 0
    assert page.locator("#findings-rows tr").count() == 50
    assert shown.one("#findings-status") == "50 of 250 findings shown"
    assert page.locator("svg.chart:visible").count() > 3
    assert "arrow keys" not in page.locator("body").inner_text()
