"""What RAGChecker itself makes of damaged files: run it, and keep what it did in ``ragchecker_verdicts.json``.

``python -m tests.ragchecker_oracle`` writes the file anew, where the package ragchecker (0.1.9) is installed without
its dependencies, with dataclasses-json; tests read it. No model is called: what would call one is a verdict of its own.
"""

from __future__ import annotations

import json
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from types import ModuleType
from typing import Any

GROUPS = {
    "overall_metrics": ("precision", "recall", "f1"),
    "retriever_metrics": ("claim_recall", "context_precision"),
    "generator_metrics": (
        *("context_utilization", "noise_sensitivity_in_relevant", "noise_sensitivity_in_irrelevant"),
        *("hallucination", "self_knowledge", "faithfulness"),
    ),
}
VERDICTS = Path(__file__).parent / "ragchecker_verdicts.json"
MUTATED = 620
LABELS = ("Entailment", "Neutral", "Contradiction")
_SETS = ("answer2response", "response2answer", "retrieved2response", "retrieved2answer")
_VALUES: tuple[Any, ...] = (None, True, 3, 0.5, "pear", "", [], {}, ["pear"], [None], {"a": 1}, [["Entailment"]])


def sound(rng: random.Random) -> dict[str, Any]:
    """A file that is in order: an input, or an output with metrics or without."""
    complete = rng.random() < 0.8
    rows = [_row(rng, i, complete) for i in range(rng.randint(1, 3))]
    whole: dict[str, Any] = {"results": rows}
    if complete and rng.random() < 0.4:
        whole["metrics"] = {name: {} for name in ("overall_metrics", "retriever_metrics", "generator_metrics")}
    return whole


def _row(rng: random.Random, i: int, complete: bool) -> dict[str, Any]:
    passages = rng.randint(1, 3)
    row: dict[str, Any] = {
        "query_id": f"q{i}",
        "query": "Who mapped the reef?",
        "gt_answer": "Joss Alder mapped it in 1931.",
        "response": "Joss Alder did.",
        "retrieved_context": [{"doc_id": f"{n:03}", "text": f"Passage {n} of reef {i}."} for n in range(passages)],
    }
    if not complete:
        return row
    own, right = rng.randint(1, 4), rng.randint(1, 4)

    def labels(count: int) -> list[str]:
        return [rng.choice(LABELS) for _ in range(count)]

    return {
        **row,
        "response_claims": [["a", "is", str(n)] for n in range(own)],
        "gt_answer_claims": [f"Claim {n}." for n in range(right)],
        "answer2response": labels(own),
        "response2answer": labels(right),
        "retrieved2response": [labels(passages) for _ in range(own)],
        "retrieved2answer": [labels(passages) for _ in range(right)],
    }


def _set_field(whole: dict[str, Any], rng: random.Random) -> None:
    row = rng.choice(whole["results"])
    row[rng.choice(list(row))] = deepcopy(rng.choice(_VALUES))


def _drop_field(whole: dict[str, Any], rng: random.Random) -> None:
    row = rng.choice(whole["results"])
    del row[rng.choice(list(row))]


def _set_row(whole: dict[str, Any], rng: random.Random) -> None:
    whole["results"][rng.randrange(len(whole["results"]))] = deepcopy(rng.choice(_VALUES))


def _set_results(whole: dict[str, Any], rng: random.Random) -> None:
    whole["results"] = deepcopy(rng.choice(_VALUES))


def _drop_results(whole: dict[str, Any], rng: random.Random) -> None:
    whole["input_data" if rng.random() < 0.5 else "rows"] = whole.pop("results")


def _set_label(whole: dict[str, Any], rng: random.Random) -> None:
    places = list(_lists_of_labels(rng.choice(whole["results"])))
    if places:
        labels = rng.choice(places)
        if labels:
            odd = ("entailment", "Yes", None, True, 1, ["Entailment"], "Contradiction ", "Neutral")
            labels[rng.randrange(len(labels))] = deepcopy(rng.choice(odd))


def _lists_of_labels(row: dict[str, Any]) -> Iterator[list[Any]]:
    for name in _SETS:
        if name in row:
            yield from row[name] if name.startswith("retrieved") else [row[name]]


def _resize(whole: dict[str, Any], rng: random.Random) -> None:
    """More or fewer labels, rows of labels, claims or passages."""
    row = rng.choice(whole["results"])
    targets: list[list[Any]] = [row[n] for n in (*_SETS, "response_claims", "gt_answer_claims") if n in row]
    targets += [labels for name in _SETS[2:] for labels in row.get(name, ())]
    targets.append(row["retrieved_context"])
    chosen = rng.choice(targets)
    if chosen and rng.random() < 0.5:
        chosen.pop()
    elif chosen:
        chosen.append(deepcopy(chosen[0]))


def _flatten(whole: dict[str, Any], rng: random.Random) -> None:
    row = rng.choice(whole["results"])
    name = rng.choice(_SETS[2:])
    if name in row:
        row[name] = [labels[0] for labels in row[name]]


def _widen(whole: dict[str, Any], rng: random.Random) -> None:
    row = rng.choice(whole["results"])
    for labels in row.get(rng.choice(_SETS[2:]), ()):
        labels.append("Entailment")


def _set_passage(whole: dict[str, Any], rng: random.Random) -> None:
    passages = rng.choice(whole["results"])["retrieved_context"]
    place = rng.randrange(len(passages))
    if rng.random() < 0.5:
        passages[place] = deepcopy(rng.choice(_VALUES))
    else:
        passages[place][rng.choice(("doc_id", "text", "title"))] = deepcopy(rng.choice(_VALUES))


def _set_metric(whole: dict[str, Any], rng: random.Random) -> None:
    odd = (0.1, 1, "0.5", "high", None, True, [1], float("nan"), -1.5)
    row = rng.choice(whole["results"])
    names = ("precision", "recall", "f1", "claim_recall", "faithfulness", "hallucination", "other")
    row["metrics"] = {rng.choice(names): deepcopy(rng.choice(odd))}


def _set_groups(whole: dict[str, Any], rng: random.Random) -> None:
    groups: Any = {name: {} for name in ("overall_metrics", "retriever_metrics", "generator_metrics")}
    how = rng.randrange(5)
    if how == 0:
        del groups[rng.choice(list(groups))]
    elif how == 1:
        groups = {name.removesuffix("_metrics"): {} for name in groups}
    elif how == 2:
        groups[rng.choice(list(groups))] = deepcopy(rng.choice(_VALUES))
    elif how == 3:
        groups[rng.choice(list(groups))] = {"precision": deepcopy(rng.choice((0.5, 90, "x", None, "7", True)))}
    else:
        groups = deepcopy(rng.choice(_VALUES))
    whole["metrics"] = groups


def _copy_row(whole: dict[str, Any], rng: random.Random) -> None:
    whole["results"].append(deepcopy(whole["results"][0]))


_MUTATIONS: tuple[Callable[[dict[str, Any], random.Random], None], ...] = (
    *(_set_field, _set_field, _drop_field, _set_row, _set_results, _drop_results, _set_label, _resize, _resize),
    *(_flatten, _widen, _set_passage, _set_metric, _set_groups, _copy_row),
)


def cases() -> Iterator[tuple[str, str, str]]:
    """The mutation, the sound file and the damaged one, as texts."""
    rng = random.Random(20261123)
    for number in range(MUTATED):
        whole = sound(rng)
        damaged = deepcopy(whole)
        mutation = _MUTATIONS[number % len(_MUTATIONS)]
        mutation(damaged, rng)
        name, text = mutation.__name__.strip("_"), json.dumps(damaged)
        if number % 31 == 30:
            name, text = "text", _damaged_text(text, rng)
        yield name, json.dumps(whole), text


def _damaged_text(text: str, rng: random.Random) -> str:
    rows = json.loads(text).get("results")
    lines = "\n".join(map(json.dumps, rows if isinstance(rows, list) else [rows]))
    return rng.choice((text[: len(text) // 2], f"\ufeff{text}", f"[{text}]", lines, text.replace('"', "'"), f"{text}]"))


class ModelCalledError(Exception):
    """Something is missing that a model would make."""


def verdict(text: str) -> Any:
    """How far the tool comes: ``load`` or ``evaluate`` with the exception that stops it, ``model``, or the means."""
    ragchecker = _ragchecker()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            results = ragchecker.RAGResults.from_json(text)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the verdict
            return ["load", type(error).__name__]
        try:
            groups = ragchecker.RAGChecker().evaluate(results, "all_metrics")
        except ModelCalledError:
            return ["model"]
        except Exception as error:  # noqa: BLE001
            return ["evaluate", type(error).__name__]
    return [float(groups[group][name]) for group, names in GROUPS.items() for name in names]


def _ragchecker() -> Any:
    """The package, with stand-ins for the modules that call models."""
    if "ragchecker" not in sys.modules:
        modules = {name: ModuleType(name) for name in ("refchecker", "refchecker.extractor", "refchecker.checker")}

        class Model:
            def __init__(self, *_: Any, **__: Any) -> None:
                pass

            def extract(self, *_: Any, **__: Any) -> Any:
                raise ModelCalledError

            check = extract

        class Logger:
            def info(self, *_: Any) -> None:
                pass

        modules["refchecker.extractor"].LLMExtractor = Model  # type: ignore[attr-defined]
        for name in ("LLMChecker", "NLIChecker", "AlignScoreChecker"):
            setattr(modules["refchecker.checker"], name, Model)
        modules["loguru"] = ModuleType("loguru")
        modules["loguru"].logger = Logger()  # type: ignore[attr-defined]
        sys.modules.update(modules)
    import ragchecker  # type: ignore[import-not-found]

    return ragchecker


if __name__ == "__main__":
    found = [[verdict(before), verdict(after)] for _, before, after in cases()]
    VERDICTS.write_text(json.dumps(found, separators=(",", ":")).replace("]],", "]],\n") + "\n", encoding="utf-8")
    sys.stdout.write(f"{len(found)} verdicts\n")
