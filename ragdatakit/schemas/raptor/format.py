"""The RAPTOR format: trees of summaries over chunks, as pickles or in a JSON form.

Facts: parthsarthi03/raptor at commit 2e3e83e5, read and run.
"""

from __future__ import annotations

from ragdatakit.schemas.declarations import Adopted, Field, File, Format, Layout, Record, late_rules

_EXAMPLE = {
    "format": "raptor-tree",
    "num_layers": 1,
    "embedding_key": "EMB",
    "nodes": [
        {"index": 0, "layer": 0, "text": "Mara Venn built the light", "children": [], "embeddings": {"EMB": [1, 0]}},
        {"index": 1, "layer": 0, "text": "Joss Alder mapped the reef", "children": [], "embeddings": {"EMB": [0, 1]}},
        {
            "index": 2,
            "layer": 1,
            "text": "A builder and a surveyor",
            "children": [0, 1],
            "embeddings": {"EMB": [0.7, 0.7]},
        },
    ],
    "roots": [2],
}
_LOST = dict.fromkeys(("missing", "null", "type"), "incomplete-tree")

TREE = Record(
    name="tree",
    title="Tree",
    description=(
        "A tree: `nodes` are objects with `index`, `layer` (0: a leaf), `text`, `children` (indexes of the layer "
        "below) and, where there are vectors, `embeddings` (a list of numbers for each model)."
    ),
    fields=(
        Field(
            "format?: string",
            "What the file is.",
            enum=("raptor-tree",),
            examples=("raptor-tree",),
            rules=dict.fromkeys(("null", "type", "enum"), "other-tree-format"),
        ),
        Field(
            "num_layers: integer",
            "The number of the top layer: how often summaries were made of what was below.",
            minimum=0,
            examples=(1,),
            rules={"missing": "incomplete-tree", **dict.fromkeys(("null", "type", "range"), "layers-not-whole")},
        ),
        Field(
            "embedding_key?: string | null",
            "The name of the vectors that questions are compared with.",
            examples=("EMB",),
            rules={"type": "incomplete-tree"},
        ),
        Field("nodes: object[]", "All nodes, by layer and index.", rules={**_LOST, "item-type": "incomplete-node"}),
        Field(
            "roots: integer[]",
            "The indexes of the top layer.",
            examples=([2],),
            rules={**_LOST, "item-type": "incomplete-tree"},
        ),
    ),
    rules={
        "syntax": "tree-not-json",
        "not-object": "tree-not-object",
        "array": "tree-not-object",
        "top-level": "tree-not-object",
        "no-records": "tree-not-json",
    },
    examples=(_EXAMPLE,),
)

_PATTERNS = {"*.json": "tree", "*.pkl": "pickle", "*.pickle": "pickle", "*.tree": "pickle"}

RAPTOR = Format(
    name="raptor",
    title="RAPTOR",
    letters="RP",
    description=(
        "Trees of summaries over chunks, which RAPTOR searches as a whole or from the top down. RAPTOR stores a tree "
        "as a pickle, which is read here without running it; the JSON form holds the same and can be read by anybody."
    ),
    homepage="https://github.com/parthsarthi03/raptor",
    files=(
        File(
            "tree: json",
            title="Tree (JSON form)",
            description="One JSON object with the nodes of one tree.",
            records=(TREE,),
            suffixes=(".json",),
            keys=("num_layers", "nodes"),
            begins=(b"{",),
            holds=(b'"format"', b'"raptor-tree"'),  # which tells it where one of the keys is missing
        ),
        File(
            "pickle: opaque",
            title="Tree (pickle)",
            description=(
                "What `RetrievalAugmentation.save` writes, under any name. It is read opcode by opcode and never "
                "loaded: nothing in it can run."
            ),
            suffixes=(".pkl", ".pickle", ".tree", ""),
            begins=(b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"),
            holds=(b"raptor.tree_structures",),
        ),
    ),
    rules=late_rules("ragdatakit.schemas.raptor", "rules:RULES"),
    layouts=(
        Layout(
            name="trees",
            description="A folder with trees, each in a file of its own; a pickle may have any name",
            files={},
            sniffed=_PATTERNS,
            bare="pickle",
            signature=(),
        ),
    ),
    adopts={
        "byte-order-mark": Adopted("info", "the JSON form is read without it"),
        "invalid-utf8": Adopted("error", "no tree can be made of it"),
        "mislabelled-compression": Adopted("error", "RAPTOR opens plain files only"),
        "duplicate-key": Adopted("error", "the last value wins, the others are lost"),
        "non-finite-number": Adopted(None, ""),
        "lone-surrogate": Adopted("error", "tokenizers refuse the text (UnicodeEncodeError) when its node is found"),
    },
    example={
        "tree.json": (
            '{"format": "raptor-tree", "num_layers": 1, "embedding_key": "EMB",\n "nodes": [\n'
            '  {"index": 0, "layer": 0, "text": "Mara Venn built the light", "children": [], '
            '"embeddings": {"EMB": [1, 0]}},\n'
            '  {"index": 1, "layer": 0, "text": "Joss Alder mapped the reef", "children": [], '
            '"embeddings": {"EMB": [0, 1]}},\n'
            '  {"index": 2, "layer": 1, "text": "A builder and a surveyor", "children": [0, 1], '
            '"embeddings": {"EMB": [0.7, 0.7]}}],\n "roots": [2]}\n'
        )
    },
)
