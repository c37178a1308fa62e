"""The rules of GraphRAG data: which tables and columns there are, and by which release they were written."""

from __future__ import annotations

from functools import partial

from ragdatakit.schemas.declarations import Rule

_rule = partial(Rule, since="0.2.0")

LAYOUT_RULES: tuple[Rule, ...] = (
    _rule(
        "GR001 mixed-releases error",
        summary="Tables of two releases of GraphRAG in one index.",
        message="{first} is of GraphRAG {first_release}, {second} is of {second_release}",
        upstream="each release reads the tables with its own names and columns, and stops or leaves out the others",
        hint="keep the tables of one run in a folder of their own, or migrate the older ones with GraphRAG's notebook",
        bad="create_final_entities.parquet beside entities.parquet",
        good="entities.parquet, relationships.parquet, …",
        source="graphrag_storage: tables/parquet_table_provider.py; query/input/loaders/dfs.py",
    ),
    _rule(
        "GR002 missing-table error",
        summary="A table that queries need is not there, or not in the form of the others: Parquet or CSV.",
        message="there is no table {expected}{beside}",
        upstream="every query stops with ValueError: Could not find the table in storage",
        hint="run the index again, or copy the table from where it was written into the folder of the others",
        bad="entities.parquet, but no text_units.parquet",
        good="entities.parquet and text_units.parquet",
        source="graphrag_storage: tables/parquet_table_provider.py: read_dataframe",
    ),
    _rule(
        "GR003 missing-documents warning",
        summary="The table of documents is not there.",
        message="there is no table {expected}{beside}",
        upstream="queries do not read it, updates of the index stop without it",
        hint="copy it from where it was written",
        bad="text_units.parquet, but no documents.parquet",
        good="text_units.parquet and documents.parquet",
        source="index/update/incremental_index.py",
    ),
    _rule(
        "GR004 missing-column error",
        summary="A table lacks a column that its readers need.",
        message="column {column} is {fault}",
        upstream="queries stop with ValueError, KeyError or TypeError: mostly all, without text_unit_ids of entities "
        "global search",
        cases={
            "": "every query stops with ValueError or KeyError",
            "sources": "global search stops with TypeError, local search works",
        },
        hint="write the column, with nulls where it has no values and these are allowed",
        bad="entities: id, human_readable_id, title, description, text_unit_ids",
        good="entities: id, human_readable_id, title, type, description, text_unit_ids",
        source="query/input/loaders/utils.py: _get_value; data_model/dfs.py",
    ),
    _rule(
        "GR009 unknown-column info",
        summary="A column that no release of GraphRAG has.",
        message="the column {column} is not one of GraphRAG",
        upstream="it is not read, and lost when the index is updated",
        hint="look for a typing error in the name",
        bad='a column "colour" in entities.parquet',
        good="the columns id, human_readable_id, title, type, description, text_unit_ids, frequency, degree",
        source="data_model/schemas.py",
    ),
    _rule(
        "GR022 unreadable-table error",
        summary="A table that cannot be read, or not as it was written: it is cut off or damaged; in CSV, a row has "
        "more cells than the header, a quote is not closed, or a byte is not UTF-8.",
        message="{verdict}: {reason}",
        upstream="every query that needs the table stops; in CSV, cells that the first row has too many become an "
        "index, a quote that is not closed may take in other rows, and the last row may end early, silently",
        cases={
            "": "every query that needs the table stops",
            "shifted": "the first cells of all rows become an index, and the others get into wrong columns, silently",
            "open": "queries stop, or rows up to the next quote are lost, silently",
            "cut": "the cells that are missing are read as empty, and rows that were behind them are lost, silently",
        },
        hint="copy the file again, or run the index again",
        bad="entities.parquet that is cut off",
        good="entities.parquet that was written to its end",
        source="graphrag_storage: tables/parquet_table_provider.py: read_dataframe",
    ),
    _rule(
        "GR023 unchecked-table error",
        summary="A table that takes more memory than the check may use, such as one with a list of millions of ids.",
        message="it was not checked: {reason}",
        upstream="GraphRAG reads each table whole, and takes several times its size",
        hint="look for a row with a very long list",
        bad='{"text_unit_ids": […]} with ten million ids',
        good='{"text_unit_ids": ["t1", "t2"]}',
        source="graphrag_storage: tables/parquet_table_provider.py: read_dataframe",
    ),
    _rule(
        "GR027 unused-table info",
        summary="A second file of a table, which the queries do not read.",
        message="{other} is the same table; this file is not read",
        upstream="GraphRAG reads the Parquet files unless its settings name CSV as type of its tables",
        hint="delete the one that is not used",
        bad="entities.parquet and entities.csv",
        good="entities.parquet only",
        source="graphrag_storage: tables/table_provider_factory.py",
    ),
    _rule(
        "GR028 columns-of-other-release warning",
        summary="Columns that GraphRAG wrote only before or after the release of the other tables.",
        message="{first} is of GraphRAG {first_release}, the other tables are of {second_release}",
        upstream="the column is not read; a migrated index has such columns",
        hint="nothing needs to be done where the index was migrated; else check where the table comes from",
        bad='entities.parquet with the column "name" of release 0',
        good='entities.parquet with the column "title"',
        source="data_model/schemas.py",
    ),
)
