"""What is in a dataset, in numbers: the parts of a report, whose values lead to the records that have them."""

from __future__ import annotations

from functools import partial

from ragdatakit.reports.html.dataset import Room, parts, section_of
from ragdatakit.reports.html.explorer.layout import page
from ragdatakit.reports.html.explorer.values import DatasetState, Links
from ragdatakit.reports.html.overview import headline_cards, notes_body
from ragdatakit.schemas.summaries import Summary

_ALL = 1_000_000


def report_page(links: Links, dataset: DatasetState, summary: Summary) -> bytes:
    """The page."""
    linked = partial(links.with_value, dataset.number)
    room = Room(charts=48, example_bytes=_ALL, graph_bytes=0, hierarchy_bytes=_ALL, linked=linked)
    body = headline_cards(summary) + notes_body(summary)
    body += "".join(section_of(part, "d1", 2) for part in parts(summary, "d1", room))
    scripts = ["hierarchy.js"] if summary.hierarchy is not None else []
    here = links.report(dataset.number)
    return page(
        links, f"{dataset.name}: report", body, lead=dataset.format, dataset=dataset, here=here, scripts=scripts
    )
