"""The rules of light-splade datasets, with what upstream's loaders and trainers make of each bad state.

Facts: bizreach-inc/light-splade, commit e1155e5 (data modules identical to release 0.1.3).

A long module, because it is one table of texts: nothing in it is code.
"""

from __future__ import annotations

from ragdatakit.schemas.declarations import Rule
from ragdatakit.schemas.fixes import COPY_WORDS, COUNTED_COPY_WORDS, SYNTAX_WORDS

_LOADER = "data/ndjson_loader.py:NdjsonLoader"
_TRIPLET = "data/triplet_dataset.py:_validate"
_DISTIL = "data/triplet_distil_dataset.py:_validate"
_SCORES = "data/pair_score.py"

FILE_RULES: tuple[Rule, ...] = (
    Rule(
        "SP101 missing-path error",
        summary="A path that the data config names does not exist, or is a folder without a shard.",
        message="{key} names {value}, {reason}",
        upstream="the trainer stops with ValueError: the data_path is not valid",
        hint="correct the path, or write the file; relative paths start at the folder the trainer is run in",
        source=f"light-splade: {_LOADER}.__init__",
        bad="validation_positives: data/validaton/positive_lists.ndjson",
        good="validation_positives: data/validation/positive_lists.ndjson",
    ),
    Rule(
        "SP102 wrong-suffix error",
        summary="A data file whose name does not end in .ndjson or .ndjson.gz (lower case).",
        message="the name does not end in .ndjson or .ndjson.gz",
        upstream="the loader refuses the file with ValueError",
        hint="rename the file; the content may stay as it is",
        bad="train/query_master.jsonl",
        good="train/query_master.ndjson",
        source=f"light-splade: {_LOADER}.__init__",
    ),
    Rule(
        "SP103 missing-file error",
        summary="A split without one of the files that every loader opens.",
        message="there is no {file} in {split}{beside}",
        upstream="the dataset class stops with ValueError: the data_path is not valid",
        hint="write the file into the folder of the split, or remove the split",
        source=f"light-splade: {_LOADER}.__init__",
        bad="train/doc_master.ndjson\ntrain/triplets.ndjson",
        good=("train/query_master.ndjson\ntrain/doc_master.ndjson\ntrain/positive_lists.ndjson\ntrain/triplets.ndjson"),
    ),
    Rule(
        "SP104 loaded-twice warning",
        summary="A folder of shards holds the same data as .ndjson and as .ndjson.gz.",
        message="is next to {other}, and a folder of shards loads both",
        upstream="every record counts twice, the later text or list replaces the earlier one",
        hint="delete one of the two",
        source=f"light-splade: {_LOADER}._get_file_list",
        bad="triplets/part-1.ndjson\ntriplets/part-1.ndjson.gz",
        good="triplets/part-1.ndjson.gz\ntriplets/part-2.ndjson.gz",
    ),
    Rule(
        "SP105 no-records error",
        summary="A master or a list of a split without any record, or a training split without triplets.",
        message="there is no record in it",
        upstream="the loader accepts it and the training set has length 0",
        hint="write the records, or remove the split",
        source=f"light-splade: {_TRIPLET}",
        bad="(train/triplets.ndjson is empty)",
        good='{"qid": 1, "pos_doc_id": 10, "neg_doc_id": 12}',
    ),
    Rule(
        "SP106 unused-triplets warning",
        summary="Triplets of a validation split.",
        message="triplets of a validation split",
        upstream="no trainer reads them",
        hint="delete the file, unless a tool of your own reads it",
        source="ragdata's own check: light-splade's loader reads it",
        bad="validation/triplets.ndjson",
        good="train/triplets.ndjson",
    ),
    Rule(
        "SP107 missing-config-key error",
        summary="The data config lacks a key that the trainer needs.",
        message="the key {key} is missing",
        upstream="the trainer stops with TypeError: missing 1 required positional argument",
        hint="add the key; `eval_loss_size` is a number of samples, the others are paths",
        bad="train_triplets: train/triplets.ndjson",
        good="train_triplets: train/triplets.ndjson\neval_loss_size: 1",
        source="light-splade: schemas/config/data_training.py",
    ),
    Rule(
        "SP108 eval-loss-size-too-large error",
        summary="eval_loss_size is not smaller than the number of training samples.",
        message="eval_loss_size {value} is not smaller than the {samples} training samples",
        upstream="random_split leaves an empty training set without an error, all samples go to the evaluation part",
        hint="lower eval_loss_size below the number of training samples (triplets; queries when distilling)",
        source="light-splade: examples/run_train_*.py",
        bad="eval_loss_size: 2  # of 2 training samples",
        good="eval_loss_size: 1  # of 2 training samples",
    ),
    Rule(
        "SP109 broken-config error",
        summary="The data config is not a YAML mapping, or an interpolation in it cannot be resolved.",
        message="the data config {reason}",
        upstream="the trainer stops before it reads any data",
        hint="correct the YAML; ${.KEY} takes the value of KEY in the same mapping",
        source="schemas/config/data_training.py",
        bad="train_queries: ${.NOWHERE}/train/query_master.ndjson",
        good="DATA_PATH: data\ntrain_queries: ${.DATA_PATH}/train/query_master.ndjson",
    ),
    Rule(
        "SP110 ignored-shard error",
        summary="A file in a folder of shards that the loader does not read: another ending, or in a subfolder.",
        message="is in a folder of shards, but not an .ndjson or .ndjson.gz file directly in it",
        upstream="the loader silently passes over it, and its records are missing",
        hint="end its name in .ndjson and put it directly into the folder of shards, or move it out of that",
        bad="train/triplets/part-1.jsonl",
        good="train/triplets/part-1.ndjson",
        source=f"light-splade: {_LOADER}._get_file_list",
    ),
    Rule(
        "SP111 invalid-json error",
        summary="A line that is not one JSON object.",
        message="not JSON: {reason}",
        upstream="the loader stops with JSONDecodeError and names neither the file nor the line",
        hint="write one JSON object per line; repair or remove this line",
        fix=SYNTAX_WORDS,
        reveals=(
            *("SP12", "SP13", "SP2", "SP3", "SP4", "RD115", "RD2"),
            *("line-not-object", "unexpected-field", "missing-field"),
        ),
        bad='{"qid": 1, "text": "x",}',
        good='{"qid": 1, "text": "x"}',
        source=f"light-splade: {_LOADER}.__call__",
    ),
    Rule(
        "SP112 blank-line error",
        summary="A blank line, also as the last one.",
        message="a blank line",
        upstream="the loader stops with JSONDecodeError: Expecting value",
        hint="remove the line (`sed -i '/^\\s*$/d' FILE`)",
        source=f"light-splade: {_LOADER}.__call__",
        fix="safe: remove the blank line",
        bad='{"qid": 1, "text": "how to prune a pear tree"}\n\n{"qid": 2, "text": "tide times"}',
        good='{"qid": 1, "text": "how to prune a pear tree"}\n{"qid": 2, "text": "tide times"}',
    ),
    Rule(
        "SP113 line-not-object error",
        summary="A line that is JSON, but not an object.",
        message="{value} is not an object",
        upstream="the loader stops with TypeError: argument after ** must be a mapping",
        hint='write one JSON object per line, such as {"qid": 1, "text": "…"}',
        bad="[1, 2]",
        good='{"qid": 1, "text": "x"}',
        source=f"light-splade: {_LOADER}.__call__",
    ),
    Rule(
        "SP114 unexpected-field error",
        summary="A field that the record does not have.",
        message="unexpected field {field}",
        upstream="the loader stops with TypeError: got an unexpected keyword argument",
        hint="remove the field: the loader takes exactly the documented ones",
        fix="unsafe: rename the field where it seems to be meant for a missing one, else remove it",
        bad='{"qid": 1, "text": "x", "lang": "en"}',
        good='{"qid": 1, "text": "x"}',
        source="light-splade: schemas/data/__init__.py",
    ),
    Rule(
        "SP115 missing-field error",
        summary="A field of the record is missing.",
        message="the field {field} is {fault}",
        upstream="the loader stops with TypeError: missing 1 required positional argument",
        hint="add the field: every field is required",
        bad='{"qid": 1}',
        good='{"qid": 1, "text": "x"}',
        source="light-splade: schemas/data/__init__.py",
    ),
)

VALUE_RULES: tuple[Rule, ...] = (
    Rule(
        "SP121 id-not-integer error",
        summary="An id that is not an integer: text, a decimal, a boolean, null, a list.",
        message="{field} is {value}, expected an integer",
        upstream="a text never matches the integer id of another file, 1.0 and true count as 1 in training and are "
        "never found in evaluation, a list crashes the loader",
        hint="write the id as an integer, without quotes or decimal point",
        fix="safe: write the integer without quotes, or without a decimal point",
        reveals=("duplicate-positive", "SP20", "SP4"),
        bad='{"qid": "1", "text": "x"}',
        good='{"qid": 1, "text": "x"}',
        source="light-splade: data/master.py, evaluator/evaluator.py",
    ),
    Rule(
        "SP122 id-beyond-int64 error",
        summary="An id that does not fit a 64-bit integer.",
        message="{field} is {value}, beyond a 64-bit integer",
        upstream="the loader keeps it, but every step that goes through pandas, Arrow or orjson fails or rounds it",
        hint="number the records anew with smaller ids",
        source="light-splade: data/master.py",
        bad='{"doc_id": 9223372036854775808, "text": "x"}',
        good='{"doc_id": 9223372036854775807, "text": "x"}',
    ),
    Rule(
        "SP123 text-not-string error",
        summary="A text that is null, a number, a list or an object.",
        message="{field} is {value}, expected a string",
        upstream="the loader accepts it and the tokenizer stops in the middle of training",
        hint="write a string",
        bad='{"doc_id": 1, "text": null}',
        good='{"doc_id": 1, "text": "x"}',
        source="light-splade: data/base.py:tokenize",
    ),
    Rule(
        "SP124 positives-not-list error",
        summary="positive_doc_ids is not a list.",
        message="{field} is {value}, expected a list of integers",
        upstream="null and numbers stop the loader with TypeError, text is read character by character",
        hint="write a list of document ids",
        fix="safe: put the id into a list",
        bad='{"qid": 1, "positive_doc_ids": "10"}',
        good='{"qid": 1, "positive_doc_ids": [10]}',
        source="light-splade: data/positive_list.py",
    ),
    Rule(
        "SP125 empty-positive-list error",
        summary="A query whose positive list is empty.",
        message="the list of positives is empty",
        upstream="the loader stops with ValueError: qid has no positive document",
        hint="add a positive document, or remove the query from the split",
        fix="unsafe: remove the list",
        reveals=("query-without-positives",),
        bad='{"qid": 1, "positive_doc_ids": []}',
        good='{"qid": 1, "positive_doc_ids": [10]}',
        source=f"light-splade: {_TRIPLET}",
    ),
    Rule(
        "SP126 duplicate-positive warning",
        summary="A document twice in one positive list.",
        message="document {value} appears twice in the list",
        upstream="when distilling it is drawn twice as often",
        hint="keep one of them",
        source="light-splade: data/positive_list.py",
        fix="unsafe: remove the second one",
        bad='{"qid": 1, "positive_doc_ids": [10, 10]}',
        good='{"qid": 1, "positive_doc_ids": [10]}',
    ),
    Rule(
        "SP131 blank-text warning",
        summary="A text that is empty or white space only.",
        message="the text is {value}",
        upstream="it encodes as special tokens only",
        hint="write the text, or remove the record and what refers to it",
        source="ragdata's own check: light-splade's loader reads it",
        bad='{"doc_id": 12, "text": " "}',
        good='{"doc_id": 12, "text": "The museum opens at nine."}',
    ),
    Rule(
        "SP132 very-long-text warning per-file",
        summary="A text that certainly has more tokens than the collator keeps.",
        message="the text has {length} characters",
        upstream="the collator silently cuts it at max_length (512 tokens by default)",
        hint="split the document, or raise max_length",
        source="light-splade: data/base.py",
        bad=('{"doc_id": 12, "text": "The museum opens at nine on day 1. … (600 words)"}'),
        good=(
            '{"doc_id": 12, "text": "The museum opens at nine on day 1."}\n'
            '{"doc_id": 13, "text": "The museum opens at nine on day 2."}'
        ),
    ),
    Rule(
        "SP133 field-order warning per-file",
        summary="A master whose first field is not the id.",
        message="the first field is {field}, not the id",
        upstream="the cross-encoder step renames the columns by position, so ids and texts change places",
        hint="write the id first and the text second",
        fix="safe: put the id first",
        bad='{"text": "x", "qid": 1}',
        good='{"qid": 1, "text": "x"}',
        source="light-splade: examples/run_predict_cross_encoder.py:load_master",
        counted=False,
    ),
    Rule(
        "SP134 numeric-texts warning per-file",
        summary="Every text of a master looks like a number.",
        message="all {records} texts look like numbers",
        upstream="the cross-encoder step reads the column as numbers",
        hint="check that the right column was exported as text",
        source="light-splade: examples/run_predict_cross_encoder.py:load_master",
        bad='{"doc_id": 10, "text": "41"}\n{"doc_id": 11, "text": "42"}',
        good='{"doc_id": 10, "text": "platform 41"}\n{"doc_id": 11, "text": "platform 42"}',
    ),
)

REFERENCE_RULES: tuple[Rule, ...] = (
    Rule(
        "SP201 dangling-qid error",
        summary="A triplet whose query is not in the query master.",
        message="query {value} is not in the query master",
        upstream="the loader accepts it and training stops with IndexError when the sample is drawn",
        hint="add the query to query_master, or remove the triplet",
        fix="unsafe: remove the triplet",
        bad='{"qid": 77, "pos_doc_id": 10, "neg_doc_id": 12}',
        good='{"qid": 1, "pos_doc_id": 10, "neg_doc_id": 12}',
        source="not checked by light-splade",
    ),
    Rule(
        "SP202 dangling-doc-id error",
        summary="A triplet whose document is not in the document master.",
        message="{field} {value} is not in the document master",
        upstream="the loader stops with ValueError: doc_id from triplet does not exist in document master",
        hint="add the document to doc_master, or remove the triplet",
        source=f"light-splade: {_TRIPLET}",
        fix="unsafe: remove the triplet",
        bad='{"qid": 1, "pos_doc_id": 10, "neg_doc_id": 99}  (no document 99)',
        good='{"qid": 1, "pos_doc_id": 10, "neg_doc_id": 12}',
    ),
    Rule(
        "SP203 dangling-positive-qid error",
        summary="A positive list whose query is not in the query master.",
        message="query {value} is not in the query master",
        upstream="the loader stops with ValueError: qid from the positive list does not exist in the query master",
        hint="add the query to query_master, or remove the list",
        source=f"light-splade: {_TRIPLET}",
        fix="unsafe: remove the positive list",
        bad='{"qid": 9, "positive_doc_ids": [12]}  (no query 9)',
        good='{"qid": 1, "positive_doc_ids": [12]}',
    ),
    Rule(
        "SP204 dangling-positive-doc-id error",
        summary="A positive document that is not in the document master.",
        message="document {value} is not in the document master",
        upstream="the loader stops with ValueError: doc_id from positive list does not exist in document master",
        hint="add the document to doc_master, or remove the id from the list",
        source=f"light-splade: {_TRIPLET}",
        fix="unsafe: remove the document from the list; if it is the only one, the list",
        reveals=("query-without-positives",),
        bad='{"qid": 1, "positive_doc_ids": [10, 99]}  (no document 99)',
        good='{"qid": 1, "positive_doc_ids": [10]}',
    ),
    Rule(
        "SP205 query-without-positives error",
        summary="A query of the master without a positive list.",
        message="query {value} has no positive list",
        upstream="the loader stops with ValueError: qid from the query master does not exist in the positive list",
        hint="add a line to positive_lists, or remove the query",
        source=f"light-splade: {_TRIPLET}",
        fix="unsafe: remove the query",
        reveals=("dangling-qid",),
        bad=(
            'query_master:   {"qid": 1, "text": "how to prune a pear tree"}\n'
            'positive_lists: {"qid": 2, "positive_doc_ids": [12]}'
        ),
        good=(
            'query_master:   {"qid": 1, "text": "how to prune a pear tree"}\n'
            'positive_lists: {"qid": 1, "positive_doc_ids": [10]}'
        ),
    ),
    Rule(
        "SP206 positive-not-listed error",
        summary="A triplet whose positive is not in the query's positive list.",
        message="document {value} is not in the positive list of its query",
        upstream="the loader accepts it and trains on a wrong positive",
        hint="add the document to the positive list, or remove the triplet",
        source="not checked by light-splade",
        bad=(
            'positive_lists: {"qid": 1, "positive_doc_ids": [10]}\n'
            'triplets:       {"qid": 1, "pos_doc_id": 11, "neg_doc_id": 12}'
        ),
        good=(
            'positive_lists: {"qid": 1, "positive_doc_ids": [10, 11]}\n'
            'triplets:       {"qid": 1, "pos_doc_id": 11, "neg_doc_id": 12}'
        ),
    ),
    Rule(
        "SP207 negative-is-positive error",
        summary="A triplet whose negative is a positive of the same query, or equals the triplet's positive.",
        message="document {value} is a positive of this query",
        upstream="the loader accepts it and training pushes a relevant document away",
        hint="draw another negative, or remove the triplet",
        source="not checked by light-splade",
        fix="unsafe: remove the triplet",
        bad='{"qid": 1, "pos_doc_id": 10, "neg_doc_id": 10}',
        good='{"qid": 1, "pos_doc_id": 10, "neg_doc_id": 12}',
    ),
    Rule(
        "SP208 query-without-triplet warning",
        summary="A query of the training split without any triplet.",
        message="query {value} has no triplet",
        upstream="it is never trained on",
        hint="add triplets, or remove the query",
        source="ragdata's own check: light-splade's loader reads it",
        bad=(
            'query_master: {"qid": 1, "text": "how to prune a pear tree"}\n'
            'triplets:     {"qid": 2, "pos_doc_id": 10, "neg_doc_id": 12}'
        ),
        good=(
            'query_master: {"qid": 1, "text": "how to prune a pear tree"}\n'
            'triplets:     {"qid": 1, "pos_doc_id": 10, "neg_doc_id": 12}'
        ),
    ),
    Rule(
        "SP209 unreferenced-document info per-file",
        summary="A training document that no list and no triplet names.",
        message="document {value} is named by no positive list and no triplet",
        upstream="it costs memory and is never used",
        hint="remove it, unless it serves as a retrieval pool",
        source="ragdata's own check: light-splade's loader reads it",
        bad=(
            'doc_master: {"doc_id": 13, "text": "The harbour office is closed."}\n'
            'triplets:   {"qid": 1, "pos_doc_id": 10, "neg_doc_id": 12}'
        ),
        good=(
            'doc_master: {"doc_id": 12, "text": "The harbour office is closed."}\n'
            'triplets:   {"qid": 1, "pos_doc_id": 10, "neg_doc_id": 12}'
        ),
    ),
    Rule(
        "SP210 shared-positive warning per-file",
        summary="A document that is a positive of several queries.",
        message="document {value} is a positive of several queries",
        upstream="with in_batch_negatives it becomes a false negative when they share a batch",
        hint="know it, or use another loss",
        source="ragdata's own check: light-splade's loader reads it",
        bad='{"qid": 1, "positive_doc_ids": [10]}\n{"qid": 2, "positive_doc_ids": [11, 10]}',
        good='{"qid": 1, "positive_doc_ids": [10]}\n{"qid": 2, "positive_doc_ids": [11]}',
    ),
    Rule(
        "SP301 duplicate-qid error",
        summary="A query id twice in the query master (over all its shards).",
        message="query {value} already exists in the query master",
        upstream="the last text wins and the query counts twice",
        keeps_last=True,
        hint="keep one of them, or give them different ids",
        source="light-splade: data/master.py:load_data",
        fix=COUNTED_COPY_WORDS,
        bad='{"qid": 2, "text": "tide times"}\n{"qid": 2, "text": "opening hours"}',
        good='{"qid": 2, "text": "tide times"}\n{"qid": 3, "text": "opening hours"}',
    ),
    Rule(
        "SP302 duplicate-doc-id error",
        summary="A document id twice in the document master (over all its shards).",
        message="document {value} already exists in the document master",
        upstream="the last text wins; in evaluation it shifts the rows of all later documents, so that scores "
        "belong to the wrong ones",
        keeps_last=True,
        hint="keep one of them, or give them different ids",
        source="light-splade: data/master.py:load_data, evaluator/sparse_indexer.py",
        fix=COUNTED_COPY_WORDS,
        bad=('{"doc_id": 11, "text": "The museum opens at nine."}\n{"doc_id": 11, "text": "It is closed on Mondays."}'),
        good=(
            '{"doc_id": 11, "text": "The museum opens at nine."}\n{"doc_id": 12, "text": "It is closed on Mondays."}'
        ),
    ),
    Rule(
        "SP303 duplicate-positive-list error",
        summary="Two positive lists for one query.",
        message="query {value} has a positive list already",
        upstream="the last list wins, the positives of the earlier one are silently lost",
        keeps_last=True,
        hint="merge the lists into one line",
        source="light-splade: data/positive_list.py",
        fix=("safe: remove a record that is equal in every field", "unsafe: put the documents of both lists into one"),
        bad='{"qid": 1, "positive_doc_ids": [10]}\n{"qid": 1, "positive_doc_ids": [13]}',
        good='{"qid": 1, "positive_doc_ids": [10, 13]}',
    ),
    Rule(
        "SP304 duplicate-scores error",
        summary="Two score lines for one query.",
        message="query {value} has scores already",
        upstream="the last line wins, the earlier scores are silently lost",
        keeps_last=True,
        hint="merge the scores into one line",
        source=f"light-splade: {_SCORES}",
        fix=COPY_WORDS,
        bad='{"qid": 1, "scores": {"10": 6.0}}\n{"qid": 1, "scores": {"12": -2.0}}',
        good='{"qid": 1, "scores": {"10": 6.0, "12": -2.0}}',
    ),
    Rule(
        "SP305 duplicate-text warning",
        summary="Two documents with the same text.",
        message="the text is that of an earlier document",
        upstream="with in-batch negatives a copy of the positive counts as a negative",
        hint="keep one document and point the lists to it",
        source="ragdata's own check: light-splade's loader reads it",
        bad=(
            '{"doc_id": 11, "text": "The museum opens at nine."}\n{"doc_id": 13, "text": "The museum opens at nine."}'
        ),
        good='{"doc_id": 11, "text": "The museum opens at nine."}',
    ),
    Rule(
        "SP306 duplicate-triplet warning",
        summary="The same triplet twice.",
        message="duplicate triplet",
        upstream="it is a sample of its own, so it weighs twice",
        hint="remove it, unless the weight is meant",
        source="light-splade: data/triplet_list.py",
        fix="unsafe: remove the second one",
        bad=('{"qid": 1, "pos_doc_id": 10, "neg_doc_id": 12}\n{"qid": 1, "pos_doc_id": 10, "neg_doc_id": 12}'),
        good='{"qid": 1, "pos_doc_id": 10, "neg_doc_id": 12}',
    ),
    Rule(
        "SP311 query-leak warning",
        summary="A query id or a query text in both train and validation.",
        message="the {field} {value} is also in the training split",
        upstream="the loader does not notice; the validation metric is inflated",
        hint="remove the query from one of the splits",
        source="ragdata's own check: light-splade's loader reads it",
        fix="unsafe: remove the query from the training split, with what refers to it there",
        reveals=("dangling-qid", "dangling-positive-qid"),
        bad=(
            'train:      {"qid": 1, "text": "how to prune a pear tree"}\n'
            'validation: {"qid": 1, "text": "how to prune a pear tree"}'
        ),
        good=(
            'train:      {"qid": 1, "text": "how to prune a pear tree"}\nvalidation: {"qid": 7, "text": "tide times"}'
        ),
    ),
    Rule(
        "SP312 conflicting-document warning",
        summary="A document id with different texts in train and validation.",
        message="document {value} has another text in the training split",
        upstream="the cross-encoder step merges both masters and keeps the first text",
        hint="give one of the documents another id",
        source="light-splade: examples/run_predict_cross_encoder.py:load_master",
        bad=(
            'train:      {"doc_id": 12, "text": "The museum opens at nine."}\n'
            'validation: {"doc_id": 12, "text": "The museum opens at ten."}'
        ),
        good=(
            'train:      {"doc_id": 12, "text": "The museum opens at nine."}\n'
            'validation: {"doc_id": 12, "text": "The museum opens at nine."}'
        ),
    ),
)

SCORE_RULES: tuple[Rule, ...] = (
    Rule(
        "SP401 query-without-scores error",
        summary="Distil: a query with positives but without a line of teacher scores.",
        message="query {value} has no line of teacher scores",
        upstream="the loader stops with IndexError: the qid does not exist in hard-negative scores",
        hint="score the query's documents with the teacher, or remove the query",
        source=f"light-splade: {_SCORES}:__getitem__",
        bad=(
            'positive_lists: {"qid": 2, "positive_doc_ids": [11]}\n'
            'scores:         {"qid": 1, "scores": {"10": 6.5, "12": -3.0}}'
        ),
        good=(
            'positive_lists: {"qid": 2, "positive_doc_ids": [11]}\n'
            'scores:         {"qid": 2, "scores": {"11": 6.5, "12": -3.0}}'
        ),
    ),
    Rule(
        "SP402 positive-without-score error",
        summary="Distil: a positive document without a teacher score.",
        message="positive document {value} has no teacher score for its query",
        upstream="the loader stops with ValueError: the pair has no hard-negative score",
        hint="add the score, or remove the document from the positive list",
        source=f"light-splade: {_DISTIL}",
        bad=(
            'positive_lists: {"qid": 1, "positive_doc_ids": [10]}\nscores:         {"qid": 1, "scores": {"12": -3.0}}'
        ),
        good=(
            'positive_lists: {"qid": 1, "positive_doc_ids": [10]}\n'
            'scores:         {"qid": 1, "scores": {"10": 6.5, "12": -3.0}}'
        ),
    ),
    Rule(
        "SP403 no-negative error",
        summary="Distil: a training query for which no scored document is a usable negative.",
        message="query {value} has no scored document that is in the document master and not a positive",
        upstream="the loader stops with ValueError: qid has no available negative document",
        hint="score some negatives of the query",
        source=f"light-splade: {_DISTIL}",
        bad='{"qid": 1, "scores": {"10": 6.5}}  (10 is its positive)',
        good='{"qid": 1, "scores": {"10": 6.5, "12": -3.0}}',
    ),
    Rule(
        "SP404 no-validation-negative warning",
        summary="Distil: a validation query for which no scored document is a usable negative.",
        message="query {value} has no scored document that is in the document master and not a positive",
        upstream="it loads, and drawing a sample raises ValueError: Sample larger than population",
        hint="score some negatives of the query",
        source="ragdata's own check: light-splade's loader reads it",
        bad='{"qid": 3, "scores": {"12": 4.75}}  (12 is its positive)',
        good='{"qid": 3, "scores": {"12": 4.75, "13": -1.5}}',
    ),
    Rule(
        "SP405 score-key-not-integer error",
        summary="A score key that is not a document id.",
        message="the key {value} is not a document id",
        upstream="int() refuses it and the loader stops with ValueError",
        hint="write the document id, an integer in quotes",
        bad='{"qid": 1, "scores": {"10.0": 6.5}}',
        good='{"qid": 1, "scores": {"10": 6.5}}',
        source=f"light-splade: {_SCORES}",
    ),
    Rule(
        "SP406 colliding-score-keys error",
        summary='Two score keys that become the same document id (such as "10" and "010").',
        message="the key {value} means document {doc_id}, which has a score already",
        upstream="the last score wins",
        hint="keep one of them",
        source=f"light-splade: {_SCORES}",
        bad='{"qid": 1, "scores": {"10": 6.5, "010": 5.0, "12": -3.0}}',
        good='{"qid": 1, "scores": {"10": 6.5, "12": -3.0}}',
    ),
    Rule(
        "SP407 score-not-number error",
        summary="A score that is null, text, a boolean, NaN or infinite.",
        message="the score of document {key} is {value}, expected a finite number",
        upstream="the loader accepts it; the collator raises, or the loss becomes nan",
        hint="write the teacher's number, or remove the document",
        fix="safe: write the number without quotes",
        bad='{"qid": 1, "scores": {"10": null}}',
        good='{"qid": 1, "scores": {"10": 6.5}}',
        source="light-splade: collator, losses",
    ),
    Rule(
        "SP408 scores-not-object error",
        summary="scores is not an object of document id and number.",
        message="{field} is {value}, expected an object of document ids and numbers",
        upstream="the loader stops with AttributeError: object has no attribute 'items'",
        hint='write {"10": 6.5, "12": -3.0}',
        source=f"light-splade: {_SCORES}",
        bad='{"qid": 1, "scores": [6.5, -3.0]}',
        good='{"qid": 1, "scores": {"10": 6.5, "12": -3.0}}',
    ),
    Rule(
        "SP411 reversed-scores warning",
        summary="Distil: every positive of a query scores below all its negatives.",
        message="every positive of query {value} scores below all its negatives",
        upstream="the student learns the ranking upside down",
        hint="check the sign of the teacher's scores",
        source="ragdata's own check: light-splade's loader reads it",
        bad='{"qid": 1, "scores": {"10": -6.5, "12": 3.0}}  (10 is its positive)',
        good='{"qid": 1, "scores": {"10": 6.5, "12": -3.0}}',
    ),
    Rule(
        "SP412 constant-scores warning per-file",
        summary="All scores of a query are equal (the initial file has 1.0 everywhere).",
        message="all scores of query {value} are equal",
        upstream="there is no teacher signal to learn from",
        hint="run the cross-encoder step, and name its output in the config",
        source="ragdata's own check: light-splade's loader reads it",
        bad='{"qid": 1, "scores": {"10": 1.0, "12": 1.0}}',
        good='{"qid": 1, "scores": {"10": 6.5, "12": -3.0}}',
    ),
    Rule(
        "SP413 scores-for-unknown warning per-file",
        summary="Scores for a query or a document that no master has.",
        message="{what} is in no master",
        upstream="the score is ignored, but held in memory",
        hint="remove it, or add what is missing to the master",
        source="ragdata's own check: light-splade's loader reads it",
        bad='{"qid": 1, "scores": {"10": 6.5, "12": -3.0, "99": -1.0}}  (no document 99)',
        good='{"qid": 1, "scores": {"10": 6.5, "12": -3.0}}',
    ),
    Rule(
        "SP414 suspicious-score-scale warning per-file",
        summary="Scores that are all within 0..1, or near a million (capped logits).",
        message="{what}",
        upstream="the margin loss depends on the scale: probabilities train weakly, capped logits give losses of 10^12",
        hint="use the teacher's logits",
        source="light-splade: examples/run_predict_cross_encoder.py:inverse_sigmoid",
        bad='{"qid": 1, "scores": {"10": 0.9, "12": 0.85, "13": 0.8}}',
        good='{"qid": 1, "scores": {"10": 6.5, "12": -3.0, "13": -4.25}}',
    ),
)

RULES = FILE_RULES + VALUE_RULES + REFERENCE_RULES + SCORE_RULES
