"""The rules of DataMind skills (both loaders) and of CSV files in uploads/.

Facts: haolpku/DataMind, commit 5a8f883: `modules/skills/knowledge.py` (v1), `datamind/capabilities/skills/loader.py`
and `datamind/capabilities/ingest/service.py` (v2).
"""

from __future__ import annotations

from ragdatakit.schemas.declarations import Rule

_V1 = "modules/skills/knowledge.py:load_skill_documents"
_V2 = "datamind/capabilities/skills/loader.py"
_CSV = "datamind/capabilities/ingest/service.py:db_import_csv"
_GOOD = "---\nname: tide-tables\ndescription: How to read a tide table.\nkeywords: [tide, harbour]\n---\n\nRead it."

SKILL_RULES: tuple[Rule, ...] = (
    Rule(
        "DM601 unread-front-matter error",
        summary="A front matter block that the loader does not see: not closed, empty, or not at the first byte.",
        message="the front matter is not read: {reason}",
        upstream={"v2": "takes the block for text; the name is the folder's, the description its first line"},
        hint="start the file with ---, end the block with ---, both alone on a line, with at least one line between",
        fix="safe: remove a byte-order mark",
        reveals=("DM60",),
        bad="---\nname: tide-tables\n\nRead the first column.",
        good=_GOOD,
        source=f"{_V2}:_parse_frontmatter",
    ),
    Rule(
        "DM602 multi-line-front-matter error",
        summary="A block scalar (> or |) or a list over several lines in the front matter.",
        message="{key} {reason}",
        upstream={"v2": "reads one line per key: the value becomes the sign, or nothing"},
        hint="write the value on the line of its key; lists as [a, b]",
        bad="---\nname: tide-tables\ndescription: >\n  How to read\n  a tide table.\n---\nText",
        good=_GOOD,
        source=f"{_V2}:_parse_frontmatter",
    ),
    Rule(
        "DM603 comma-in-list-item warning",
        summary="A comma inside a quoted list item.",
        message="{key} has a quoted item with a comma in it: {value}",
        upstream={"v2": "splits the item at the comma"},
        hint="leave the comma out",
        bad='---\nname: t\ndescription: d\nkeywords: ["high, low", tide]\n---\nText',
        good=_GOOD,
        source=f"{_V2}:_parse_frontmatter",
    ),
    Rule(
        "DM604 duplicate-skill-name error",
        summary="Two skills have the same name.",
        message="the name {value} is that of another skill",
        upstream={"v2": "finds only the last of them; with embeddings on, stops with DuplicateIDError"},
        hint="give each skill a name of its own",
        bad=".claude/skills/tides/SKILL.md: name: tide-tables\n.claude/skills/moon/SKILL.md: name: tide-tables",
        good=".claude/skills/tides/SKILL.md: name: tide-tables\n.claude/skills/moon/SKILL.md: name: moon-phases",
        source="datamind/capabilities/skills/service.py:load",
    ),
    Rule(
        "DM605 unnamed-skill warning",
        summary="A skill without a name or a description.",
        message="there is no {key} in the front matter",
        upstream={"v2": "takes the folder's name, and the first line of the text for the description"},
        hint="write name and description; the description decides when the skill is used",
        bad="Read the first column.",
        good=_GOOD,
        source=f"{_V2}:load_skill",
    ),
    Rule(
        "DM606 misplaced-skill error",
        summary="A skill folder without SKILL.md, or a Markdown file directly in .claude/skills/.",
        message="is not read: the loader opens only .claude/skills/NAME/SKILL.md",
        upstream={"v2": "silently ignores the skill"},
        hint="name the file SKILL.md, in capitals, in a folder of its own",
        bad=".claude/skills/tides/skill.md",
        good=".claude/skills/tides/SKILL.md",
        source=f"{_V2}:discover_skills",
    ),
    Rule(
        "DM607 ignored-knowledge-file error",
        summary="Something in data/skills/ that is not a .md file directly there.",
        message="is not read: the loader opens only data/skills/*.md",
        upstream={"v1": "silently ignores the file"},
        hint="name the file *.md and put it directly into data/skills/",
        bad="data/skills/tides.txt",
        good="data/skills/tides.md",
        source=_V1,
    ),
    Rule(
        "DM651 duplicate-csv-header error",
        summary="Two columns of a CSV file get the same name (case does not count).",
        message="column {value} appears twice in the header",
        upstream={"v2": "the import stops with an SQL error"},
        hint="rename one of the columns",
        bad="id,Name,name",
        good="id,name,full_name",
        source=_CSV,
    ),
    Rule(
        "DM652 renamed-csv-header warning",
        summary="A column name with other characters than ASCII letters, digits and _, or a byte-order mark before it.",
        message="column {value} becomes {name}",
        upstream={"v2": "renames the column silently"},
        hint="use letters, digits and _ only, at most 64, not beginning with a digit, and no byte-order mark",
        fix="safe: remove a byte-order mark",
        reveals=("DM65",),
        bad="id,unit price",
        good="id,unit_price",
        source=_CSV,
    ),
    Rule(
        "DM653 ragged-csv-row warning",
        summary="A row with fewer or more cells than the header.",
        message="{count} cells, the header has {expected}",
        upstream={"v2": "fills a short row with empty text, and cuts off a long one"},
        hint="quote cells that hold commas; write every cell",
        bad="id,name\n1",
        good="id,name\n1,Eastport",
        source=_CSV,
    ),
    Rule(
        "DM654 blank-csv-row warning",
        summary="A blank line in a CSV file.",
        message="a blank line",
        upstream={"v2": "inserts a row of empty text"},
        hint="delete the line",
        fix="safe: remove the blank line",
        bad="id,name\n\n1,Eastport",
        good="id,name\n1,Eastport",
        source=_CSV,
    ),
    Rule(
        "DM655 empty-csv warning",
        summary="A CSV file without a row of data.",
        message="there is no row below the header",
        upstream={"v2": "creates no table (and refuses a file without a header)"},
        hint="add rows, or delete the file",
        bad="id,name",
        good="id,name\n1,Eastport",
        source=_CSV,
    ),
    Rule(
        "DM656 unreadable-csv error",
        summary="A CSV file that Python's csv module refuses.",
        message="cannot be read as CSV: {reason}",
        upstream={"v2": "the import stops with csv.Error"},
        hint="look for a quotation mark that is never closed",
        bad='id,note\n1,"a cell of more than 131,072 characters …"',
        good='id,note\n1,"a short cell"',
        source=_CSV,
    ),
)
