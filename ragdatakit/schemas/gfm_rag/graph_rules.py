"""The rules of GFM-RAG's graph: edges that are used, nodes that are asked for, what messages can reach.

Facts: RManLuo/gfm-rag, commit 57e3e28, read and run. For the profiles see `gfm_rag_table_rules`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from ragdatakit.schemas.declarations import Rule
from ragdatakit.schemas.findings import Severity

_GRAPH = "gfm-rag 57e3e28 graph_index_dataset.py:process_graph"
_V1 = "gfm-rag 57e3e28 graph_index_dataset_v1.py:process_graph"
_CONSTRUCTOR = "gfm-rag 57e3e28 graph_index_construction"
_NODES = "name,type,attributes\n"
_EDGES = "source,relation,target,attributes\n"
_GOOD_EDGES = f"{_EDGES}osprey,towed,lena,{{}}"
_MENTIONS = "osprey,is_mentioned_in,Harbour log,{}"

UNLESS_CHOSEN: Mapping[str, Severity] = {"": "warning"}
"""What only the entity loader minds is a warning as long as nobody has said that it is the one to be used."""

_rule = partial(Rule, source=_GRAPH)

GRAPH_RULES: tuple[Rule, ...] = (
    _rule(
        "GF301 dangling-endpoint error",
        summary="An edge from or to a node that nodes.csv does not have.",
        message="there is no node {value}",
        upstream="both loaders drop the edge, with a line in the log",
        hint="add the node, or write its name as nodes.csv does (its uid, where there is that column), to the letter",
        fix="unsafe: strip the name if there is such a node, else remove the edge",
        bad=f"{_EDGES}osprey,towed,Lena,{{}}",
        good=_GOOD_EDGES,
    ),
    _rule(
        "GF302 dangling-relation error",
        summary="An edge with a relation that relations.csv does not have.",
        message="there is no relation {value}",
        upstream="both loaders drop the edge, with a line in the log",
        hint="add the relation, or correct the name",
        fix="unsafe: strip the name if there is such a relation, else remove the edge",
        bad=f"{_EDGES}osprey,tows,lena,{{}}",
        good=_GOOD_EDGES,
    ),
    _rule(
        "GF303 no-usable-edge error",
        summary="Not one edge of edges.csv can be used.",
        message="0 of {rows:,} edges can be used",
        upstream="both loaders make a graph without edges of it, and training fails later",
        hint="compare the names in edges.csv with those in nodes.csv and relations.csv",
        bad=f"{_EDGES}Osprey,towed,Lena,{{}}",
        good=_GOOD_EDGES,
    ),
    _rule(
        "GF304 no-entity-edge error",
        severities=UNLESS_CHOSEN,
        summary="No edge leads from one node of type entity to another.",
        message="none of {rows:,} edges is between two entities",
        upstream={"gfm-rag": "keeps edges between entities only and makes a graph without edges"},
        hint="add edges between entities, or use the graph loader (`--profile reasoner`)",
        bad=f"{_EDGES}{_MENTIONS}\nlena,is_mentioned_in,Harbour log,{{}}",
        good=f"{_EDGES}osprey,towed,lena,{{}}\n{_MENTIONS}",
        source=_V1,
    ),
    _rule(
        "GF305 name-read-as-missing error",
        severities=UNLESS_CHOSEN,
        summary="A name in edges.csv that pandas takes for a missing value: empty, NA, N/A, null, nan, None, …",
        message="{value} means a missing value to pandas",
        upstream={"gfm-rag": "reads edges.csv with pandas' own words for missing values and drops the edge"},
        hint="write the name otherwise in every file; `none` and `Null`, for example, stay text",
        bad="source,relation,target,attributes\nNA,tows,lena,{}",
        good="source,relation,target,attributes\nNamibia,tows,lena,{}",
        source=_V1,
    ),
    _rule(
        "GF306 no-entity-node error",
        severities=UNLESS_CHOSEN,
        summary="No node is of type entity.",
        message="no node is of type entity; the types are {types}",
        upstream={"gfm-rag": "stops with ValueError: No nodes found for target type 'entity'"},
        hint="call the type of entities `entity`, in lower case",
        bad=f"{_NODES}osprey,Entity,{{}}\nlena,Entity,{{}}",
        good=f"{_NODES}osprey,entity,{{}}\nlena,entity,{{}}",
        source=_V1,
    ),
    _rule(
        "GF307 no-mention-edge error",
        severities=UNLESS_CHOSEN,
        summary="No edge leads from a node of type entity to a node of type document.",
        message="none of {rows:,} edges leads from an entity to a document",
        upstream={"gfm-rag": "loads, and its model stops with KeyError: 'document'"},
        hint="add edges `is_mentioned_in` from each entity to the documents that mention it, in that direction",
        bad=f"{_EDGES}osprey,towed,lena,{{}}\nHarbour log,mentions,osprey,{{}}",
        good=f"{_EDGES}osprey,towed,lena,{{}}\n{_MENTIONS}",
        source=f"{_V1}, models/gfm_rag_v1/model.py",
    ),
    _rule(
        "GF308 no-document-node error",
        summary="No node is of type document.",
        message="no node is of type document; the types are {types}",
        upstream="it loads; training (SFTTrainer) and GFMRetriever.retrieve ask for documents and stop with KeyError",
        hint=(
            "call the type of documents `document`, in lower case; where there are none, add a node for each, or ask "
            "for other types in the configuration"
        ),
        bad=f"{_NODES}osprey,entity,{{}}\nlena,entity,{{}}",
        good=f"{_NODES}osprey,entity,{{}}\nHarbour log,document,{{}}",
        source="gfm-rag 57e3e28 trainers/sft_trainer.py, gfmrag_retriever.py:retrieve",
    ),
    _rule(
        "GF309 no-mention-relation warning",
        summary="A relation is called like a mention (mentioned_in, mentions), and is_mentioned_in is not there.",
        message='the relation "{relation}" looks like a mention, and there is no is_mentioned_in',
        upstream="the constructors take the entities of a document from is_mentioned_in alone and find none",
        hint="call it is_mentioned_in, from the entity to the document (examples in the documentation say otherwise)",
        bad="name,attributes\ntowed,{}\nmentioned_in,{}",
        good="name,attributes\ntowed,{}\nis_mentioned_in,{}",
        source=f"{_CONSTRUCTOR}: GFMRAGConstructor, HippoRAG2Constructor",
    ),
    _rule(
        "GF310 mention-backwards warning per-file",
        summary="An edge is_mentioned_in that leads from a document to an entity.",
        message="this is_mentioned_in leads from a document to an entity",
        upstream="the constructors look from the entity to the document, and find no entities of this document",
        hint="exchange source and target",
        bad=f"{_EDGES}osprey,towed,lena,{{}}\nHarbour log,is_mentioned_in,osprey,{{}}",
        good=f"{_EDGES}osprey,towed,lena,{{}}\n{_MENTIONS}",
        source=f"{_CONSTRUCTOR}: GFMRAGConstructor",
    ),
    _rule(
        "GF311 document-without-content warning per-file",
        summary="A node of type document has no attribute content, which is where its text is looked for.",
        message="the document {value} has no attribute content",
        upstream="prompts name the document and show no text of it",
        hint="put the text into attributes['content']",
        bad=f"{_NODES}Harbour log,document,{{}}",
        good=f'{_NODES}Harbour log,document,"{{""content"": ""The tug Osprey towed the barge Lena.""}}"',
        source="gfm-rag 57e3e28 workflow/qa.py, HippoRAG2Constructor._node_text",
    ),
    _rule(
        "GF312 duplicate-edge warning",
        summary="The same source, relation and target twice.",
        message="duplicate edge: the same one is in an earlier row",
        upstream="both are kept: messages along it count twice",
        hint="remove one of the two",
        fix="unsafe: remove the second one",
        bad=f"{_GOOD_EDGES}\nosprey,towed,lena,{{}}",
        good=_GOOD_EDGES,
    ),
    _rule(
        "GF313 self-loop info per-file",
        summary="An edge from a node to itself.",
        message="{value} is its own target",
        upstream="it is kept as it is",
        hint="nothing to do, if it is meant",
        bad=f"{_GOOD_EDGES}\nlena,towed,lena,{{}}",
        good=_GOOD_EDGES,
    ),
    _rule(
        "GF314 edge-both-ways info per-file",
        summary="One relation between two nodes is listed in both directions.",
        message="an earlier row has the same edge the other way round",
        upstream="the loaders add the inverse of every edge themselves, under a name of its own",
        hint="list one direction, if the other is only meant as its inverse",
        bad=f"{_GOOD_EDGES}\nlena,towed,osprey,{{}}",
        good=_GOOD_EDGES,
    ),
    _rule(
        "GF315 isolated-node warning per-file",
        summary="A node that no edge names.",
        message="no edge leads to or from {value}",
        upstream="messages never reach it: it is ranked by its text alone, or not at all",
        hint="add its edges, or remove the node",
        bad=f"{_NODES}osprey,entity,{{}}\nlena,entity,{{}}\nalba,entity,{{}}",
        good=f"{_NODES}osprey,entity,{{}}\nlena,entity,{{}}",
    ),
    _rule(
        "GF316 relation-without-edges warning",
        summary="A relation that no edge has.",
        message="no edge has the relation {value}",
        upstream="it is embedded and never used",
        hint="remove it, or look for the edges that should have it",
        bad="name,attributes\ntowed,{}\nis_mentioned_in,{}\nbuilt_in,{}",
        good="name,attributes\ntowed,{}\nis_mentioned_in,{}",
    ),
    _rule(
        "GF317 unasked-node-type info",
        summary="Nodes of a type that no question and no default of the framework asks for.",
        message='nothing asks for nodes of type "{type}" ({nodes:,} in all)',
        upstream="they carry messages, and are never retrieved unless the configuration names the type",
        hint="name the type in target_nodes or in the configuration, if such nodes are to be found",
        bad=f"{_NODES}osprey,entity,{{}}\nlena,ship,{{}}",
        good=f"{_NODES}osprey,entity,{{}}\nlena,entity,{{}}",
        source="gfm-rag 57e3e28 gfmrag_retriever.py:retrieve",
    ),
    _rule(
        "GF318 few-nodes-of-type warning",
        summary="Fewer than 10 nodes of a type that the questions ask for.",
        message="nodes of type {type}: {nodes}; prediction takes the best 10",
        upstream="SFTTrainer.predict stops with RuntimeError: selected index k out of range",
        hint="set predict_top_k to a smaller number, or add nodes",
        bad="name,type,attributes\nHarbour log,document,{}   (one document, predict_top_k: 10)",
        good="name,type,attributes\n… 10 rows of type document, or more",
        source="gfm-rag 57e3e28 trainers/sft_trainer.py:predict",
    ),
    _rule(
        "GF319 raw-document-without-node warning per-file",
        summary="A document of raw/documents.json is not a node of type document.",
        message="the document {value} is not a node of type document",
        upstream="it is never retrieved: graph and documents are out of step",
        hint="build stage1 again (without stage2), or remove the document",
        bad='{"Harbour log": "The tug Osprey towed the barge Lena.", "Dock log": "Closed."}',
        good='{"Harbour log": "The tug Osprey towed the barge Lena."}',
    ),
    _rule(
        "GF320 document-node-without-text warning per-file",
        summary="A node of type document is not in raw/documents.json.",
        message="the document {value} is not in raw/documents.json",
        upstream="graph and documents are out of step; building stage1 again would lose the node",
        hint="add its text to raw/documents.json, or remove the node",
        bad='{"Dock log": "Closed."}',
        good='{"Harbour log": "The tug Osprey towed the barge Lena."}',
    ),
    _rule(
        "GF321 title-is-entity warning",
        summary="A document's title is also the name of an entity, as phrases are written (lower case, ASCII).",
        message="the title {value} is also the name of an entity",
        upstream="construction makes one node of the two, of type document: the entity is gone",
        hint='make the title differ, for example with a capital letter or "(document)"',
        bad='raw/documents.json: {"osprey": "The tug left at noon."}   (osprey is an entity)',
        good='raw/documents.json: {"Osprey (document)": "The tug left at noon."}',
        source=f"{_CONSTRUCTOR}: KGConstructor",
    ),
    _rule(
        "GF322 edge-attributes-unused info per-file",
        summary="Edges have attributes.",
        message="the edge has attributes",
        upstream="they are parsed and never used; the switch that would use them (use_edge_feat) stops with an error",
        hint="nothing to do; use relations to say what kind of edge it is",
        bad=f"{_EDGES}osprey,towed,lena,\"{{'year': 1901}}\"",
        good=_GOOD_EDGES,
        numbered=False,
    ),
)

HEALTH_RULES: tuple[Rule, ...] = (
    _rule(
        "GF801 disconnected-graph warning",
        summary="The graph falls into parts between which there is no edge.",
        message="the graph has {components:,} parts; the largest has {largest:,} nodes ({share:.3g} %)",
        upstream="messages never pass from one part to another: a question starts and ends in one of them",
        hint="look whether names of one thing are spelled in several ways, or edges were dropped",
        bad="source,relation,target,attributes\nosprey,tows,lena,{}\nhale,owns,quay,{}",
        good="source,relation,target,attributes\nosprey,tows,lena,{}\nlena,moors at,quay,{}\nhale,owns,quay,{}",
        source="ragdata's own check of the graph: no loader looks at it",
    ),
    _rule(
        "GF802 unreachable-targets warning",
        summary="None of a question's target nodes is within the given number of edges of one of its start nodes.",
        message="no target node ({targets}) is within a distance of {hops} from a start node ({start})",
        upstream="the model passes messages that far only: the question can never be answered from its start nodes",
        hint="check start and target nodes and the edges between them; `--max-hops` is the model's number of layers",
        bad="start: osprey   target: quay\nosprey,tows,lena,{}\nhale,owns,quay,{}",
        good="start: osprey   target: quay\nosprey,tows,lena,{}\nlena,moors at,quay,{}",
        source="ragdata's own check of the graph: no loader looks at it",
    ),
    _rule(
        "GF803 partly-unreachable-targets info",
        summary="Some of a question's target nodes are not within the given number of edges of one of its start nodes.",
        message="{targets} is not within a distance of {hops} from a start node",
        upstream="the model passes messages that far only: recall stays below 1 for this question",
        hint="check the edges of these nodes; `--max-hops` is the model's number of layers",
        bad="start: osprey   targets: lena, quay\nosprey,tows,lena,{}\nhale,owns,quay,{}",
        good="start: osprey   targets: lena, quay\nosprey,tows,lena,{}\nlena,moors at,quay,{}",
        source="ragdata's own check of the graph: no loader looks at it",
    ),
)
