"""What the floor of "nothing relevant" lets through, on a small hand-written set of memories and prompts.

    python benchmarks/relevance.py

benchmarks/data/relevance.json holds memories of a coding agent and prompts in several languages; half of the prompts
have no relevant memory. The relevance model in clew/store/fusion.py was fitted and its floor chosen on the prompts marked
`tune`, beside unrelated conversations; those marked `held` were only measured. Reported for each mode and floor, with at most 5 memories a prompt:
recall (prompts with a relevant memory that get one), precision (shown memories that are relevant) and noise (prompts
without a relevant memory that get one all the same). Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clew.core.records import Hit, NewMemory, Provenance, Visibility
from clew.store.embedder import BuiltinEmbedder, Embedder
from clew.store.fusion import RELEVANCE_FLOOR
from clew.store.store import Store

DATA = Path(__file__).parent / "data" / "relevance.json"
FLOORS = (0.2, 0.3, RELEVANCE_FLOOR, 0.5, 0.6, 0.7)
SHOWN = 5


def measure(
    answers: Sequence[tuple[dict[str, Any], Sequence[Hit]]], names: dict[str, str], floor: float
) -> dict[str, Any]:
    """Recall, precision and noise at one floor."""
    answered = found = shown = right = silent = noisy = 0
    for prompt, hits in answers:
        kept = [names[hit.id] for hit in hits if hit.relevance >= floor][:SHOWN]
        good = sum(name in prompt["relevant"] for name in kept)
        shown, right = shown + len(kept), right + good
        if prompt["relevant"]:
            answered, found = answered + 1, found + bool(good)
        else:
            silent, noisy = silent + 1, noisy + bool(kept)
    return {
        "floor": floor,
        "recall": round(found / answered, 3),
        "precision": round(right / max(shown, 1), 3),
        "noise": round(noisy / silent, 3),
        "shown": shown,
        "prompts": answered + silent,
    }


def evaluate(data: dict[str, Any], embedder: Embedder | None) -> dict[str, Any]:
    """All floors on both halves of the prompts."""
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "memories.db", embedder=embedder) as store:
        names = {}
        for memory in data["memories"]:
            added = store.add(NewMemory(text=memory["text"], provenance=Provenance(origin="library")))
            names[added.memory.id] = memory["id"]
        store.embed_missing()
        answers = [
            (prompt, store.search(prompt["text"], Visibility(everywhere=True), limit=20).hits)
            for prompt in data["prompts"]
        ]
    halves = {half: [answer for answer in answers if answer[0]["half"] == half] for half in ("tune", "held")}
    return {half: [measure(some, names, floor) for floor in FLOORS] for half, some in halves.items()}


def main() -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--json", type=Path, help="write the result here as well")
    arguments = parser.parse_args()
    data = json.loads(arguments.data.read_text(encoding="utf-8"))
    result = {
        "benchmark": "relevance",
        "memories": len(data["memories"]),
        "floor": RELEVANCE_FLOOR,
        "hybrid": evaluate(data, BuiltinEmbedder()),
        "lexical": evaluate(data, None),
    }
    text = json.dumps(result, indent=1)
    print(text)
    if arguments.json:
        arguments.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
