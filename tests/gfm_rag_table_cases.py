"""The cases of the three CSV tables: sections 2.1 to 2.7 and 3.1 to 3.3 of the specification, and warnings of 3.5."""

from __future__ import annotations

from tests.gfm_rag_behaviour import (
    DOCUMENTS,
    EDGE_LINES,
    EDGES,
    FINE,
    NODE_LINES,
    NODES,
    RELATION_LINES,
    RELATIONS,
    RISKY,
    TEST,
    Case,
    Does,
    Files,
    asked,
    drops,
    edges,
    fine,
    lines,
    misreads,
    misreads_later,
    nodes,
    questions,
    raises,
    raises_later,
    relations,
    renamed,
    risky,
    with_edge,
    with_osprey,
    with_towed,
)

UNIQUE = "ValueError: The 'name' column must contain unique values"
EMPTY_GRAPH = {"edges": 0}
HEAD, LOG, OSPREY, LENA = NODE_LINES

READING = (
    Case(
        "2.1 semicolons for commas",
        {NODES: nodes().replace(",", ";")},
        raises("ValueError: CSV file must contain"),
        "missing-column",
    ),
    Case(
        "2.1 quotes doubled, line feeds inside quotes",
        {NODES: nodes('"the ""Gull""\nof Skarn",entity,{}'), EDGES: edges('"the ""Gull""\nof Skarn",towed,lena,{}')},
        fine(edges=4),
        "",
    ),
    Case(
        "2.1 Latin-1",
        {NODES: nodes().replace("Port Hale", "Hålehamn").encode("latin-1")},
        raises("UnicodeDecodeError"),
        "invalid-utf8",
    ),
    Case("2.1 byte-order mark", {NODES: "\ufeff" + nodes()}, FINE, ""),
    Case("2.1 CR LF", {NODES: nodes().replace("\n", "\r\n"), EDGES: edges().replace("\n", "\r\n")}, FINE, ""),
    Case("2.1 blank lines", {NODES: nodes().replace("\n", "\n\n")}, fine(nodes=3), ""),
    Case("2.1 a comment", {NODES: nodes("# the tugs")}, raises("SyntaxError"), "short-row isolated-node"),
    Case(
        "2.1 no header", {NODES: lines(*NODE_LINES[1:])}, raises("ValueError: CSV file must contain"), "missing-column"
    ),
    Case(
        "2.1 a space in the header",
        {NODES: nodes().replace("name,type", "name, type")},
        raises("KeyError: 'type'"),
        "missing-column",
    ),
    Case(
        "2.1 a capital in the header",
        {NODES: nodes().replace("name,", "Name,", 1)},
        raises("ValueError: CSV file must contain"),
        "missing-column",
    ),
    Case(
        "2.1 columns in another order",
        {EDGES: lines("attributes,target,relation,source", *(",".join(r.split(",")[::-1]) for r in EDGE_LINES[1:]))},
        fine(edges=3),
        "",
    ),
    Case("2.1 an extra column", {RELATIONS: lines(*(f"{r},x" for r in RELATION_LINES))}, FINE, ""),
    Case(
        "2.1 an index column",
        {RELATIONS: lines(*(f"{i},{r}" for i, r in zip(("", 0, 1), RELATION_LINES, strict=True)))},
        FINE,
        "",
    ),
    Case("2.1 a short row", {NODES: lines(HEAD, LOG, "osprey,entity", LENA)}, raises("SyntaxError"), "short-row"),
    Case(
        "2.1 a short row of edges",
        {EDGES: lines(EDGE_LINES[0], "osprey,towed,lena", *EDGE_LINES[2:])},
        raises("SyntaxError"),
        "short-edge-row",
        fine(edges=1),
    ),
    Case(
        "2.1 a long row",
        {NODES: nodes("gull,entity,{},x"), EDGES: edges("gull,towed,lena,{}")},
        raises("ParserError: Error tokenizing data. C error: Expected 3 fields in line 5, saw 4"),
        "long-row",
    ),
    Case(
        "2.1 only the first row long", {NODES: lines(HEAD, f"{LOG},x", OSPREY, LENA)}, raises(UNIQUE), "shifted-columns"
    ),
    Case(
        "2.1 all rows long",
        {EDGES: lines(EDGE_LINES[0], *(f"{r},x" for r in EDGE_LINES[1:]))},
        raises("ValueError: malformed node or string"),
        "shifted-columns",
    ),
    Case(
        "2.1 names with spaces around them",
        {NODES: lines(HEAD, LOG, " osprey,entity,{}", LENA), TEST: None},
        drops(skipped_edges=2),
        "untrimmed-name dangling-endpoint isolated-node no-entity-edge",
    ),
    Case(
        "2.1 names in another Unicode form",
        {NODES: nodes("cafe\u0301,entity,{}"), EDGES: edges("caf\u00e9,towed,lena,{}")},
        drops(skipped_edges=1),
        "dangling-endpoint isolated-node",
    ),
    Case(
        "2.1 NUL in a cell",
        {NODES: lines(HEAD, LOG, "osprey\0x,entity,{}", LENA)},
        misreads(names=["Harbour log", "osprey", "lena"]),
        "nul-in-cell",
    ),
    *(
        Case(
            f"2.1 a node named {name}",
            {NODES: nodes(f"{name},entity,{{}}"), EDGES: edges(f"{name},towed,lena,{{}}")},
            fine(edges=4),
            "name-read-as-missing",
            drops(skipped_edges=1),
        )
        for name in ("NA", "null", "nan", "None", "N/A", "#N/A N/A", "-1.#QNAN", "<NA>")
    ),
    *(
        Case(
            f"2.1 a node named {name}",
            {NODES: nodes(f"{name},entity,{{}}"), EDGES: edges(f"{name},towed,lena,{{}}")},
            fine(edges=4),
            "",
            fine(edges=2),
        )
        for name in ("none", "na", "NAN", "Null", "nil")
    ),
    Case(
        "2.1 a relation named null",
        {RELATIONS: relations("null,{}"), EDGES: edges("osprey,null,lena,{}")},
        fine(edges=4),
        "name-read-as-missing",
        drops(skipped_edges=1),
    ),
)


def _numeric(
    name: str, written: tuple[str, str, str], read: tuple[str, str, str], rules: str = "nodes-all-numeric"
) -> Case:
    """All names of nodes look like numbers; what retrieval does with them."""
    rewritten = misreads(names=[read[2], read[0], read[1]]) if written != read else raises("KeyError", "retrieve")
    return Case(f"2.2 {name}", {**renamed(*written), TEST: None}, rewritten, rules)


def _one_text(name: str) -> Files:
    """One name among numbers, in every column of names."""
    return {
        **renamed(name, "8", "9"),
        EDGES: lines(EDGE_LINES[0], f"{name},towed,8,{{}}", "8,is_mentioned_in,9,{}", f"9,towed,{name},{{}}"),
    }


NUMBERS = (
    _numeric("integers", ("7", "8", "9"), ("7", "8", "9")),
    _numeric("leading zeros", ("007", "8", "9"), ("7", "8", "9"), "nodes-all-numeric"),
    _numeric("plus signs", ("+7", "8", "9"), ("7", "8", "9"), "nodes-all-numeric"),
    _numeric("spaces", (" 7", "8", "9"), ("7", "8", "9"), "nodes-all-numeric untrimmed-name"),
    _numeric("minus nought", ("-0", "8", "9"), ("0", "8", "9"), "nodes-all-numeric"),
    _numeric(
        "decimals",
        ("1.50", "2.25", "2"),
        ("1.5", "2.25", "2.0"),
        "nodes-all-numeric raw-document-without-node document-node-without-text",
    ),
    _numeric("exponents", ("1e5", "2.5", "3.5"), ("100000.0", "2.5", "3.5"), "nodes-all-numeric"),
    _numeric("infinity", ("inf", "2.5", "3.5"), ("Infinity", "2.5", "3.5"), "nodes-all-numeric"),
    _numeric(
        "many decimals",
        ("0.12345678901234567", "2.5", "3.5"),
        ("0.1234567890123456", "2.5", "3.5"),
        "nodes-all-numeric",
    ),
    Case(
        "2.2 booleans",
        {
            NODES: lines(HEAD, "True,entity,{}", "False,entity,{}"),
            EDGES: lines(EDGE_LINES[0], "True,towed,False,{}"),
            TEST: None,
        },
        misreads(names=["true", "false"]),
        "nodes-all-numeric no-document-node relation-without-edges raw-document-without-node",
    ),
    Case(
        "2.2 twenty digits, within 64 bits",
        {**_one_text("11111111111111111111"), TEST: None},
        raises("KeyError", "retrieve"),
        "nodes-all-numeric",
        differs="up to 2^64 - 1 the column becomes uint64; only longer ones stay text",
    ),
    _numeric("the largest integer", ("9223372036854775807", "8", "9"), ("9223372036854775807", "8", "9")),
    *(
        Case(f"2.2 one name {name}", _one_text(name), risky(names=["9", name, "8"]), "number-like-name")
        for name in ("9" * 20, "0x10", "1_0", "10%", "2024-05-01", "yes", "seven")
    ),
    Case(
        "2.2 one name nan",
        _one_text("nan"),
        risky(names=["9", "nan", "8"], edges=3),
        "number-like-name name-read-as-missing numbers-but-for-missing",
        drops(skipped_edges=3),
    ),
    Case(
        "2.2 one name empty",
        _one_text(""),
        risky(names=["9", "", "8"], edges=3),
        "number-like-name empty-name name-read-as-missing numbers-but-for-missing",
        drops(skipped_edges=3),
    ),
    Case(
        "2.2 numbers written otherwise, and asked for so",
        renamed("007", "8", "9"),
        raises("RuntimeError: stack expects a non-empty TensorList"),
        "nodes-all-numeric no-known-start-node no-usable-sample",
    ),
    Case(
        "2.2 two spellings of one number",
        {**renamed("1", "01", "2"), TEST: None},
        raises(UNIQUE),
        "duplicate-node nodes-all-numeric duplicate-edge self-loop",
    ),
    Case(
        "2.2 numeric relations",
        {
            RELATIONS: lines("name,attributes", "1,{}", "2,{}"),
            EDGES: lines(EDGE_LINES[0], "osprey,1,lena,{}", "lena,2,Harbour log,{}"),
        },
        raises("TypeError: can only concatenate str"),
        "relations-all-numeric",
    ),
    Case(
        "2.2 numeric sources, nodes are text",
        {
            NODES: nodes("1901,entity,{}", "1902,entity,{}"),
            EDGES: lines(EDGE_LINES[0], "1901,towed,lena,{}", "1902,is_mentioned_in,Harbour log,{}"),
        },
        drops(skipped_edges=2, edges=0),
        "kind-mismatch no-usable-edge isolated-node",
    ),
    Case(
        "2.2 numeric relations of edges, relations are text",
        {RELATIONS: relations("7,{}"), EDGES: lines(EDGE_LINES[0], "osprey,7,lena,{}", "lena,7,Harbour log,{}")},
        drops(skipped_edges=2, edges=0),
        "kind-mismatch no-usable-edge relation-without-edges",
    ),
)


def _many_numbers_first() -> str:
    return lines(HEAD, *(f"{i},entity,{{}}" for i in range(262_154)), *NODE_LINES[1:])


def _sources(*groups: str) -> str:
    by_name = {"numeric": (f"{i},towed,lena,{{}}" for i in range(131_072)), "text": iter(EDGE_LINES[1:])}
    return lines(EDGE_LINES[0], *(row for group in groups for row in by_name[group]))


def _numbered_nodes() -> str:
    return lines(*NODE_LINES, *(f"{i},entity,{{}}" for i in range(131_072)))


BIG = (
    Case(
        "2.2 a first chunk of numeric nodes",
        {NODES: _many_numbers_first, EDGES: edges("5,towed,lena,{}", "6,towed,lena,{}")},
        drops(skipped_edges=2),
        "kind-mismatch dangling-endpoint isolated-node",
    ),
    Case(
        "2.2 a first chunk of numeric sources",
        {NODES: _numbered_nodes, EDGES: lambda: _sources("numeric", "text")},
        drops(skipped_edges=131_072, edges=3),
        "kind-mismatch isolated-node",
    ),
    Case(
        "2.2 text sources first",
        {NODES: _numbered_nodes, EDGES: lambda: _sources("text", "numeric")},
        drops(skipped_edges=3),
        "kind-mismatch isolated-node",
    ),
)

COLUMNS = (
    Case(
        "2.3 an empty name",
        {NODES: nodes(",entity,{}"), EDGES: edges("osprey,towed,,{}")},
        fine(nodes=4, edges=4),
        "empty-name name-read-as-missing",
        drops(skipped_edges=1),
    ),
    Case(
        "2.3 an empty type",
        {NODES: nodes("gull,,{}"), EDGES: edges("gull,towed,lena,{}")},
        risky(nodes=4),
        "empty-type",
    ),
    Case(
        "2.3 no column for types",
        {NODES: lines(HEAD.replace("type,", ""), LOG.replace("document,", ""), "osprey,{}", "lena,{}")},
        raises("KeyError: 'type'"),
        "missing-column",
    ),
    Case(
        "2.3 no column for attributes",
        {NODES: lines("name,type", "Harbour log,document", "osprey,entity", "lena,entity")},
        raises("KeyError: 'attributes'"),
        "missing-column",
    ),
    Case(
        "2.3 a uid for every node",
        {
            NODES: lines("uid,name,type,attributes", f"d1,{LOG}", f"n1,{OSPREY}", f"n2,{LENA}", "n3,lena,entity,{}"),
            EDGES: lines(EDGE_LINES[0], "n1,towed,n2,{}", "n1,towed,n3,{}", "n1,is_mentioned_in,d1,{}"),
            TEST: questions(
                asked(
                    start_nodes={"entity": ["n1"]},
                    target_nodes={"document": ["d1"], "entity": ["n2"]},
                    supporting_documents=["d1"],
                )
            ),
        },
        fine(names=["d1", "n1", "n2", "n3"], edges=3),
        "",
    ),
    Case(
        "2.3 a uid, edges by name",
        {NODES: lines("uid,name,type,attributes", f"d1,{LOG}", f"n1,{OSPREY}", f"n2,{LENA}"), TEST: None},
        drops(skipped_edges=3, edges=0),
        "dangling-endpoint no-usable-edge isolated-node",
    ),
    Case(
        "2.3 a uid twice",
        {
            NODES: lines("uid,name,type,attributes", f"d1,{LOG}", f"n1,{OSPREY}", f"n2,{LENA}", "n2,gull,entity,{}"),
            EDGES: lines(EDGE_LINES[0], "n1,towed,n2,{}", "n1,is_mentioned_in,d1,{}"),
            TEST: None,
        },
        raises("ValueError: The 'uid' column must contain unique values"),
        "duplicate-node",
    ),
    Case("2.4 a relation twice", {RELATIONS: relations("towed,{}")}, raises(UNIQUE), "duplicate-relation"),
    Case(
        "2.4 no column for attributes of relations",
        {RELATIONS: "name\ntowed\nis_mentioned_in\n"},
        raises("KeyError: 'attributes'"),
        "missing-column",
    ),
    Case(
        "2.4 a relation named like an inverse",
        {RELATIONS: relations("inverse_towed,{}"), EDGES: edges("lena,inverse_towed,osprey,{}")},
        risky(edges=4),
        "reserved-inverse-name",
    ),
    Case(
        "2.5 no column for attributes of edges",
        {EDGES: lines(*(r.rsplit(",", 1)[0] for r in EDGE_LINES))},
        raises("KeyError: 'attributes'"),
        "missing-column",
    ),
    Case("2.5 an edge twice", {EDGES: edges(EDGE_LINES[1])}, risky(edges=4), "duplicate-edge"),
    Case("2.5 an edge from a node to itself", {EDGES: edges("lena,towed,lena,{}")}, fine(edges=4), "self-loop"),
    Case("2.5 an edge in both directions", {EDGES: edges("lena,towed,osprey,{}")}, fine(edges=4), "edge-both-ways"),
)

_LITERAL = raises("ValueError: malformed node or string")
_SYNTAX = raises("SyntaxError")
_NO_DICT = raises("AttributeError")


def _cell(name: str, cell: str, node: Does, rules: str, entity: Does | None = None) -> Case:
    """An attributes cell of a node."""
    return Case(f"2.6 {name}", with_osprey(cell), node, rules, entity)


ATTRIBUTES = (
    *(_cell(f"the cell {cell!r}", cell, FINE, "") for cell in ("{}", "None", " {}", "[]", "()")),
    _cell("plain JSON", '"{""a"": ""x"", ""n"": 1, ""l"": [1]}"', FINE, ""),
    _cell("Python", "\"{'a': 'x', 'b': None, 'c': True}\"", FINE, "attributes-not-portable"),
    _cell("an empty cell", "", _SYNTAX, "empty-attributes"),
    Case("2.6 an empty cell of a relation", with_towed(""), _SYNTAX, "empty-attributes"),
    Case("2.6 an empty cell of an edge", with_edge(""), _SYNTAX, "empty-edge-attributes", FINE),
    *(
        _cell(f"JSON's {word}", f'"{{""built"": {word}}}"', _LITERAL, "attributes-not-literal")
        for word in ("true", "false", "null", "NaN")
    ),
    *(
        _cell(f"the word {word}", f"\"{{'a': {word}}}\"", _LITERAL, "attributes-not-literal")
        for word in ("nan", "np.float64(1.0)", "datetime.date(2024, 5, 1)", "tug")
    ),
    _cell("no braces", "tug", _LITERAL, "attributes-not-literal"),
    Case(
        "2.6 a number in every row of the edges",
        {EDGES: lines(EDGE_LINES[0], *(f"{r.rsplit(',', 1)[0]},5" for r in EDGE_LINES[1:]))},
        _LITERAL,
        "attributes-not-literal",
    ),
    _cell("a number", "5", raises("TypeError: object of type 'int' has no len()"), "attributes-not-dict", FINE),
    *(
        _cell(f"the literal {cell}", f'"{cell}"', _NO_DICT, "attributes-not-dict", FINE)
        for cell in ("['tug']", "('tug', 'boat')", "{'tug'}", "'tug'")
    ),
    Case("2.6 a list for a relation", with_towed("\"['tug']\""), _NO_DICT, "attributes-not-dict", FINE),
    Case("2.6 a list for an edge", with_edge("\"['tug']\""), FINE, ""),
    _cell("cut", "\"{'a': 'x'\"", _SYNTAX, "attributes-not-literal"),
    _cell("an apostrophe inside single quotes", "\"{'a': 'the tug's crew'}\"", _SYNTAX, "attributes-not-literal"),
    _cell("an integer of 4,301 digits", '"{""n"": ' + "7" * 4301 + '}"', _SYNTAX, "attributes-not-literal"),
    _cell(
        "an escaped emoji",
        '"{""icon"": ""\\ud83d\\udea2""}"',
        raises("UnicodeEncodeError"),
        "attributes-surrogate attributes-not-portable",
        FINE,
    ),
    _cell(
        "an escaped slash",
        '"{""a"": ""b\\/c""}"',
        misreads(text="a: b\\/c"),
        "attributes-escaped-slash attributes-not-portable",
        misreads_later(),
    ),
    _cell(
        "a repeated key",
        '"{""a"": 1, ""a"": 2}"',
        misreads(text="type: entity\na: 2"),
        "attributes-repeated-key",
        misreads_later(),
    ),
    _cell("quotes not doubled", '"{"a": "b"}"', _SYNTAX, "attributes-not-literal"),
    Case(
        "2.6 quotes not doubled, with a comma", with_osprey('"{"a": "b", "c": "d"}"'), raises("ParserError"), "long-row"
    ),
)

CONSUMERS = (
    Case(
        "2.7 no entity node",
        {NODES: nodes().replace(",entity,", ",person,")},
        RISKY,
        "no-entity-node unasked-node-type node-under-other-type",
        raises("ValueError: No nodes found for target type 'entity'"),
    ),
    Case(
        "2.7 no mention edge",
        {EDGES: lines(*EDGE_LINES[:2])},
        RISKY,
        "no-mention-edge relation-without-edges isolated-node partly-unreachable-targets",
        raises_later("KeyError: 'document'"),
    ),
    Case(
        "2.7 no document node",
        {NODES: nodes().replace(",document,", ",page,")},
        raises("KeyError: 'document'", "retrieve"),
        "no-document-node unasked-node-type node-under-other-type raw-document-without-node"
        " supporting-document-not-node",
    ),
    Case(
        "2.7 a mention by another name",
        {
            RELATIONS: relations().replace("is_mentioned_in", "mentioned_in"),
            EDGES: edges().replace("is_mentioned_in", "mentioned_in"),
        },
        RISKY,
        "no-mention-relation",
    ),
    Case(
        "2.7 mentions backwards",
        {EDGES: lines(*EDGE_LINES[:2], "Harbour log,is_mentioned_in,osprey,{}", "Harbour log,is_mentioned_in,lena,{}")},
        RISKY,
        "mention-backwards no-mention-edge",
        raises_later("KeyError: 'document'"),
    ),
)

FILES = (
    Case("3.1 E01 documents.json missing", {DOCUMENTS: None}, raises("FileNotFoundError"), "missing-documents-file"),
    Case(
        "3.1 E01 documents.json not JSON",
        {DOCUMENTS: '{"Harbour log": '},
        raises("JSONDecodeError"),
        "documents-not-json",
    ),
    *(
        Case(
            f"3.1 E02 {path.rsplit('/', 1)[1]} missing",
            {path: None},
            raises("FileNotFoundError: Required files not found"),
            "missing-graph-file",
        )
        for path in (NODES, RELATIONS, EDGES)
    ),
    *(
        Case(
            f"3.1 E03 {path.rsplit('/', 1)[1]} empty",
            {path: ""},
            raises("EmptyDataError: No columns to parse"),
            "no-header",
        )
        for path in (NODES, RELATIONS, EDGES)
    ),
    *(
        Case(
            f"3.1 E03 {path.rsplit('/', 1)[1]} of one empty line",
            {path: "\n"},
            raises("EmptyDataError: No columns to parse"),
            "no-header",
        )
        for path in (NODES, EDGES)
    ),
    Case(
        "3.1 E05 documents.json with a byte-order mark",
        {DOCUMENTS: "\ufeff{}"},
        raises("JSONDecodeError"),
        "byte-order-mark",
    ),
    Case(
        "3.1 E05 test.json with a byte-order mark",
        {TEST: "\ufeff" + questions(asked())},
        raises("JSONDecodeError"),
        "byte-order-mark",
    ),
    Case(
        "3.1 E05 test.json in Latin-1",
        {
            TEST: questions(asked(question="gåve"))
            .encode("unicode_escape")
            .decode()
            .replace("\\n", "\n")
            .replace("\\\\u00e5", "å")
            .encode("latin-1")
        },
        raises("UnicodeDecodeError"),
        "invalid-utf8",
    ),
    Case(
        "3.1 E06 a quote that is not closed",
        {NODES: nodes('gull,entity,"{}'), EDGES: edges("gull,towed,lena,{}")},
        raises("ParserError: Error tokenizing data. C error: EOF inside string"),
        "unclosed-quote",
    ),
    Case(
        "3.1 E07 a comma at the end of every row",
        {NODES: lines(HEAD, *(f"{r}," for r in NODE_LINES[1:]))},
        raises(UNIQUE),
        "shifted-columns",
    ),
    Case(
        "3.1 E07 a comma at the end of every edge",
        {EDGES: lines(EDGE_LINES[0], *(f"{r}," for r in EDGE_LINES[1:]))},
        raises("SyntaxError"),
        "shifted-columns",
        drops(skipped_edges=3),
    ),
    Case(
        "3.1 E08 no node",
        {NODES: lines(HEAD)},
        raises("AttributeError: 'DataFrame' object has no attribute 'to_list'"),
        "no-rows",
        raises("ValueError: No nodes found for target type"),
    ),
    Case("3.1 E08 no relation", {RELATIONS: lines(RELATION_LINES[0])}, raises("AttributeError"), "no-rows"),
    Case("3.3 E21 no edge", {EDGES: lines(EDGE_LINES[0])}, misreads(**EMPTY_GRAPH), "no-usable-edge"),
    Case(
        "3.3 E20 an unknown source", {EDGES: edges("gull,towed,lena,{}")}, drops(skipped_edges=1), "dangling-endpoint"
    ),
    Case(
        "3.3 E20 an unknown relation",
        {EDGES: edges("lena,moored,osprey,{}")},
        drops(skipped_edges=1),
        "dangling-relation",
    ),
    Case(
        "3.3 E22 no edge between entities",
        {EDGES: lines(EDGE_LINES[0], *EDGE_LINES[2:])},
        RISKY,
        "no-entity-edge relation-without-edges",
        misreads(**EMPTY_GRAPH),
    ),
    Case(
        "3.2 E15 one name under two types",
        {NODES: nodes("osprey,person,{}")},
        raises(UNIQUE),
        "duplicate-node unasked-node-type",
    ),
)

HEALTH = (
    Case(
        "3.5 W07 a document without content",
        {NODES: lines(HEAD, "Harbour log,document,{}", OSPREY, LENA)},
        RISKY,
        "document-without-content",
    ),
    Case(
        "3.5 W09 names that differ by case",
        {NODES: nodes("Osprey,entity,{}"), EDGES: edges("Osprey,towed,lena,{}")},
        RISKY,
        "name-variant",
    ),
    Case("3.5 W12 an isolated node", {NODES: nodes("gull,entity,{}")}, RISKY, "isolated-node"),
    Case("3.5 W12 a relation without edges", {RELATIONS: relations("moored,{}")}, RISKY, "relation-without-edges"),
    Case(
        "3.5 W12 a node of a type that nothing asks for",
        {NODES: nodes("gull,bird,{}"), EDGES: edges("gull,towed,lena,{}")},
        FINE,
        "unasked-node-type",
    ),
    Case("3.5 W15 a number-like name", _one_text("lena"), RISKY, "number-like-name"),
    Case("3.5 W19 attributes on an edge", with_edge('"{""year"": 1901}"'), FINE, "edge-attributes-unused"),
    Case(
        "3.5 W16 a document that is no node",
        {DOCUMENTS: '{"Harbour log": "x", "Sea log": "y"}'},
        RISKY,
        "raw-document-without-node",
    ),
    Case(
        "3.5 W16 a document node that is no document",
        {NODES: nodes('Sea log,document,"{""content"": ""y""}"'), EDGES: edges("lena,is_mentioned_in,Sea log,{}")},
        RISKY,
        "document-node-without-text",
    ),
)

_WIDE = 65_536
"""Rows of a chunk of a table of eight columns or more."""


def _mixed_nodes() -> str:
    rows = [*NODE_LINES[:2], "osprey,entity,{}", "lena,entity,{}", *(f"{i},entity,{{}}" for i in range(_WIDE))]
    wide = [f"{rows[0]},c,d,e,f,g", *(f"{row},,,,," for row in rows[1:])]
    return lines(*wide, "gull,entity,{},,,,,")


PARTS = (
    Case(
        "3.5 W14 numbers and words in two chunks",
        {NODES: _mixed_nodes},
        risky(nodes=_WIDE + 4, edges=3),
        "mixed-name-kinds isolated-node",
    ),
    Case(
        "3.5 W20 large masks",
        {NODES: _mixed_nodes, TEST: lambda: questions(*(asked(id=f"h{i}") for i in range(1000)))},
        Does("risky", action="read"),
        "mixed-name-kinds isolated-node large-masks",
    ),
    Case(
        "3.5 two parts of a graph",
        {
            NODES: nodes("gull,entity,{}", "tern,entity,{}"),
            EDGES: edges("gull,towed,tern,{}"),
            TEST: questions(asked(start_nodes={"entity": ["gull"]})),
        },
        risky(samples={"test": 1}),
        "disconnected-graph unreachable-targets",
    ),
)

TABLES = (*READING, *NUMBERS, *BIG, *COLUMNS, *ATTRIBUTES, *CONSUMERS, *FILES, *HEALTH, *PARTS)
