"""Codes of texts: the same in every thread, and nothing of a block or of much hashing is held."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa

from ragdatakit.columnar import string_hash
from ragdatakit.columnar.string_hash import hash_columns, hash_strings


def test_threads_at_once_give_the_same_codes() -> None:
    blocks = [pa.array([f"{block} {row}" for row in range(5000)]) for block in range(8)]
    one_by_one = [hash_strings(block) for block in blocks]

    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(hash_strings, blocks * 4))

    assert all(map(np.array_equal, together, one_by_one * 4))


def test_a_block_is_let_go() -> None:
    before = pa.total_allocated_bytes()
    column = pa.concat_arrays([pa.array(["some text"] * 100_000)])

    assert len(set(hash_columns({"text": column})["text"].tolist())) == 1
    del column
    assert pa.total_allocated_bytes() - before < 100_000


def test_a_connection_that_has_hashed_much_goes_with_its_thread() -> None:
    shared = len(string_hash._idle)
    column = pa.array(["some text"] * 200_000)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(hash_strings, column).result()
        pool.submit(hash_strings, column).result()

    assert len(string_hash._idle) <= shared
