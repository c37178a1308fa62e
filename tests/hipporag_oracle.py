"""What HippoRAG's own ``main.py`` makes of questions: run it, and keep what it did in ``hipporag_verdicts.json``.

``python -m tests.hipporag_oracle PATH/TO/main.py`` writes the file anew (commit c617143f); tests read it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

VERDICTS = Path(__file__).parent / "hipporag_verdicts.json"

_REEF = {"title": "Kettle Reef", "text": "Joss Alder mapped it.", "is_supporting": True, "idx": 0}
_HALE = {"title": "Port Hale", "text": "A harbour.", "is_supporting": False, "idx": 1}
_MUSIQUE = {"title": "Port Hale", "paragraph_text": "A harbour.", "is_supporting": True, "idx": 1}
_CONTEXT = [["Kettle Reef", ["Joss Alder mapped it.", "It lies north."]], ["Port Hale", ["A harbour."]]]
_Q: dict[str, Any] = {"id": "q1", "question": "Who mapped Kettle Reef?", "answer": "Joss Alder"}
_W: dict[str, Any] = {**_Q, "supporting_facts": [["Kettle Reef", 0]], "context": _CONTEXT}


def _without(value: dict[str, Any], *names: str) -> dict[str, Any]:
    return {k: v for k, v in value.items() if k not in names}


CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "generic": ("reefs", {**_Q, "paragraphs": [_REEF, _HALE]}),
    "MuSiQue": ("musique", {**_Q, "paragraphs": [_MUSIQUE], "answer_aliases": ["J. Alder"]}),
    "2Wiki": ("2wiki", _W),
    "HotpotQA": ("hotpotqa", _W),
    "HotpotQA by its prefix": ("hotpotqa_train", _W),
    "contexts": ("reefs", {**_Q, "contexts": [_REEF, _HALE]}),
    "facts before contexts": ("reefs", {**_W, "contexts": [_HALE], "paragraphs": [_HALE]}),
    "contexts before paragraphs": ("reefs", {**_Q, "contexts": [_REEF], "paragraphs": [_MUSIQUE]}),
    "unmarked paragraph": ("reefs", {**_Q, "paragraphs": [_without(_HALE, "is_supporting")]}),
    "unmarked context": ("reefs", {**_Q, "contexts": [_without(_HALE, "is_supporting")]}),
    "no passages": ("reefs", _Q),
    "facts without context": ("reefs", _without(_W, "context")),
    "unknown title": ("reefs", {**_W, "supporting_facts": [["Reef", 0], ["Kettle Reef", 0]]}),
    "sentence out of range": ("reefs", {**_W, "supporting_facts": [["Kettle Reef", 9]]}),
    "one title twice": ("reefs", {**_W, "context": [*_CONTEXT, ["Kettle Reef", ["A song."]]]}),
    "titles as facts": ("reefs", {**_W, "supporting_facts": ["Kettle Reef"]}),
    "numbers as facts": ("reefs", {**_W, "supporting_facts": [7]}),
    "sentences as one text": ("reefs", {**_W, "context": [["Kettle Reef", "Joss Alder mapped it."]]}),
    "numbers as sentences": ("reefs", {**_W, "context": [["Kettle Reef", [1, 2]]]}),
    "paragraph without text": ("reefs", {**_Q, "paragraphs": [_without(_REEF, "text")]}),
    "paragraph without title": ("reefs", {**_Q, "paragraphs": [_without(_REEF, "title")]}),
    "paragraph with null text": ("reefs", {**_Q, "paragraphs": [{**_REEF, "text": None}]}),
    "text before paragraph_text": ("reefs", {**_Q, "paragraphs": [{**_REEF, "paragraph_text": "Another."}]}),
    "is_supporting null": ("reefs", {**_Q, "paragraphs": [{**_REEF, "is_supporting": None}]}),
    "is_supporting a text": ("reefs", {**_Q, "paragraphs": [{**_REEF, "is_supporting": "false"}]}),
    "one passage twice": ("reefs", {**_Q, "paragraphs": [_REEF, _REEF]}),
    "paragraphs null": ("reefs", {**_Q, "paragraphs": None}),
    "answers in a list": ("reefs", {**_Q, "answer": ["Joss Alder", "Alder"], "paragraphs": [_REEF]}),
    "no answers in a list": ("reefs", {**_Q, "answer": [], "paragraphs": [_REEF]}),
    "aliases only": ("reefs", {**_Q, "answer": [], "answer_aliases": ["Alder"], "paragraphs": [_REEF]}),
    "empty answer": ("reefs", {**_Q, "answer": "", "paragraphs": [_REEF]}),
    "no answer": ("reefs", {**_without(_Q, "answer"), "paragraphs": [_REEF]}),
    "answer null": ("reefs", {**_Q, "answer": None, "paragraphs": [_REEF]}),
    "answer a number": ("reefs", {**_Q, "answer": 3, "paragraphs": [_REEF]}),
    "answer null before gold_ans": ("reefs", {**_Q, "answer": None, "gold_ans": "Alder", "paragraphs": [_REEF]}),
    "gold_ans": ("reefs", {**_without(_Q, "answer"), "gold_ans": "Alder", "paragraphs": [_REEF]}),
    "reference": ("reefs", {**_without(_Q, "answer"), "reference": ["Alder"], "paragraphs": [_REEF]}),
    "PopQA": (
        "reefs",
        {
            **_without(_Q, "answer"),
            "obj": "Alder",
            "o_wiki_title": "Joss Alder",
            "possible_answers": ["J. Alder"],
            "o_aliases": "Joss",
            "paragraphs": [_REEF],
        },
    ),
    "PopQA in part": ("reefs", {**_without(_Q, "answer"), "obj": "Alder", "paragraphs": [_REEF]}),
    "aliases null": ("reefs", {**_Q, "answer_aliases": None, "paragraphs": [_REEF]}),
    "aliases a text": ("reefs", {**_Q, "answer_aliases": "ab", "paragraphs": [_REEF]}),
}


def verdicts(main: ModuleType) -> dict[str, Any]:
    """By case: the passages and the answers that it finds, sorted, or the error that stops it."""
    found = {}
    for name, (data_set, sample) in CASES.items():
        passages = _outcome(lambda s=sample, d=data_set: sorted(main.get_gold_docs([s], d)[0]))  # type: ignore[misc]
        answers = _outcome(lambda s=sample: sorted(main.get_gold_answers([s])[0]))  # type: ignore[misc]
        found[name] = {"passages": passages, "answers": answers}
    return found


def _outcome(call: Any) -> Any:
    try:
        return call()
    except Exception as error:  # noqa: BLE001 - what stops it is what is asked
        return type(error).__name__


def load(path: Path) -> ModuleType:
    """``main.py`` with stand-ins for all that it imports of its package."""
    for name in ("HippoRAG", "StandardRAG", "utils.config_utils", "utils.misc_utils"):
        stand_in = ModuleType(f"src.hipporag.{name}")
        for what in ("HippoRAG", "StandardRAG", "BaseConfig", "string_to_bool"):
            setattr(stand_in, what, None)
        sys.modules[stand_in.__name__] = stand_in
    for name in ("src", "src.hipporag", "src.hipporag.utils"):
        sys.modules[name] = ModuleType(name)
    module = ModuleType("hipporag_main")
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), module.__dict__)  # noqa: S102 - it is the oracle
    return module


if __name__ == "__main__":
    told = verdicts(load(Path(sys.argv[1])))
    VERDICTS.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
