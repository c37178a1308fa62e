"""The rules of GFM-RAG's files and tables: what is there, how pandas reads it, attributes and names.

Facts: RManLuo/gfm-rag, commit 57e3e28 (its package is that of release 2.0.0), read and run. The letter and number at
the beginning of a rule's source are those of the list of facts. Profile `reasoner` is `GraphIndexDataset`, the default
of the reasoner configurations; profile `gfm-rag` is `GraphIndexDatasetV1`, the entity loader.

A long module, because it is one table of texts: nothing in it is code.
"""

from __future__ import annotations

from functools import partial

from ragdatakit.schemas.declarations import Rule
from ragdatakit.schemas.fixes import ARRAY_WORDS

_LOADER = "gfm-rag 57e3e28 graph_index_dataset.py"
_READ = f"{_LOADER}:_read_csv_file"
_GRAPH = f"{_LOADER}:process_graph"
_QA = f"{_LOADER}:process_qa_data"
_NODES = "name,type,attributes\n"
_EDGES = "source,relation,target,attributes\n"
_GOOD_NODES = f"{_NODES}osprey,entity,{{}}"
_GOOD_EDGES = f"{_EDGES}osprey,towed,lena,{{}}"
_GOOD_QUESTION = (
    '[{"id": "h1", "question": "Which boat did the Osprey tow?", '
    '"start_nodes": {"entity": ["osprey"]}, "target_nodes": {"document": ["Harbour log"]}}]'
)

_rule = partial(Rule, source=_READ)

FILE_RULES: tuple[Rule, ...] = (
    _rule(
        "GF101 missing-documents-file error",
        summary="There is no raw/documents.json, which is opened even where stage1 is complete.",
        message="{file} is not there{beside}",
        upstream="both loaders open it at the end of loading and stop with FileNotFoundError",
        hint="write it: an object of titles and texts; `{}` is enough where stage1 is complete",
        bad="processed/stage1/nodes.csv, relations.csv, edges.csv",
        good="raw/documents.json\nprocessed/stage1/nodes.csv, relations.csv, edges.csv",
        source=f"{_LOADER}:load_qa_data",
    ),
    _rule(
        "GF102 documents-not-json error",
        summary="raw/documents.json is not JSON.",
        message="not JSON: {reason}",
        upstream="both loaders stop with JSONDecodeError, even where stage1 is complete",
        hint="repair the file: one JSON object of titles and texts",
        bad='{"Harbour log": "The tug Osprey towed the barge Lena."',
        good='{"Harbour log": "The tug Osprey towed the barge Lena."}',
        source=f"{_LOADER}:load_qa_data",
    ),
    _rule(
        "GF103 missing-graph-file error",
        summary="Of nodes.csv, relations.csv and edges.csv, one or two are missing.",
        message="{file} is not there, only {others}{beside}",
        upstream=(
            "the loaders stop with FileNotFoundError; GFMRetriever.from_index builds all three from raw/ once more, "
            "and the files that are there are lost"
        ),
        hint="put the missing file back into processed/stage1/, or remove the others and build stage1 again",
        bad="processed/stage1/nodes.csv\nprocessed/stage1/relations.csv",
        good="processed/stage1/nodes.csv\nprocessed/stage1/relations.csv\nprocessed/stage1/edges.csv",
        source=f"{_GRAPH}, gfmrag_retriever.py:from_index",
    ),
    _rule(
        "GF104 no-header error",
        summary="A CSV file with nothing in it, not even the line that names the columns.",
        message="the file is empty; its first line should be {expected}",
        upstream="pandas stops with EmptyDataError: No columns to parse from file",
        hint="write the header and the rows; an edges.csv without a byte is what a build leaves that found no triple",
        bad="edges.csv: 0 bytes",
        good="edges.csv: source,relation,target,attributes",
    ),
    _rule(
        "GF105 missing-column error",
        summary=(
            "The header lacks a column, writes it in another case or with spaces, has semicolons or tabs for commas, "
            "or is not there at all."
        ),
        message="no column is called {column}; the header is {header}{note}",
        upstream="both loaders stop with KeyError, or with ValueError where it is the name",
        hint=(
            "name the columns exactly so, in lower case, without spaces and with commas between them; attributes may "
            "not be left out"
        ),
        fix=(
            "safe: write the names of columns as they are declared",
            "unsafe: put commas in the place of semicolons or tabs",
        ),
        reveals=("GF10", "no-rows", "GF2", "GF3", "GF41", "GF42", "GF8"),
        bad="source,relation,target\nosprey,towed,lena",
        good=_GOOD_EDGES,
        source=f"{_READ}, {_GRAPH}",
    ),
    _rule(
        "GF106 long-row error",
        summary="A row with more cells than the header has columns; often a comma that is not in quotes.",
        message="the row has {fields} cells, the header {expected} columns",
        upstream="pandas stops with ParserError: Expected … fields",
        hint='put a cell with a comma in double quotes, and write a double quote in it twice ("")',
        bad=f"{_GOOD_NODES}\nlena,entity,{{}},barge",
        good=f"{_GOOD_NODES}\nlena,entity,{{}}",
    ),
    _rule(
        "GF107 short-row error",
        summary="A row of nodes.csv or relations.csv that ends before all its cells are there.",
        message="the row has {fields} cells of {expected}: no {missing}",
        upstream="what is missing is read as empty; an empty attributes cell stops both loaders with SyntaxError",
        hint="write all the cells; `{}` where there are no attributes",
        fix="safe: add empty attributes",
        bad=f"{_NODES}osprey,entity",
        good=_GOOD_NODES,
    ),
    _rule(
        "GF108 short-edge-row error",
        summary="A row of edges.csv that ends before all its cells are there.",
        message="the row has {fields} cells of {expected}: no {missing}",
        upstream={"reasoner": "what is missing is read as empty; an empty attributes cell stops it with SyntaxError"},
        hint="write all the cells; `{}` where there are no attributes",
        fix="safe: add empty attributes",
        bad=f"{_EDGES}osprey,towed,lena",
        good=_GOOD_EDGES,
        source=_GRAPH,
    ),
    _rule(
        "GF109 unclosed-quote error",
        summary="A cell begins with a double quote that is never closed.",
        message="a quote in this row is never closed",
        upstream="pandas takes what follows, up to the next quote, for this cell, and stops with ParserError where "
        "there is none",
        hint="close the quote; write a double quote inside a cell twice",
        bad=f'{_NODES}osprey,entity,"{{}}\nlena,entity,{{}}',
        good=f"{_GOOD_NODES}\nlena,entity,{{}}",
    ),
    _rule(
        "GF110 shifted-columns error per-file",
        summary="From the first row on there are more cells than columns: an unquoted or a trailing comma everywhere.",
        message="the first row has {fields} cells, the header {expected} columns",
        upstream=(
            "pandas silently makes an index of the first column and moves the others to the left: names come "
            "from the wrong column"
        ),
        hint=(
            "remove the trailing commas, or put cells with commas in double quotes, and write a double quote in them "
            'twice (""), not with a backslash'
        ),
        bad=f"{_NODES}osprey,entity,{{}},\nlena,entity,{{}},",
        good=f"{_GOOD_NODES}\nlena,entity,{{}}",
        counted=False,
        fix="safe: remove the comma that ends each row, if nothing is behind any of them",
        reveals=("GF10", "no-rows", "GF2", "GF3", "GF41", "GF42", "GF8"),
    ),
    _rule(
        "GF111 no-rows error",
        summary="nodes.csv or relations.csv has a header and no row.",
        message="there is no row below the header",
        upstream="both loaders stop with AttributeError: 'DataFrame' object has no attribute 'to_list'",
        hint="look at the step that wrote the file",
        bad=_NODES.rstrip(),
        good=_GOOD_NODES,
        source=_GRAPH,
    ),
    _rule(
        "GF112 questions-not-json error",
        summary="A file of questions (train.json, test.json) that is not JSON.",
        message="not JSON: {reason}",
        upstream="json.load stops with JSONDecodeError",
        hint="repair the file: one JSON list of objects",
        fix=ARRAY_WORDS,
        reveals=("GF11", "GF4", "GF51", "GF61", "RD115", "RD2"),
        bad=_GOOD_QUESTION[:-1],
        good=_GOOD_QUESTION,
        source=_QA,
    ),
    _rule(
        "GF113 questions-not-list error",
        summary='A file of questions whose top level is not a list, such as {"data": […]}.',
        message="the file holds {value}, not a list",
        upstream="the loaders take each thing in it for a question and stop with TypeError",
        hint="write the list of questions itself",
        fix="unsafe: take the list out of the object, if it has nothing else",
        reveals=("GF11", "GF4", "GF51", "GF61", "RD115", "RD2"),
        bad=f'{{"data": {_GOOD_QUESTION}}}',
        good=_GOOD_QUESTION,
        source=_QA,
    ),
    _rule(
        "GF114 questions-as-lines error",
        summary="A file of questions in JSON Lines: one object a line instead of one list.",
        message="more JSON follows after the first value: this is JSON Lines, not a list",
        upstream="json.load stops with JSONDecodeError: Extra data",
        hint="write one list: `jq -s . FILE`",
        fix="safe: put the lines into one array",
        reveals=("GF11", "GF4", "GF51", "GF61", "RD115", "RD2"),
        bad=f"{_GOOD_QUESTION[1:-1]}\n{_GOOD_QUESTION[1:-1].replace('h1', 'h2')}",
        good=_GOOD_QUESTION,
        source=_QA,
    ),
    _rule(
        "GF115 question-not-object error",
        summary="A question that is not a JSON object.",
        message="{value} is not an object",
        upstream="the loaders stop with TypeError",
        hint="write an object with id, question, start_nodes and target_nodes",
        bad='["Which boat did the Osprey tow?"]',
        good=_GOOD_QUESTION,
        source=_QA,
    ),
)

ATTRIBUTE_RULES: tuple[Rule, ...] = (
    _rule(
        "GF201 empty-attributes error",
        summary="An attributes cell of nodes.csv or relations.csv that is empty.",
        message="the attributes are empty",
        upstream="both loaders parse the cell as Python and stop with SyntaxError",
        hint="write `{}` where there are no attributes",
        fix="safe: write empty attributes",
        bad=f"{_NODES}osprey,entity,",
        good=_GOOD_NODES,
    ),
    _rule(
        "GF202 empty-edge-attributes error",
        summary="An attributes cell of edges.csv that is empty.",
        message="the attributes are empty",
        upstream={"reasoner": "parses the cell as Python and stops with SyntaxError"},
        hint="write `{}` where there are no attributes",
        fix="safe: write empty attributes",
        bad=f"{_EDGES}osprey,towed,lena,",
        good=_GOOD_EDGES,
        source=_GRAPH,
    ),
    _rule(
        "GF203 attributes-not-literal error",
        summary=(
            "Attributes that Python's literal parser refuses: JSON's true, false, null and NaN, bare words, calls, "
            "unbalanced quotes."
        ),
        message="the attributes are not a Python literal: {reason}",
        upstream="both loaders parse the cell with ast.literal_eval and stop with ValueError or SyntaxError",
        hint=(
            "write what is both JSON and Python: an object of texts, finite numbers, lists and objects; leave out what "
            "is null, write true as 1 or as a text"
        ),
        fix="unsafe: write JSON's words as texts, without what is null",
        bad=f'{_NODES}osprey,entity,"{{""built"": null}}"',
        good=f'{_NODES}osprey,entity,"{{""built"": 1901}}"',
    ),
    _rule(
        "GF204 attributes-not-dict error",
        summary="Attributes that are a list, a text or a number instead of a dictionary.",
        message="the attributes are {kind}, not a dictionary",
        upstream={"reasoner": "stops with AttributeError or TypeError when it makes text of them"},
        hint="write a dictionary, `{}` where there is nothing to say",
        bad=f"{_NODES}osprey,entity,\"['tug']\"",
        good=f"{_NODES}osprey,entity,\"{{'kind': 'tug'}}\"",
        source=f"{_LOADER}:attributes_to_text",
    ),
    _rule(
        "GF205 attributes-surrogate error",
        summary="Attributes with an emoji or another rare character written as two JSON escapes (\\ud83d\\ude00).",
        message="the attributes hold the unpaired surrogate {surrogate} once Python has read them",
        upstream={"reasoner": "Python does not join the two escapes, and the tokenizer refuses the text"},
        hint="write the character itself (json.dumps with ensure_ascii=False)",
        fix="safe: write the character in the place of its escapes",
        bad=f'{_NODES}osprey,entity,"{{""icon"": ""\\ud83d\\udea2""}}"',
        good=f'{_NODES}osprey,entity,"{{""icon"": ""🚢""}}"',
        source=f"{_LOADER}:attributes_to_text",
    ),
    _rule(
        "GF206 attributes-escaped-slash error",
        summary="Attributes with JSON's escape of a slash (\\/).",
        message="the attributes hold \\/, which Python reads as two characters",
        upstream="the backslash stays in the text that is embedded and shown",
        hint="write the slash without a backslash",
        fix="safe: remove the backslash before the slash",
        bad=f'{_NODES}osprey,entity,"{{""log"": ""1901\\/07""}}"',
        good=f'{_NODES}osprey,entity,"{{""log"": ""1901/07""}}"',
    ),
    _rule(
        "GF207 attributes-repeated-key error",
        summary="Attributes that give one key twice.",
        message="the attribute {key} is given twice",
        upstream="the last value wins, the first is lost",
        hint="keep one of them, or give the key a list",
        bad=f"{_NODES}osprey,entity,\"{{'built': 1901, 'built': 1902}}\"",
        good=f"{_NODES}osprey,entity,\"{{'built': [1901, 1902]}}\"",
    ),
    _rule(
        "GF208 attributes-not-portable info per-file",
        summary="Attributes that are a Python literal and not the same in JSON, as the framework itself writes them.",
        message="the attributes are not the same in Python and in JSON: {reason}",
        upstream="the loaders read Python; tools that believe the documentation, which says JSON, stop or misread it",
        hint=(
            "where other tools are to read the file, write what is both JSON and Python: text keys in double quotes, "
            "texts, finite numbers, lists and objects"
        ),
        fix="safe: write the attributes as JSON",
        bad=f"{_NODES}osprey,entity,\"{{'kind': 'tug'}}\"",
        good=f'{_NODES}osprey,entity,"{{""kind"": ""tug""}}"',
        numbered=False,
    ),
)

NAME_RULES: tuple[Rule, ...] = (
    _rule(
        "GF209 edge-attributes-like-missing error",
        summary="The attributes of an edge are a word that pandas takes for a missing value, such as nan or null.",
        message="attributes {value} are not a Python literal",
        upstream={"reasoner": "parses the cell as Python and stops with ValueError or SyntaxError"},
        hint="write `{}`; the entity loader takes the word for no attributes, the graph loader does not",
        fix="safe: write empty attributes",
        bad="source,relation,target,attributes\nosprey,towed,lena,nan",
        good="source,relation,target,attributes\nosprey,towed,lena,{}",
    ),
    _rule(
        "GF210 relations-all-numeric error",
        summary="Every relation's name looks like a number or a boolean.",
        message="every relation name is {kind}, such as {value}",
        upstream="pandas makes numbers of them, and the loaders stop with TypeError at the names of the inverse ones",
        hint="give relations names that are words, such as `r:1`, in edges.csv too",
        bad="name,attributes\n1,{}\n2,{}",
        good="name,attributes\nr:1,{}\nr:2,{}",
        source=_GRAPH,
    ),
    _rule(
        "GF211 duplicate-node error",
        summary="A node appears twice in nodes.csv, also under two types, or spelled as two equal numbers (1 and 01).",
        message="duplicate node {value}: it is in an earlier row",
        upstream="both loaders stop with ValueError: the column must contain unique values",
        hint="keep one of the rows; a name can have one type only",
        bad=f"{_GOOD_NODES}\nosprey,document,{{}}",
        good=_GOOD_NODES,
    ),
    _rule(
        "GF212 duplicate-relation error",
        summary="One relation appears twice in relations.csv.",
        message="duplicate relation {value}: it is in an earlier row",
        upstream="both loaders stop with ValueError: the column must contain unique values",
        hint="keep one of the rows",
        bad="name,attributes\ntowed,{}\ntowed,{}",
        good="name,attributes\ntowed,{}",
    ),
    _rule(
        "GF213 nodes-all-numeric error",
        summary="Every node's name looks like a number or a boolean.",
        message="every node name is {kind}, such as {value}",
        upstream=(
            "pandas makes numbers of them, so that names change (007 becomes 7); it loads, and GFMRetriever.retrieve "
            "stops with KeyError"
        ),
        hint="put a word in front of each (`n:123`), in nodes.csv, edges.csv and the questions alike",
        bad=f"{_NODES}1901,entity,{{}}\n1902,entity,{{}}",
        good=f"{_NODES}n:1901,entity,{{}}\nn:1902,entity,{{}}",
        source=f"{_READ}, gfmrag_retriever.py:retrieve",
    ),
    _rule(
        "GF214 kind-mismatch error",
        summary="pandas reads a column as numbers where the column it must match is text, or the other way round.",
        message="{column} is read as {kind} in {rows:,} rows from this one on, and {keys} as {other}: none is found",
        upstream="pandas decides for each column and chunk of rows; these edges are dropped with a line in the log",
        hint="put a word in front of such names (`n:1901`), in every file",
        bad=f"{_EDGES}1901,towed,lena,{{}}",
        good=f"{_EDGES}n:1901,towed,lena,{{}}",
        source=_GRAPH,
    ),
    _rule(
        "GF215 nul-in-cell error",
        summary="A NUL byte in a cell.",
        message="{column} has a NUL byte in it",
        upstream="pandas cuts the cell there, and the rest of it is lost",
        hint="remove the byte (`tr -d '\\0'`)",
        bad="name,type,attributes\nos\\0prey,entity,{}   (\\0: a NUL byte)",
        good="name,type,attributes\nosprey,entity,{}",
    ),
    _rule(
        "GF216 mixed-name-kinds warning per-file",
        summary="A file that pandas reads in several chunks has names that look like numbers, and others.",
        message="{numeric:,} of {rows:,} cells of {column} look like numbers",
        upstream="a chunk in which all do becomes numbers: once rows are sorted or added, edges may be dropped",
        hint="put a word in front of such names (`n:1901`), in every file",
        bad="rows 1 to 9,000: osprey, lena, …\nrows 400,000 to 409,000: 1901, 1902, …",
        good="rows 1 to 9,000: osprey, lena, …\nrows 400,000 to 409,000: n:1901, n:1902, …",
        counted=False,
    ),
    _rule(
        "GF217 number-like-name warning per-file",
        summary="All names but one look like numbers.",
        message="of {column}, only {value} keeps pandas from reading numbers",
        upstream="the names stay as they are thanks to this one cell; without it all of them would become numbers",
        hint="put a word in front of such names (`n:1901`), in every file",
        bad=f"{_NODES}1901,entity,{{}}\n1902,entity,{{}}\nlena,entity,{{}}",
        good=f"{_NODES}n:1901,entity,{{}}\nn:1902,entity,{{}}\nlena,entity,{{}}",
        counted=False,
    ),
    _rule(
        "GF223 numbers-but-for-missing error",
        severities={"": "warning"},
        summary="A column of edges.csv is text only thanks to names that the entity loader takes for missing values.",
        message="except for names that read as missing, {column} is {kind} in {rows:,} rows from this one on",
        upstream={
            "gfm-rag": "pandas leaves those names out and reads numbers: all these edges are dropped, with a line in "
            "the log"
        },
        hint="put a word in front of such names (`n:1901`), and rename those that read as missing (`nan`, `NA`)",
        bad="source,relation,target,attributes\n1901,towed,lena,{}\nnan,towed,lena,{}",
        good="source,relation,target,attributes\nn:1901,towed,lena,{}\nn:nan,towed,lena,{}",
    ),
    _rule(
        "GF218 name-variant warning",
        summary="Two nodes whose names differ only in case, Unicode form, spaces or quote marks around them.",
        message="the node {value} is spelled otherwise in an earlier row",
        upstream="they are two nodes: names are compared exactly, and edges of one do not reach the other",
        hint="choose one spelling, in every file",
        bad=f"{_GOOD_NODES}\nOsprey,entity,{{}}",
        good=f"{_GOOD_NODES}\nlena,entity,{{}}",
    ),
    _rule(
        "GF219 untrimmed-name warning",
        summary="A name with white space at its beginning or end.",
        message="{column} {value} begins or ends with white space",
        upstream="it is another name than the one without: nothing is trimmed",
        hint="strip names when you write them",
        fix="unsafe: strip the name, then those of the edges that refer to it",
        reveals=("dangling-endpoint", "dangling-relation"),
        bad=f"{_NODES}osprey ,entity,{{}}",
        good=_GOOD_NODES,
    ),
    _rule(
        "GF220 empty-name warning",
        summary="A node or a relation with an empty name.",
        message="{column} is empty",
        upstream="it is taken as a name like any other",
        hint="give the name, or remove the row and its edges",
        bad=f"{_GOOD_NODES}\n,entity,{{}}",
        good=_GOOD_NODES,
    ),
    _rule(
        "GF221 empty-type warning per-file",
        summary="A node with an empty type.",
        message="the type is empty",
        upstream="it is taken as a type like any other, which nothing asks for",
        hint="write entity, document or the type you want to ask for",
        bad=f"{_NODES}osprey,,{{}}",
        good=_GOOD_NODES,
    ),
    _rule(
        "GF222 reserved-inverse-name warning",
        summary="A relation is called inverse_ and the name of another relation.",
        message="the relation {value} is called as the inverse of {relation}",
        upstream="the loaders give each relation an inverse of that name, and its number is overwritten in rel2id",
        hint="remove it, the loaders add inverse edges themselves, or give it another name",
        bad="name,attributes\ntowed,{}\ninverse_towed,{}",
        good="name,attributes\ntowed,{}\ntowed_by,{}",
        source=_GRAPH,
    ),
)

TABLE_RULES: tuple[Rule, ...] = FILE_RULES + ATTRIBUTE_RULES + NAME_RULES
