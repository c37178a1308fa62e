"""What RAPTOR itself makes of damaged trees: load them, ask both ways, and keep the answers.

``python -m tests.raptor_oracle PATH/TO/raptor`` (a checkout of commit 2e3e83e5, in an environment with numpy, scipy,
scikit-learn, umap-learn, tenacity and tqdm) writes ``raptor_verdicts.json`` anew, and what RAPTOR finds
in its demo tree to ``raptor_retrieved.json``; tests read them.
"""

from __future__ import annotations

import json
import logging
import sys
import tempfile
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

from ragdatakit.files.raptor.hashing import hashed
from ragdatakit.files.texts import plain_tokens
from tests.raptor_cases import cases

VERDICTS = Path(__file__).parent / "raptor_verdicts.json"
SERVICES = ("OpenAI", "SentenceTransformer", "Tensor", "AutoTokenizer", "pipeline", "T5ForConditionalGeneration",
            "T5Tokenizer")  # fmt: skip
RETRIEVED = VERDICTS.with_name("raptor_retrieved.json")
TEXTS = (
    "What did the birds throw down from the tree?",
    "How did Cinderella reach her happy ending?",
    "Who planted the hazel branch on the grave?",
    "Why were the step-sisters punished with blindness?",
    "she picked the lentils out of the ashes before the wedding at the palace",
    "the prince caught her on the stairs and she lost the shoe of gold",
    "the two pigeons sat in the tree and cried that there was blood in the shoe",
)
"""Long enough for no two nodes to be equally near, where RAPTOR's order is that of an unstable sort."""
MIXTURES = ((0, 1), (3, 36), (12, 5), (32, 33), (38, 2), (20, 21), (39, 8), (7, 30))
"""Nodes of which the vector of a question is made."""
FAR = (0.15, 0.5, 0.7, 0.9)
"""Distances of RAPTOR's selection by threshold, which takes what is farther; its own is 0.5."""
QUESTIONS = {"deep": [1.0, 0.2, 0.1]}
"""Vectors of the question for the trees that have others than of two numbers."""


class Words:
    """A tokenizer whose tokens are words, and which like the real one takes texts only."""

    def encode(self, text: Any) -> list[str]:
        if not isinstance(text, str):
            raise TypeError("expected string or buffer")
        return text.split()


class Counted:
    """A tokenizer that counts as ragdata does."""

    def encode(self, text: str) -> list[int]:
        return [0] * plain_tokens.count(text)


def upstream(path: Path) -> Any:
    """RAPTOR's modules, with stand-ins for the services that they import."""
    for name in ("openai", "tiktoken", "sentence_transformers", "faiss", "torch", "transformers"):
        module = ModuleType(name)
        for what in SERVICES:
            setattr(module, what, type(what, (), {}))
        module.get_encoding = lambda name: Words()  # type: ignore[attr-defined]
        sys.modules[name] = module
    sys.path.insert(0, str(path))
    import raptor  # type: ignore[import-not-found]
    from raptor import tree_retriever

    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    return raptor, tree_retriever


def retriever(modules: Any, tree: Any, embed: Any, top_k: int = 100) -> Any:
    """RAPTOR's retriever of a tree."""
    raptor, found = modules

    class Model(raptor.BaseEmbeddingModel):  # type: ignore[misc]
        def create_embedding(self, text: str) -> Any:
            return embed(text)

    config = found.TreeRetrieverConfig(
        tokenizer=Words(), embedding_model=Model(), context_embedding_model="EMB", top_k=top_k
    )
    return found.TreeRetriever(config, tree)


def asked(modules: Any, tree: Any, question: list[float], collapsed: bool) -> Any:
    """The nodes that are found with their layers, or the error that stops it."""
    try:
        made = retriever(modules, tree, lambda text: question)
        _, layers = made.retrieve(
            "q", collapse_tree=collapsed, top_k=100, max_tokens=100_000, return_layer_information=True
        )
    except Exception as error:  # noqa: BLE001 - what stops it is what is asked
        return type(error).__name__
    return [[str(each["node_index"]), str(each["layer_number"])] for each in layers]


def loaded(modules: Any, data: bytes) -> Any:
    """A tree, as ``RetrievalAugmentation`` loads it of a file."""
    import pickle

    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_bytes(data)
        with open(file.name, "rb") as stream:  # noqa: PTH123 - as RAPTOR does
            tree = pickle.load(stream)
    if not isinstance(tree, modules[0].tree_structures.Tree):
        raise ValueError("The loaded object is not an instance of Tree")
    return tree


def verdicts(path: Path) -> dict[str, Any]:
    """By case: how loading went, and what both ways of asking found."""
    made = list(cases())
    modules = upstream(path)
    found: dict[str, Any] = {}
    for name, base, data in made:
        question = QUESTIONS.get(base, [1.0, 0.2])
        try:
            tree = loaded(modules, data)
        except Exception as error:  # noqa: BLE001 - what stops it is what is asked
            found[name] = {"load": type(error).__name__}
            continue
        found[name] = {way: asked(modules, tree, question, way == "collapsed") for way in ("collapsed", "traversal")}
    return found


def retrieved(modules: Any, path: Path) -> dict[str, Any]:
    """What RAPTOR finds in its demo tree: by hashed words for texts, and by its own vectors for mixtures of them."""
    tree = loaded(modules, (path / "demo" / "cinderella").read_bytes())
    own = {index: node.embeddings["OpenAI"] for index, node in tree.all_nodes.items()}
    for node in [*tree.all_nodes.values(), *tree.leaf_nodes.values()]:
        node.embeddings["EMB"] = hashed(node.text)
    found: dict[str, Any] = {"hashed": {q: _ways(modules, tree, hashed(q)) for q in TEXTS}, "own": {}}
    for node in [*tree.all_nodes.values(), *tree.leaf_nodes.values()]:
        node.embeddings["EMB"] = own[node.index]
    for a, b in MIXTURES:
        found["own"][f"{a} {b}"] = _ways(
            modules, tree, [0.7 * x + 0.3 * y for x, y in zip(own[a], own[b], strict=True)]
        )
    return found


def _ways(modules: Any, tree: Any, question: Any) -> dict[str, list[int]]:
    made = retriever(modules, tree, lambda text: question, top_k=5)
    made.tokenizer = Counted()
    ways = {
        "collapsed": {"collapse_tree": True},
        "collapsed, 200 tokens": {"collapse_tree": True, "top_k": 5, "max_tokens": 200},
        "traversal": {"collapse_tree": False},
    }
    found = {
        name: [each["node_index"] for each in made.retrieve("q", return_layer_information=True, **words)[1]]
        for name, words in ways.items()
    }
    made.selection_mode = "threshold"
    for limit in FAR:
        made.threshold = limit
        _, layers = made.retrieve("q", collapse_tree=False, return_layer_information=True)
        found[f"far:{limit}"] = [each["node_index"] for each in layers]
    return found


if __name__ == "__main__":
    place = Path(sys.argv[1])
    RETRIEVED.write_text(json.dumps(retrieved(upstream(place), place), indent=1) + "\n", encoding="utf-8")
    lines = [f"{json.dumps(name)}: {json.dumps(told)}" for name, told in verdicts(Path(sys.argv[1])).items()]
    VERDICTS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
