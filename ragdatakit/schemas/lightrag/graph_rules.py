"""The rules of LightRAG data: the graph and its names."""

from __future__ import annotations

from functools import partial

from ragdatakit.schemas.declarations import Rule

_rule = partial(Rule, since="0.2.0")

GRAPH_RULES: tuple[Rule, ...] = (
    _rule(
        "LR401 graph-not-xml error",
        summary="The graph is not XML.",
        message="not XML: {reason}",
        upstream="LightRAG stops with ParseError at its start",
        hint="copy the file again; the marks & and < are &amp; and &lt; in values",
        bad='<data key="d2">Alder & Venn</data>',
        good='<data key="d2">Alder &amp; Venn</data>',
        source="networkx: read_graphml",
    ),
    _rule(
        "LR402 graph-with-entities error",
        summary="The graph declares entities, which can grow without end when they are expanded.",
        message="declares the entity {name}; the rest was not read",
        upstream="the reader expands it as far as its limits allow, which can take all memory",
        hint="write the values themselves; graphs that LightRAG writes have no DOCTYPE",
        bad='<!DOCTYPE graphml [<!ENTITY a "x">]>',
        good="<graphml …>",
        source="networkx: read_graphml",
    ),
    _rule(
        "LR403 directed-graph error",
        summary="The graph is directed.",
        message="edgedefault is directed",
        upstream="it loads, and half of the edges are not found",
        hint='write edgedefault="undirected"',
        bad='<graph edgedefault="directed">',
        good='<graph edgedefault="undirected">',
        source="networkx_impl.py",
    ),
    _rule(
        "LR404 unreadable-attribute error",
        summary="A value, a key or an edge that networkx cannot read.",
        message="{reason}",
        upstream="LightRAG stops with ValueError, KeyError or NetworkXError at its start",
        hint="declare each key with a type of GraphML, and write values of that type",
        bad='<key id="d6" attr.name="weight" attr.type="double"/> … <data key="d6">strong</data>',
        good='<data key="d6">1.0</data>',
        source="networkx: readwrite/graphml.py",
    ),
    _rule(
        "LR405 no-graph error",
        summary="The file has no graph of GraphML.",
        message="there is no <graph> in the namespace of GraphML",
        upstream="LightRAG stops with NetworkXError at its start",
        hint="write it with networkx.write_graphml",
        bad='<graphml xmlns="http://example.org/xmlns"><graph/></graphml>',
        good='<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph/></graphml>',
        source="networkx: read_graphml",
    ),
    _rule(
        "LR411 edge-without-weight warning",
        summary="An edge without a weight.",
        message="the edge of {value} has no weight",
        upstream="1.0 is taken, with a line in the log",
        hint="add a weight: the number of chunks that mention it",
        bad='<edge source="Joss Alder" target="Kettle Reef"/>',
        good='<data key="weight">1.0</data>',
        source="operate.py: _find_most_related_edges_from_entities",
    ),
    _rule(
        "LR416 odd-edge-weight warning",
        summary="A weight of an edge that is not finite, or less than 1 though the edge has a source.",
        message="the weight of {pair} is {value}",
        upstream=(
            "relations are ordered by it: this one comes at another place; LightRAG 1.5 raises it when "
            "the edge is next updated"
        ),
        hint="write the number of chunks that mention it, or more",
        bad='<data key="weight">0.2</data>',
        good='<data key="weight">1.0</data>',
        source="utils_graph.py: apply_relation_weight_floor",
    ),
    _rule(
        "LR412 incomplete-element warning",
        summary="A node or an edge without its type, description or keywords.",
        message="{value} has no {expected}",
        upstream="UNKNOWN or nothing is shown to the model in its place",
        hint="add it",
        bad='<node id="Joss Alder"/>',
        good='<node id="Joss Alder"> with entity_type and description',
        source="operate.py: _apply_token_truncation",
    ),
    _rule(
        "LR413 repeated-node error",
        summary="Two nodes of one name.",
        message="node {value} appears already",
        upstream="the values of the last one replace those of the others",
        hint="keep one of them",
        bad='<node id="Joss Alder"/> twice',
        good='<node id="Joss Alder"/> once',
        source="networkx: readwrite/graphml.py",
    ),
    _rule(
        "LR414 repeated-edge error",
        summary="Two edges between the same nodes, in whichever direction.",
        message="the edge of {value} appears already",
        upstream="networkx makes a multigraph of it, which LightRAG cannot ask: queries stop",
        hint="merge them: keywords with commas, descriptions with <SEP>",
        bad='<edge source="A" target="B"/><edge source="B" target="A"/>',
        good='<edge source="A" target="B"/>',
        source="networkx: readwrite/graphml.py",
    ),
    _rule(
        "LR415 self-loop warning",
        summary="An edge from a node to itself.",
        message="{value} is related to itself",
        upstream="LightRAG makes none; this one is returned as a relation",
        hint="remove it",
        bad='<edge source="Joss Alder" target="Joss Alder"/>',
        good='<edge source="Joss Alder" target="Kettle Reef"/>',
        source="operate.py: _merge_edges_then_upsert",
    ),
    _rule(
        "LR421 changing-name warning",
        summary="A name that LightRAG would store otherwise.",
        message="{value} would be stored as {expected}",
        upstream=(
            "the same name inserted again makes a second node; versions to 1.0 stored names in quotes and capitals"
        ),
        hint="write the name as it would be stored",
        bad='"entity_name": "\\"Joss Alder\\""',
        good='"entity_name": "Joss Alder"',
        source="utils.py: normalize_entity_name",
    ),
    _rule(
        "LR422 separator-in-name warning",
        summary="A name that has <SEP> in it, by which LightRAG joins lists.",
        message="{value} has <SEP> in it",
        upstream=(
            "queries work; the keys of relation_chunks are cut in the wrong place, so that relations "
            "are not deleted or repaired"
        ),
        hint="take another mark",
        bad='"entity_name": "Joss<SEP>Alder"',
        good='"entity_name": "Joss Alder"',
        source="utils.py: parse_relation_chunk_key",
    ),
    _rule(
        "LR423 names-differ-in-case warning",
        summary="Two names that differ in capitals only.",
        message="{value} differs from {other} in capitals only",
        upstream="they are two nodes: what is known of the one is not found with the other",
        hint="write it one way",
        bad='"Kettle Reef" and "KETTLE REEF"',
        good='"Kettle Reef" twice',
        source="run with lightrag-hku 1.5.7",
    ),
)
