"""The hierarchy of a dataset in SQL: its nodes as a table ``tree_nodes``, in the order of the dataset; its links."""

from __future__ import annotations

COMMUNITY, TITLE, RANK, SIZE = "community", "title", "rank", "size"
"""Keys of the metadata of a report: its community's id, its title and rank; and of the attributes of a community."""
_FILLED = "case when text < '!' then trim(text) <> '' else text is not null end"
_LEVEL = "coalesce(arg_min(level, rowid), 0) as level"  # there is none where it was too large
SUMMARIES = f"""
create or replace temp table tree_nodes as
select row_number() over (order by place) - 1 as n, *, null::varchar as title, null::bigint as size,
  null::double as rank
from (
  select min(rowid) as place, summary_id as id, {_LEVEL}, arg_min({_FILLED}, rowid) as filled,
    arg_min(len(children), rowid) as leaves
  from main.summaries where summary_id is not null group by summary_id
)
"""
KEYS = (COMMUNITY, TITLE, RANK)
GIVEN = f"try(json_extract_string(metadata, {[f'$.{key}' for key in KEYS]})) as found"
REPORTS = f"""
select id, min(row) as place, arg_min(filled, row) as filled, arg_min(title, row) as title, arg_min(rank, row) as rank,
  arg_min(leaves, row) as leaves
from (
  select row, filled, leaves, {{0}} as id, {{1}} as title, try_cast({{2}} as double) as rank
  from (select rowid as row, {_FILLED} as filled, len(children) as leaves, {{given}} from main.summaries)
) where id is not null group by id
"""
NO_REPORTS = """
select null::varchar as id, null::bigint as place, false as filled, null::varchar as title, null::double as rank,
  null::bigint as leaves
"""
COMMUNITIES = f"""
create or replace temp table tree_nodes as
select row_number() over (order by c.place) - 1 as n, r.place, c.id, level, parent, member,
  coalesce(r.title, c.title) as title, coalesce(case when size >= 0 then size end, members) as size,
  case when isfinite(rank) then rank end as rank, coalesce(filled, false) as filled, coalesce(leaves, 0) as leaves
from (
  select min(rowid) as place, community_id as id, {_LEVEL}, arg_min(title, rowid) as title,
    arg_min(parent, rowid) as parent, arg_min(members[1], rowid) as member,
    arg_min(nullif(len(members), 0), rowid) as members,
    arg_min(try_cast({{size}} as bigint), rowid) as size
  from main.communities where community_id is not null group by community_id
) c left join ({{reports}}) r on r.id = c.id
"""
LEAVES = f"""
insert into tree_nodes (n, place, id, level, filled, leaves)
select ? - 1 + row_number() over (order by place), place, id, 0, filled, 0
from (
  select min(rowid) as place, chunk_id as id, arg_min({_FILLED}, rowid) as filled
  from main.chunks where chunk_id is not null group by chunk_id
)
"""
GIVEN_CHILDREN = "select rowid as row, children from main.summaries"
READ_CHILDREN = """
create or replace temp table tree_children as
select unnest(?::bigint[]) as row, unnest(?::varchar[][]) as children
"""
CHILDREN = """
select p.n as p, c.n as c from (
  select n, unnest(children) as child from tree_nodes
  join ({children}) s on s.row = place where n < {above}
) p join tree_nodes c on c.id = p.child where p.n <> c.n
"""
PARENTS = """
select p.n as p, c.n as c from tree_nodes c join tree_nodes p on p.id = c.parent where p.n <> c.n
union all
select p.n, c.n from tree_nodes c
join (select level, unnest(members) as name, community_id from main.communities) m
  on m.level = c.level - 1 and m.name = c.member
join tree_nodes p on p.id = m.community_id
where c.parent is null and c.level > 0
"""
