"""The floor of conversions: DuckDB reads the source and writes the same bytes as NDJSON; nothing is checked or counted.

BEIR: both masters of documents, queries, positive lists, about as many triplets, and the new ids. Training documents
are those that its triplets name; that negatives may be positives is not looked at.
"""

from __future__ import annotations

from pathlib import Path

import duckdb
from tables import time_and_print

CHUNKS = """
copy (
  select '{name}-' || key as id, value as text, '{name}' as source, {{'source': '{name}', 'arag_id': key}} as metadata
  from (
    select substr(chunk, 1, instr(chunk, ':') - 1) as key, substr(chunk, instr(chunk, ':') + 1) as value
    from (select json->>'$' as chunk from read_json_objects('{root}/chunks.json', format='array'))
  )
) to '{folder}/chunks.jsonl' (format json)
"""
QUESTIONS = """
copy (
  select question, answer as reference_answer, id as question_id from read_json('{root}/questions.json')
) to '{folder}/bench.jsonl' (format json)
"""
CORPUS = "{_id: 'VARCHAR', title: 'VARCHAR', text: 'VARCHAR'}"


def convert(root: Path, kind: str) -> int:
    """Convert the set on two threads to ``converted`` beside it; returns the number of passages."""
    connection = duckdb.connect(config={"threads": 2})
    folder = root.parent / "converted"
    folder.mkdir()
    return (_arag if kind == "arag" else _beir)(connection, root, folder)


def _arag(connection: duckdb.DuckDBPyConnection, root: Path, folder: Path) -> int:
    words = {"root": root, "folder": folder, "name": root.name}
    connection.execute(QUESTIONS.format(**words))
    return _count(connection.execute(CHUNKS.format(**words)))


def _beir(connection: duckdb.DuckDBPyConnection, root: Path, folder: Path) -> int:
    corpus = f"(select row_number() over () - 1 as doc_id, * from read_ndjson('{root}/corpus.jsonl', columns={CORPUS}))"
    queries = f"(select row_number() over () - 1 as qid, * from read_ndjson('{root}/queries.jsonl'))"

    def write(rows: str, name: str) -> int:
        return _count(connection.execute(f"copy ({rows}) to '{folder}/{name}.ndjson' (format json)"))

    connection.execute(f"create temp table numbers as select doc_id, _id from {corpus}")
    write("from numbers", "ids")
    documents = write(f"select doc_id, title || ' ' || text as text from {corpus}", "documents")
    for split in ("train", "test"):
        judged = f"read_csv('{root}/qrels/{split}.tsv', delim='\t', header=true)"
        joined = f'{judged} r join {queries} q on r."query-id" = q._id join numbers n on r."corpus-id" = n._id'
        connection.execute(f"create temp table {split} as select qid, doc_id, q.text as query from {joined}")
        write(f"select qid, list(doc_id) as positive_doc_ids from {split} group by qid", f"{split}-positives")
        write(f"select distinct qid, query as text from {split}", f"{split}-queries")
    drawn = f"select qid, doc_id, floor(random() * {documents})::bigint as other from train, range(2)"
    connection.execute(f"create temp table triplets as {drawn}")
    write("select qid, doc_id as pos_doc_id, other as neg_doc_id from triplets", "triplets")
    named = "select doc_id from triplets union select other from triplets"
    written = f"read_ndjson('{folder}/documents.ndjson', columns={{doc_id: 'BIGINT', text: 'VARCHAR'}})"
    write(f"from {written} where doc_id in ({named})", "train-documents")
    return documents


def _count(result: duckdb.DuckDBPyConnection) -> int:
    row = result.fetchone()
    return int(row[0]) if row else 0


if __name__ == "__main__":
    time_and_print(convert)
