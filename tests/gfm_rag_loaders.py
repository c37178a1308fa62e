"""GFM-RAG's own classes, run on dataset folders that come as lines of JSON: the other half of `gfm_rag_oracle`.

Runs in a Python that has upstream's package and torch, and needs nothing of this repository: it is started as
``python tests/gfm_rag_loaders.py``, with ``--legacy FOLDER`` for release 1.0.0. A request is an array ``[action,
root, options]``, the answer one object. The embedding model is a stand-in that refuses what a tokenizer refuses.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.machinery
import importlib.util
import json
import logging
import os
import re
import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

LISTED = 200
"""So many names, edges and texts are answered one by one."""

ENCODED: list[str] = []


class _Skipped(logging.Handler):
    """Keeps what upstream logs when it leaves something out."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        said = record.getMessage()
        if said.startswith("Skipping") or said.endswith("Skipping"):
            self.said.append(said)


class BaseTextEmbModel:
    """Stands for the text embedding model: four numbers per text, and a tokenizer's demands on it."""

    def __init__(self, **_: Any) -> None:
        pass

    def encode(self, texts: list[str], is_query: bool = False, show_progress_bar: bool = True) -> Any:
        """A tensor (texts, 4); raises on what is no text, or none that UTF-8 can hold."""
        import torch  # type: ignore[import-not-found]  # in upstream's environment

        for text in texts:
            if not isinstance(text, str):
                raise TypeError(f"TextEncodeInput must be Union[TextInputSequence, ...], got {type(text).__name__}")
            text.encode()
        ENCODED.extend(texts)
        return torch.tensor([[float(len(t) % 7), 1.0, 2.0, float(is_query)] for t in texts]).reshape(-1, 4)


def _package(name: str, home: Path | None = None) -> ModuleType:
    module = ModuleType(name)
    module.__path__ = [str(home)] if home is not None else []
    sys.modules[name] = module
    return module


def _stub(name: str, **members: Any) -> None:
    module = ModuleType(name)
    module.__spec__ = importlib.machinery.ModuleSpec(name, None)
    module.__dict__.update(members)
    sys.modules[name] = module


def prepare(legacy: str | None) -> None:
    """Register upstream's packages without running their ``__init__``, which import vLLM, faiss and more."""
    if legacy:
        sys.path.insert(0, legacy)
    spec = importlib.util.find_spec("gfmrag")
    assert spec is not None and spec.submodule_search_locations, "gfmrag is not installed"
    home = Path(next(iter(spec.submodule_search_locations)))
    folders = ["", "utils", "models", "models/ultra", "graph_index_datasets", "datasets", "kg_construction", "ultra"]
    folders += ["graph_index_construction", "graph_index_construction/sft_constructors"]
    folders += ["graph_index_construction/graph_constructors"]
    for folder in folders:
        if (home / folder).is_dir():
            package = _package(f"gfmrag/{folder}".rstrip("/").replace("/", "."), home / folder)
            if folder == "utils":
                package.get_rank = lambda: 0  # type: ignore[attr-defined]  # made here
    _stub("gfmrag.text_emb_models", BaseTextEmbModel=BaseTextEmbModel)
    if legacy is None:
        _construction()


def _construction() -> None:
    """What the constructors import: models that are never called, and names only."""
    models = {
        "entity_linking_model": ("BaseELModel",),
        "ner_model": ("BaseNERModel",),
        "openie_model": ("BaseOPENIEModel",),
        "openie_model.base_model": ("BaseOPENIEModel",),
        "graph_constructors": ("BaseGraphConstructor",),
        "sft_constructors.hipporag2": (),
        "sft_constructors.hipporag2.rerank": ("DSPyFilter",),
    }
    for name, members in models.items():
        full = f"gfmrag.graph_index_construction.{name}"
        module = sys.modules.get(full) or _package(full)
        for member in members:
            setattr(module, member, type(member, (), {}))
    _stub("faiss", IndexFlatIP=_FlatIndex, normalize_L2=lambda vectors: None)
    utils = sys.modules["gfmrag.utils"]
    utils.check_all_files_exist = lambda paths: all(Path(p).exists() for p in paths)  # type: ignore[attr-defined]
    _stub("gfmrag.utils.util", check_all_files_exist=utils.check_all_files_exist)


class _FlatIndex:
    """faiss's index of inner products, the few calls that upstream makes."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.rows: Any = None

    @property
    def ntotal(self) -> int:
        return 0 if self.rows is None else len(self.rows)

    def add(self, rows: Any) -> None:
        self.rows = rows

    def search(self, query: Any, k: int) -> tuple[Any, Any]:
        import numpy as np

        scores = query @ self.rows.T
        order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(scores, order, axis=1), order


def load(root: Path, loader: str, **options: Any) -> Any:
    """Build one of upstream's two dataset classes on a dataset folder."""
    from omegaconf import OmegaConf  # type: ignore[import-not-found]  # in upstream's environment

    model = OmegaConf.create({"_target_": "gfmrag.text_emb_models.BaseTextEmbModel"})
    given = {"root": str(root.parent), "data_name": root.name, "text_emb_model_cfgs": model, **options}
    if loader == "reasoner":
        module = importlib.import_module("gfmrag.graph_index_datasets.graph_index_dataset")
        return module.GraphIndexDataset(**given)
    module = importlib.import_module("gfmrag.graph_index_datasets.graph_index_dataset_v1")
    switches = {"target_type": "entity", "use_node_feat": False, "use_edge_feat": False}
    return module.GraphIndexDatasetV1(**{**switches, **given})


def _names(dataset: Any) -> list[str]:
    return [str(name) for name in dataset.node2id]


def described(dataset: Any) -> dict[str, Any]:
    """What a loaded dataset holds."""
    graph = dataset.graph
    relations = {i: name for name, i in dataset.rel2id.items()}
    names = dataset.id2node
    two = graph.target_edge_index.dim() == 2
    pairs = graph.target_edge_index.t().tolist() if two else []
    kinds = graph.target_edge_type.tolist() if two else []
    mapped = getattr(graph, "target_to_other_types", {})
    answer: dict[str, Any] = {
        "nodes": graph.num_nodes,
        "names": _names(dataset)[:LISTED],
        "types": {str(t): len(ids) for t, ids in graph.nodes_by_type.items()},
        "edges": len(pairs),
        "triples": [
            [names[s], str(relations.get(r)), names[t]] for (s, t), r in list(zip(pairs, kinds, strict=True))[:LISTED]
        ],
        "relations": sorted(map(str, dataset.rel2id))[:LISTED],
        "mapped": {str(t): int(m.coalesce().values().sum()) for t, m in mapped.items()},
        "samples": {},
        "starts": {},
        "targets": {},
    }
    for split in ("train", "test"):
        data = getattr(dataset, f"{split}_data")
        if data is not None:
            answer["samples"][split] = len(data)
            rows = [data[i] for i in range(min(len(data), LISTED))]
            answer["starts"][split] = [_marked(row["start_nodes_mask"], names) for row in rows]
            answer["targets"][split] = [_marked(row["target_nodes_mask"], names) for row in rows]
    return answer


def _marked(mask: Any, names: dict[int, str]) -> list[str]:
    return [names.get(i, "?") for i in mask.nonzero().flatten().tolist()]


def retrieve(root: Path, loader: str, target: str = "document") -> dict[str, Any]:
    """One retrieval by upstream's retriever, which reads nodes.csv a second time; every node has the same score."""
    import torch

    datasets = importlib.import_module("gfmrag.graph_index_datasets.graph_index_dataset")
    sys.modules["gfmrag.graph_index_datasets"].GraphIndexDataset = datasets.GraphIndexDataset  # type: ignore[attr-defined]
    _stub("gfmrag.models.base_model", BaseGNNModel=object)
    module = importlib.import_module("gfmrag.gfmrag_retriever")
    queries = importlib.import_module("gfmrag.models.ultra.query_utils")
    dataset = load(root, loader)

    class Network:
        def eval(self) -> None:
            pass

        def to(self, device: Any) -> Network:
            return self

        def __call__(self, graph: Any, asked: Any) -> Any:
            return torch.zeros(1, graph.num_nodes)

    class Linker:
        def index(self, names: list[str]) -> None:
            self.names = names

        def __call__(self, mentioned: list[str], topk: int) -> dict[str, Any]:
            return {m: [{"entity": self.names[0]}] for m in mentioned}

    utils = sys.modules["gfmrag.utils"]
    utils.load_model_from_pretrained = lambda path: (Network(), {})  # type: ignore[attr-defined]
    utils.get_device = lambda: torch.device("cpu")  # type: ignore[attr-defined]
    queries.cuda = lambda value, device: value  # type: ignore[attr-defined]  # set here
    module.GFMRetriever._load_qa_data_from_model_config = staticmethod(lambda **_: dataset)
    retriever = module.GFMRetriever.from_index(str(root.parent), root.name, "", lambda query: [query], Linker())
    found = retriever.retrieve("Which boat?", 1000, [target])
    return {"retrieved": [str(row["id"]) for row in found[target]]}


def predict(root: Path, loader: str, split: str = "test", top: int = 1, target: str = "document") -> dict[str, Any]:
    """Samples collated in batches of four and found again by id, as `SFTTrainer.predict` does; scores are all one."""
    import torch
    from torch.utils.data import DataLoader  # type: ignore[import-not-found]  # in upstream's environment

    dataset = load(root, loader)
    data = getattr(dataset, f"{split}_data")
    samples = {sample["id"]: sample for sample in getattr(dataset, f"raw_{split}_data")}
    answered = []
    for batch in DataLoader(data, batch_size=4):
        ids = batch["id"]
        nodes = dataset.graph.nodes_by_type[target]
        torch.topk(torch.zeros(len(ids), dataset.graph.num_nodes)[:, nodes], k=top, dim=-1)
        for each in ids:
            key = each.item() if isinstance(each, torch.Tensor) else each
            answered.append(str(samples[key]["id"]))
    return {"answered": answered, "distinct": len(set(answered))}


def evaluate(root: Path, evaluator: str) -> dict[str, Any]:
    """An evaluator of upstream over the processed test questions, each answered with a text."""
    asked = json.loads((root / "processed/stage1/test.json").read_text(encoding="utf-8"))
    rows = [_answered(sample) for sample in asked]
    modules = {
        "hotpot": ("hotpot_qa_evaluator", "HotpotQAEvaluator"),
        "musique": ("musique_evaluator", "MusiqueEvaluator"),
        "two-wiki": ("two_wiki_qa_evaluator", "TwoWikiQAEvaluator"),
        "retrieval": ("retrieval_evaluator", "RetrievalEvaluator"),
    }
    name, cls = modules[evaluator]
    home = Path(sys.modules["gfmrag"].__path__[0]) / "evaluation"
    if "gfmrag.evaluation" not in sys.modules:
        _package("gfmrag.evaluation", home)
    module = importlib.import_module(f"gfmrag.evaluation.{name}")
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", delete=False) as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    try:
        return {"metrics": getattr(module, cls)(file.name).evaluate()}
    finally:
        Path(file.name).unlink()


def _answered(sample: dict[str, Any]) -> dict[str, Any]:
    """What `workflow/qa.py` and `workflow/qa_ircot_inference.py` write of a sample."""
    row = {"answer": sample["answer"], "answer_aliases": sample.get("answer_aliases", []), "response": "Answer: Lena"}
    row["supporting_documents"] = sample["supporting_documents"]
    row["retrieved_docs"] = {"document": [{"id": "Harbour log", "score": 1.0}]}
    return row


class _Ner:
    """Names in a question: its words that begin with a capital. Needs a text, as the models' prompts do."""

    def __call__(self, text: str) -> list[str]:
        if not isinstance(text, str):
            raise TypeError(f"expected text, got {type(text).__name__}")
        return [w.strip("?.,") for w in text.split() if w[:1].isupper()]


class _El:
    """Links every mention to the entity that has its letters, else to the first one; as dpr_el_model: needs texts."""

    def index(self, names: list[str]) -> None:
        for name in names:
            if not isinstance(name, str):
                raise TypeError(f"expected text, got {type(name).__name__}")
        self.names = names

    def __call__(self, mentions: list[str], topk: int = 1) -> dict[str, Any]:
        return {m: [{"entity": m.lower() if m.lower() in self.names else self.names[0]}] for m in mentions}


def construct(root: Path, constructor: str, file: str = "test.json") -> dict[str, Any]:
    """The processed questions that one of upstream's constructors makes of a raw file."""
    names = {
        "gfm-rag": ("gfm_rag_constructor", "GFMRAGConstructor"),
        "reasoner": ("gfm_reasoner_constructor", "GFMReasonerConstructor"),
        "hippo": ("hipporag2_constructor", "HippoRAG2Constructor"),
    }
    module, cls = names[constructor]
    found = getattr(importlib.import_module(f"gfmrag.graph_index_construction.sft_constructors.{module}"), cls)
    with tempfile.TemporaryDirectory() as scratch:
        if constructor == "hippo":
            made = found(BaseTextEmbModel(), root=scratch, enable_filtering=False)
        else:
            made = found(_Ner(), _El(), root=scratch)
        samples = made.prepare_data(str(root.parent), root.name, file)
    starts = [s["start_nodes"].get("entity", []) for s in samples]
    return {
        "samples": {file.split(".", maxsplit=1)[0]: len(samples)},
        "starts": starts,
        "documents": [s["target_nodes"]["document"] for s in samples],
        "distinct": len({tuple(names) for names in starts}),
    }


def build(root: Path, **options: Any) -> dict[str, Any]:
    """The stage1 tables that upstream builds from raw/documents.json; a triple a sentence `Head | relation | tail.`."""
    import pandas as pd

    module = importlib.import_module("gfmrag.graph_index_construction.graph_constructors.kg_constructor")

    def extract(passage: str) -> dict[str, Any]:
        text = passage.rsplit("\n", maxsplit=1)[-1]
        triples = [[p.strip() for p in s.split("|")] for s in text.split(".") if "|" in s]
        entities = [t for triple in triples for t in triple[::2]]
        return {"passage": passage, "extracted_entities": entities, "extracted_triples": triples}

    with tempfile.TemporaryDirectory() as scratch:
        made = module.KGConstructor(extract, None, root=scratch, cosine_sim_edges=False, **options)
        graph = made.build_graph(str(root.parent), root.name)
    stage1 = root / "processed/stage1"
    stage1.mkdir(parents=True, exist_ok=True)
    for table in ("nodes", "relations", "edges"):
        pd.DataFrame(graph[table]).to_csv(stage1 / f"{table}.csv", index=False)
    return {"names": [row["name"] for row in graph["nodes"]], "edges": len(graph["edges"])}


def reload(root: Path, loader: str, before: dict[str, str], edit: dict[str, str | None]) -> dict[str, Any]:
    """What is loaded after a dataset was loaded, edited and loaded again: upstream keeps a cache.

    ``before`` and ``edit`` map paths (``graph.pt`` and the like: of the cache) to content, None takes the file away.
    """
    stage2 = root / "processed/stage2"
    shutil.rmtree(stage2, ignore_errors=True)
    for path, old in before.items():
        (root / path).write_text(old, encoding="utf-8")
    load(root, loader)
    for path, new in edit.items():
        file = root / path if "/" in path else next(stage2.glob(f"*/{path}"))
        if new is None:
            file.unlink()
        else:
            file.write_text(new, encoding="utf-8")
    return described(load(root, loader))


def legacy(root: Path) -> dict[str, Any]:
    """What release 1.0.0 makes of a folder in the older layout."""
    from omegaconf import OmegaConf

    module = importlib.import_module("gfmrag.datasets.qa_dataset")
    model = OmegaConf.create({"_target_": "gfmrag.text_emb_models.BaseTextEmbModel"})
    dataset = module.QADataset(str(root.parent), root.name, model)
    edges = dataset.kg.target_edge_index
    return {
        "nodes": dataset.kg.num_nodes,
        "names": list(dataset.ent2id)[:LISTED],
        "relations": sorted(dataset.rel2id)[:LISTED],
        "edges": edges.size(1) if edges.dim() == 2 else 0,
        "documents": len(dataset.id2doc),
        "mentions": int(dataset.ent2docs.coalesce().values().sum()),
        "samples": dict(zip(("train", "test"), map(len, dataset.data), strict=True)),
    }


def _loaded(loader: str) -> Callable[..., dict[str, Any]]:
    return lambda root, **options: described(load(root, loader, **options))


ACTIONS: dict[str, Callable[..., dict[str, Any]]] = {
    "reasoner": _loaded("reasoner"),
    "gfm-rag": _loaded("gfm-rag"),
    "retrieve": retrieve,
    "predict": predict,
    "evaluate": evaluate,
    "construct": construct,
    "build": build,
    "reload": reload,
    "legacy": legacy,
}


def answer(action: str, root: str, options: dict[str, Any]) -> dict[str, Any]:
    """Run one action; ``error`` is ``Type: message``, ``where`` upstream's innermost function."""
    handler = _Skipped()
    logger = logging.getLogger("gfmrag")
    logger.addHandler(handler)
    ENCODED.clear()
    result: dict[str, Any] = {"error": "", "where": ""}
    try:
        result.update(ACTIONS[action](Path(root), **options))
    except Exception as error:  # noqa: BLE001  # whatever it raises is upstream's answer
        said = f"{type(error).__name__}: {error}"[:400].replace(root, "DATASET")
        said = re.sub(rf"{re.escape(tempfile.gettempdir())}/\w+", "SCRATCH", said)
        result["error"] = re.sub(r"0x[0-9a-f]{6,}", "0x…", said)
        frames = [f for f in traceback.extract_tb(error.__traceback__) if "gfmrag/" in f.filename.replace("\\", "/")]
        result["where"] = frames[-1].name if frames else ""
    finally:
        logger.removeHandler(handler)
    result["skipped_edges"] = sum("edge" in s or "Error in line" in s for s in handler.said)
    result["skipped_samples"] = sum("sample" in s for s in handler.said)
    result["skipped"] = [s.replace(root, "DATASET") for s in handler.said[:LISTED]]
    result["texts"] = ENCODED[:LISTED]
    return result


@contextlib.contextmanager
def _own_stdout() -> Iterator[Any]:
    """The real standard output for the answers; whatever else is printed goes to standard error."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as out:
        os.dup2(2, 1)
        yield out


def main() -> None:
    """Answer one request a line until the input ends."""
    legacy_folder = sys.argv[2] if sys.argv[1:2] == ["--legacy"] else None
    with _own_stdout() as out:
        prepare(legacy_folder)
        logging.getLogger("gfmrag").setLevel(logging.WARNING)
        logging.getLogger("gfmrag").propagate = False
        import torch

        torch.set_num_threads(1)
        for line in sys.stdin:
            action, root, options = json.loads(line)
            out.write(json.dumps(answer(action, root, options)) + "\n")
            out.flush()


if __name__ == "__main__":
    main()
