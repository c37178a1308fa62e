"""Finds the nodes of a graph that a text names: the longest names first, else the names that are most like it.

Names and texts are compared as atoms: words in small letters after Unicode NFKC, runs of katakana, and single
characters in the other scripts that put no blanks between words (Han, hiragana, Thai and their like) or hang endings
on names (Hangul). Blanks and punctuation do not count, nor does an article at the beginning of a name. A name is found
by a 64-bit hash of its atoms and then compared itself: a million names need no object each.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ragdatakit.retrieval.terms.stop_words import STOP_WORDS
from ragdatakit.schemas.texts import text_hash

if TYPE_CHECKING:
    import numpy.typing as npt

    Arrays = dict[str, npt.NDArray[Any]]

VERSION = 1
"""Counted up whenever other names are found in the same text."""
LONGEST = 32
"""Atoms of the longest name that is looked for in texts."""
MOST_ALIKE = 5
"""Names that are taken where none is in the text."""
_MOST_OF_A_KEY = 64  # nodes spelled alike: a graph of a hundred thousand "untitled" must not start everywhere
_MOST_COMPARED = 1 << 16
"""Nodes that share a word with the text and are compared with it."""
_BATCH = 256
_K1, _B = 1.2, 0.75
_ODD = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1
_REMEMBERED = 1 << 19  # atoms; the cache is emptied when it is full

_KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_SINGLE = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3041-\u309f\u3130-\u318f"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)
_ASCII_ATOM = re.compile("[a-z0-9]+")
_ATOM = re.compile(rf"[{_KATAKANA}]+|[{_SINGLE}]|[^\W_{_KATAKANA}{_SINGLE}]+")
_ARTICLES = frozenset(("the", "a", "an"))
_NO_NAMES = STOP_WORDS["english"] | frozenset(
    "who whom whose what which when where why how he him his she her hers its i me my we us our you your them there "
    "do does did has have had been being were am can could would should may might must from than so also one "
    "first second last more most many much other same all any both each".split()
)
"""A name of these words alone is not looked for."""


class Terms(Protocol):
    """What cuts texts into the terms by which names are alike: a `Tokenizer`."""

    def tokens(self, text: str) -> list[str]:
        """The terms of a text in order."""
        ...


def atoms(text: str) -> list[str]:
    """What of a text is compared with names, in order."""
    if text.isascii():
        return _ASCII_ATOM.findall(text.lower())
    return _ATOM.findall(unicodedata.normalize("NFKC", text).casefold())


def _key(name: str) -> list[str]:
    """The atoms of a name, without an article before others."""
    found = atoms(name)
    return found[1:] if len(found) > 1 and found[0] in _ARTICLES else found


def _is_sought(key: list[str]) -> bool:
    if not 0 < len(key) <= LONGEST or (len(key) == 1 and len(key[0]) < 2):
        return False
    return not all(atom in _NO_NAMES for atom in key)


class _AtomHashes(dict[str, int]):
    def __missing__(self, atom: str) -> int:
        if len(self) >= _REMEMBERED:
            self.clear()
        self[atom] = found = text_hash(atom)
        return found


@cache
def _separator() -> int:
    """Between the texts of a batch: an atom that no name has."""
    return text_hash("\n")


class NodeLinker:
    """Links texts to the names of nodes, which are known by their places in ``names``.

    ``tokenizer`` gives the terms by which names are alike; the files of a linker are good for one tokenizer only. Safe
    to call from one thread at a time.
    """

    def __init__(self, names: Sequence[str], tokenizer: Terms) -> None:
        """Reads all names: about ten seconds and 100 MB for a million. `open` reads what `save` wrote."""
        self._names, self._tokenizer = names, tokenizer
        self._atoms = _AtomHashes()
        self._arrays = self._key_arrays() | self._term_arrays()

    @classmethod
    def open(cls, folder: Path, names: Sequence[str], tokenizer: Terms) -> NodeLinker:
        """A linker whose files `save` wrote into the folder, for the same names and tokenizer."""
        linker = cls.__new__(cls)
        linker._names, linker._tokenizer = names, tokenizer
        linker._atoms = _AtomHashes()
        linker._arrays = {
            name: np.load(folder / f"link.{name}.npy", mmap_mode="r", allow_pickle=False).view(np.ndarray)
            for name in _ARRAYS
        }
        return linker

    def save(self, folder: Path) -> None:
        """Write the linker, but not the names, into a folder."""
        for name, values in self._arrays.items():
            np.save(folder / f"link.{name}.npy", values, allow_pickle=False)

    def link(self, text: str, most: int = 20) -> list[tuple[int, float]]:
        """The nodes that a text names, in the order of the text, with weight 1.

        Where it names none: up to `MOST_ALIKE` nodes whose names are most like it (BM25), the best first, which has
        weight 1. Empty where no name has a word of the text.
        """
        (found,) = self._found([text])
        if found:
            return [(node, 1.0) for node in found[:most]]
        return self.alike(text, min(most, MOST_ALIKE))

    def named(self, texts: Iterable[str]) -> Iterator[list[int]]:
        """For each text the nodes whose names are in it, each once, in the order of the text."""
        rest = iter(texts)
        while batch := list(islice(rest, _BATCH)):
            yield from self._found(batch)

    def exact(self, name: str) -> int | None:
        """The first node of this very name, else the first whose name differs in case, blanks or punctuation only."""
        key = _key(name)
        if not key:
            return next((n for n in self._of_key(text_hash(name)) if self._names[n] == name), None)
        same = [n for n in self._of_key(self._key_hash(key)) if _key(self._names[n]) == key]
        return next((n for n in same if self._names[n] == name), same[0] if same else None)

    # names in texts

    def _key_arrays(self) -> Arrays:
        """All names by the hashes of their keys, and those that are looked for in texts, with their lengths."""
        hashes, sought = array("Q"), bytearray()
        lengths = bytearray(LONGEST + 1)
        for name in self._names:
            key = _key(name)
            hashes.append(self._key_hash(key) if key else text_hash(name))
            wanted = _is_sought(key)
            sought.append(wanted)
            if wanted:
                lengths[len(key)] = 1
        listed = np.frombuffer(hashes, np.uint64) if hashes else np.empty(0, np.uint64)
        order = np.argsort(listed, kind="stable").astype(np.int32)
        return {
            "keys": listed[order],
            "nodes": order,
            "sought": np.frombuffer(sought, np.bool_)[order] if sought else np.empty(0, np.bool_),
            "lengths": np.flatnonzero(np.frombuffer(lengths, np.uint8)).astype(np.int32),
        }

    def _key_hash(self, key: list[str]) -> int:
        found = 0
        for atom in key:
            found = (found * _ODD + self._atoms[atom]) & _MASK
        return found

    def _of_key(self, key_hash: int) -> list[int]:
        """The nodes whose keys have this hash, in their order."""
        keys = self._arrays["keys"]
        first = int(np.searchsorted(keys, np.uint64(key_hash)))
        last = int(np.searchsorted(keys, np.uint64(key_hash), "right"))
        return [int(node) for node in self._arrays["nodes"][first : min(last, first + _MOST_OF_A_KEY)]]

    def _found(self, texts: Sequence[str]) -> list[list[int]]:
        """For each text the nodes that it names, each once, from left to right; of names that overlap the longest."""
        words: list[str] = []
        begins: list[int] = []
        for text in texts:
            begins.append(len(words))
            words += atoms(text)
            words.append("")
        taken = bytearray(len(words))
        by_place: list[tuple[int, int, list[int]]] = []
        compared: dict[tuple[str, ...], list[int]] = {}
        for length, place, key_hash in self._hits(words):
            end = place + length
            if any(taken[place:end]):
                continue
            key = tuple(words[place:end])
            if key not in compared:
                compared[key] = [n for n in self._of_key(key_hash) if tuple(_key(self._names[n])) == key]
            nodes = compared[key]
            if nodes:
                taken[place:end] = b"\1" * length
                by_place.append((place, end, nodes))
        by_place.sort()
        found: list[list[int]] = [[] for _ in texts]
        seen: set[tuple[int, int]] = set()
        number = 0
        for place, _, nodes in by_place:
            while number + 1 < len(begins) and begins[number + 1] <= place:
                number += 1
            if (number, nodes[0]) not in seen:
                seen.add((number, nodes[0]))
                found[number] += _as_spelled(nodes, self._names, texts[number])
        return found

    def _hits(self, words: list[str]) -> Iterator[tuple[int, int, int]]:
        """(atoms, place, hash) of all runs of atoms that may be names: the longest first, then by place."""
        keys, sought = self._arrays["keys"], self._arrays["sought"]
        if not len(keys):
            return
        separator = _separator()
        single = np.fromiter((self._atoms[w] if w else separator for w in words), np.uint64, len(words))
        wanted = {int(length) for length in self._arrays["lengths"]}
        runs, hits = single, []
        for length in range(1, min(max(wanted, default=0), len(words)) + 1):
            if length > 1:
                runs = runs[:-1] * np.uint64(_ODD) + single[length - 1 :]
            if length in wanted:
                places = np.searchsorted(keys, runs)
                np.minimum(places, len(keys) - 1, out=places)
                same = np.flatnonzero((keys[places] == runs) & sought[places])
                hits.append((length, same, runs[same]))
        for length, same, found in reversed(hits):
            for place, key_hash in zip(same.tolist(), found.tolist(), strict=True):
                yield length, place, key_hash

    # names like a text

    def _term_arrays(self) -> Arrays:
        """For each term the names that have it."""
        hashes, nodes, lengths = array("Q"), array("i"), array("H")
        remembered = _AtomHashes()
        for node, name in enumerate(self._names):
            terms = set(self._tokenizer.tokens(name[:1000]))
            hashes.extend([remembered[term] for term in terms])
            nodes.extend([node] * len(terms))
            lengths.append(min(len(terms), 65535))
        if not hashes:
            nothing: Arrays = {
                "terms": np.empty(0, np.uint64),
                "postings": np.empty(0, np.int32),
                "starts": np.zeros(1, np.int64),
                "sizes": np.zeros(len(self._names), np.uint16),
            }
            return nothing
        listed = np.frombuffer(hashes, np.uint64)
        order = np.argsort(listed, kind="stable")
        terms_, starts = np.unique(listed[order], return_index=True)
        return {
            "terms": terms_,
            "starts": np.append(starts, len(listed)).astype(np.int64),
            "postings": np.frombuffer(nodes, np.int32)[order],
            "sizes": np.frombuffer(lengths, np.uint16),
        }

    def alike(self, text: str, most: int = MOST_ALIKE) -> list[tuple[int, float]]:
        """The nodes whose names share terms with a text, by falling BM25 score, then by node; the best has weight 1."""
        terms, starts = self._arrays["terms"], self._arrays["starts"]
        postings, sizes = self._arrays["postings"], self._arrays["sizes"]
        if not len(terms) or most < 1:
            return []
        lists: list[npt.NDArray[np.int32]] = []
        for term in dict.fromkeys(self._tokenizer.tokens(text)):
            wanted = np.uint64(text_hash(term))
            place = int(np.searchsorted(terms, wanted))
            if place < len(terms) and terms[place] == wanted:
                lists.append(postings[int(starts[place]) : int(starts[place + 1])])
        compared: list[npt.NDArray[np.int32]] = []
        weights: list[npt.NDArray[np.float64]] = []
        total, room = len(sizes), _MOST_COMPARED
        for nodes in sorted(lists, key=len):  # rare terms decide; what has only common ones need not be looked at
            room -= len(nodes)
            if compared and room < 0:
                break
            compared.append(nodes)
            idf = np.log1p((total - len(nodes) + 0.5) / (len(nodes) + 0.5))
            weights.append(np.full(len(nodes), idf))
        if not compared:
            return []
        found, which = np.unique(np.concatenate(compared), return_inverse=True)
        mean = len(postings) / total
        scores = np.bincount(which, np.concatenate(weights)) / (1 + _K1 * (1 - _B + _B * sizes[found] / mean))
        best = np.lexsort((found, -scores))[:most]
        return [(int(found[i]), float(scores[i] / scores[best[0]])) for i in best]


def names_in_texts(names: Sequence[str], texts: Iterable[str]) -> Iterator[list[int]]:
    """For each text the places of the names that are in it."""
    return iter(NodeLinker(names, _Atoms()).named(texts))


class _Atoms:
    """Terms of a linker that is asked for names only."""

    def tokens(self, text: str) -> list[str]:
        return atoms(text)


_ARRAYS = ("keys", "nodes", "sought", "lengths", "terms", "starts", "postings", "sizes")


def _as_spelled(nodes: list[int], names: Sequence[str], text: str) -> list[int]:
    """Of nodes whose names differ in spelling only: those whose very name is in the text, if there are any."""
    if len(nodes) == 1:
        return nodes
    return [n for n in nodes if names[n] in text] or nodes
