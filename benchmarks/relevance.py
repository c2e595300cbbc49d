"""What the floor of "nothing relevant" lets through, on a small hand-written set of memories and prompts.

    python benchmarks/relevance.py [--beside locomo10.json]

benchmarks/data/relevance.json holds memories of a coding agent and prompts in several languages; half of the prompts have
no relevant memory. Those of kind `task` are orders to a coding agent, full of words that no memory holds. The relevance
model in clew/store/fusion.py was fitted and its floor chosen on the prompts marked `tune`; those marked `held` were only
measured.

Prompts are asked as recall asks them, in stores of three sizes: ten memories (the set dealt out to seven small stores, each
prompt without a relevant memory asked in one of them), all 72, and all beside unrelated conversations that are named on
the command line and never shipped. Reported for each mode, kind and floor, with at most 5 memories a prompt: recall
(prompts with a relevant memory that get one), precision (shown memories that are relevant) and noise (prompts without a
relevant memory that get one all the same). Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clew.core.records import Hit, NewMemory, Provenance, Visibility
from clew.core.text import words
from clew.memory.evidence import shares_only_everyday_words
from clew.memory.recall import make_query
from clew.store.embedder import BuiltinEmbedder, Embedder
from clew.store.fusion import RELEVANCE_FLOOR
from clew.store.store import Store
from locomo import read_conversations, read_turns, save_turns

DATA = Path(__file__).parent / "data" / "relevance.json"
FLOORS = tuple(sorted({0.2, 0.3, 0.4, RELEVANCE_FLOOR, 0.5, 0.6, 0.7}))
SHOWN = 5
SMALL_STORES = 7
EVERYTHING = Visibility(everywhere=True)


@dataclass(frozen=True)
class Answer:
    """What one prompt got; `hits` name memories of the set, others by an empty name."""

    prompt: dict[str, Any]
    relevant: frozenset[str]
    hits: Sequence[tuple[str, float]]


def measure(answers: Sequence[Answer], floor: float) -> dict[str, Any]:
    """Recall, precision and noise at one floor."""
    answered = found = shown = right = silent = noisy = 0
    for answer in answers:
        kept = [name for name, relevance in answer.hits if relevance >= floor][:SHOWN]
        good = sum(name in answer.relevant for name in kept)
        shown, right = shown + len(kept), right + good
        if answer.relevant:
            answered, found = answered + 1, found + bool(good)
        else:
            silent, noisy = silent + 1, noisy + bool(kept)
    return {
        "floor": floor,
        "recall": round(found / max(answered, 1), 3),
        "precision": round(right / max(shown, 1), 3),
        "noise": round(noisy / max(silent, 1), 3),
        "shown": shown,
        "prompts": answered + silent,
    }


def ask(
    memories: Sequence[dict[str, Any]],
    prompts: Sequence[dict[str, Any]],
    embedder: Embedder | None,
    beside: Sequence[dict[str, Any]] = (),
) -> Iterator[Answer]:
    """Ask all prompts in a store of these memories, and of the turns of unrelated conversations."""
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "memories.db", embedder=embedder) as store:
        for conversation in beside:
            save_turns(store, read_turns(conversation))
        names = {}
        for memory in memories:
            added = store.add(NewMemory(text=memory["text"], provenance=Provenance(origin="library")))
            names[added.memory.id] = memory["id"]
        while store.embed_missing():
            pass
        for prompt in prompts:
            relevant = frozenset(prompt["relevant"]) & frozenset(names.values())
            yield Answer(prompt, relevant, [(names.get(hit.id, ""), hit.relevance) for hit in _search(store, prompt)])


def _search(store: Store, prompt: dict[str, Any]) -> Sequence[Hit]:
    query = make_query(prompt["text"])
    hits = store.search(query, EVERYTHING, limit=20).hits if query else ()
    return [hit for hit in hits if not shares_only_everyday_words(words(query), hit.text)]


def ask_small_stores(data: dict[str, Any], embedder: Embedder | None) -> Iterator[Answer]:
    """Deal the memories out to small stores; each prompt is asked where a memory of its own is, or else in one of them."""
    for number in range(SMALL_STORES):
        memories = data["memories"][number::SMALL_STORES]
        here = {memory["id"] for memory in memories}
        prompts = [
            prompt
            for place, prompt in enumerate(data["prompts"])
            if (here.intersection(prompt["relevant"]) if prompt["relevant"] else place % SMALL_STORES == number)
        ]
        yield from ask(memories, prompts, embedder)


def report(answers: Sequence[Answer]) -> dict[str, Any]:
    """All floors on both halves of each kind of prompt."""
    groups: dict[str, list[Answer]] = {}
    for answer in answers:
        groups.setdefault(f"{answer.prompt.get('kind', 'mixed')} {answer.prompt['half']}", []).append(answer)
    return {name: [measure(some, floor) for floor in FLOORS] for name, some in groups.items()}


def evaluate(data: dict[str, Any], embedder: Embedder | None, beside: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The stores of each size."""
    stores = {
        "ten": list(ask_small_stores(data, embedder)),
        "all": list(ask(data["memories"], data["prompts"], embedder)),
    }
    if beside:
        stores["beside"] = list(ask(data["memories"], data["prompts"], embedder, beside))
    return {name: report(answers) for name, answers in stores.items()}


def main() -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--beside", type=Path, help="conversations (LoCoMo: a JSON file, a zip or a folder)")
    parser.add_argument("--json", type=Path, help="write the result here as well")
    arguments = parser.parse_args()
    data = json.loads(arguments.data.read_text(encoding="utf-8"))
    beside = list(read_conversations(arguments.beside)) if arguments.beside else []
    result = {
        "benchmark": "relevance",
        "memories": len(data["memories"]),
        "floor": RELEVANCE_FLOOR,
        "hybrid": evaluate(data, BuiltinEmbedder(), beside),
        "lexical": evaluate(data, None, beside),
    }
    text = json.dumps(result, indent=1)
    print(text)
    if arguments.json:
        arguments.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
