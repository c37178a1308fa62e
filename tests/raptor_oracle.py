"""What RAPTOR itself makes of damaged trees: load them, ask both ways, and keep the answers.

``python -m tests.raptor_oracle PATH/TO/raptor`` (a checkout of commit 2e3e83e5, in an environment with numpy, scipy,
scikit-learn, umap-learn, tenacity and tqdm) writes ``raptor_verdicts.json`` anew; tests read it.
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

from tests.raptor_cases import cases

VERDICTS = Path(__file__).parent / "raptor_verdicts.json"
SERVICES = ("OpenAI", "SentenceTransformer", "Tensor", "AutoTokenizer", "pipeline", "T5ForConditionalGeneration",
            "T5Tokenizer")  # fmt: skip
QUESTIONS = {"deep": [1.0, 0.2, 0.1]}
"""Vectors of the question for the trees that have others than of two numbers."""


class Words:
    """A tokenizer whose tokens are words, and which like the real one takes texts only."""

    def encode(self, text: Any) -> list[str]:
        if not isinstance(text, str):
            raise TypeError("expected string or buffer")
        return text.split()


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


if __name__ == "__main__":
    lines = [f"{json.dumps(name)}: {json.dumps(told)}" for name, told in verdicts(Path(sys.argv[1])).items()]
    VERDICTS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
