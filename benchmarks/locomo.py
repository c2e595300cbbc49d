"""Retrieval quality on conversations: recall@5, recall@10, hit@10 and MRR, against the usual methods in the same run.

    python benchmarks/locomo.py --data locomo10.json            (or a zip or folder of one JSON file per conversation)

LoCoMo (snap-research/locomo, CC BY-NC 4.0) is measured with and never shipped: give its path. Every turn becomes a
memory, every question with evidence a query; the headline leaves adversarial questions out, which name the wrong person
on purpose. Each conversation gets a database of its own. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from clew.core.errors import RefusedText
from clew.core.records import NewMemory, Provenance, Visibility
from clew.store.adapter import Database
from clew.store.embedder import BuiltinEmbedder
from clew.store.store import Store
from clew.store.terms import fts_query

DEPTH = 50
RRF_K = 60
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
EVERYTHING = Visibility(everywhere=True)
EVIDENCE = re.compile(r"D:?(\d+):(\d+)")

Ranking = Callable[[str], Sequence[int]]


@dataclass(frozen=True)
class Turn:
    """One turn of a conversation."""

    id: str
    text: str
    speaker: str
    session: str
    created_at_ms: int


@dataclass(frozen=True)
class Query:
    """A question with the turns that answer it."""

    text: str
    gold: frozenset[str]
    category: str


def read_conversations(path: Path) -> Iterator[dict[str, Any]]:
    """The raw conversations of any of the published layouts."""
    if path.is_dir():
        texts = [file.read_text(encoding="utf-8") for file in sorted(path.rglob("*.json"))]
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            names = sorted(name for name in archive.namelist() if name.endswith(".json"))
            texts = [archive.read(name).decode("utf-8") for name in names]
    else:
        texts = [path.read_text(encoding="utf-8")]
    for text in texts:
        content = json.loads(text)
        for one in content if isinstance(content, list) else [content]:
            if isinstance(one, dict) and "qa" in one:
                yield one


def time_ms(spoken: str) -> int:
    """`1:56 pm on 8 May, 2023` in Unix milliseconds."""
    return int(datetime.strptime(spoken.strip(), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC).timestamp() * 1000)


def read_turns(raw: dict[str, Any]) -> list[Turn]:
    """All turns of a conversation, in order; the caption of a shared picture is part of the text."""
    conversation = raw.get("conversation", raw)
    numbers = sorted(int(match[1]) for name in conversation if (match := re.fullmatch(r"session_(\d+)", name)))
    turns = []
    for number in numbers:
        when = time_ms(conversation[f"session_{number}_date_time"])
        for turn in conversation[f"session_{number}"] or []:
            caption = f" [shares {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            turns.append(Turn(turn["dia_id"], turn["text"] + caption, turn["speaker"], f"D{number}", when))
    return turns


def read_queries(raw: dict[str, Any], known: set[str]) -> list[Query]:
    """Questions whose evidence is among the known turns."""
    queries = []
    for question in raw["qa"]:
        pairs = [pair for evidence in question.get("evidence") or [] for pair in EVIDENCE.findall(str(evidence))]
        gold = frozenset(f"D{int(session)}:{int(turn)}" for session, turn in pairs) & known
        if gold:
            queries.append(Query(question["question"], gold, CATEGORIES[question["category"]]))
    return queries


def save_turns(store: Store, turns: Sequence[Turn]) -> dict[str, int]:
    """Row of each turn; turns that say the same share one, refused ones have none."""
    rows = {}
    for turn in turns:
        memory = NewMemory(
            text=turn.text,
            provenance=Provenance(origin="import"),
            session_id=turn.session,
            speaker=turn.speaker,
            created_at_ms=turn.created_at_ms,
        )
        try:
            rows[turn.id] = store.add(memory).memory.row
        except RefusedText:
            continue
    return rows


def rank_by_fusion(store: Store) -> Ranking:
    """Clew's search."""
    return lambda query: [hit.memory.row for hit in store.search(query, EVERYTHING, limit=DEPTH).hits]


def rank_by_bm25(database: Database) -> Ranking:
    """FTS5's own ranking."""

    def rank(query: str) -> list[int]:
        asked = fts_query(query)
        if asked is None:
            return []
        sql = "SELECT rowid FROM memory_fts WHERE memory_fts MATCH ? ORDER BY rank LIMIT ?"
        with database.read() as reader:
            return [row for (row,) in reader.rows(sql, (asked, DEPTH))]

    return rank


def rank_by_vectors(database: Database, embedder: BuiltinEmbedder) -> Ranking:
    """Cosine of the vectors alone."""
    with database.read() as reader:
        found = reader.rows("SELECT row, embedding FROM memories WHERE embedding IS NOT NULL ORDER BY row")
    rows = np.array([row for row, _ in found])
    matrix = np.stack([np.frombuffer(blob, "<f4") for _, blob in found])
    return lambda query: rows[np.argsort(-(matrix @ embedder.embed(query)), kind="stable")[:DEPTH]].tolist()


def rank_by_rrf(first: Ranking, second: Ranking) -> Ranking:
    """Reciprocal rank fusion, the usual hybrid."""

    def rank(query: str) -> list[int]:
        scores: dict[int, float] = {}
        for ranking in (first(query), second(query)):
            for place, row in enumerate(ranking):
                scores[row] = scores.get(row, 0.0) + 1 / (RRF_K + 1 + place)
        return sorted(scores, key=lambda row: -scores[row])

    return rank


def measure(ranked: Sequence[int], gold: frozenset[int]) -> dict[str, float]:
    """The metrics of one query."""
    first = next((place for place, row in enumerate(ranked) if row in gold), None)
    return {
        "recall@5": len(gold.intersection(ranked[:5])) / len(gold),
        "recall@10": len(gold.intersection(ranked[:10])) / len(gold),
        "hit@10": float(bool(gold.intersection(ranked[:10]))),
        "mrr": 0.0 if first is None else 1 / (first + 1),
    }


def mean(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    """The mean of each metric."""
    return {name: round(float(np.mean([row[name] for row in rows])), 4) for name in rows[0]} | {"n": len(rows)}


def evaluate(
    raw: dict[str, Any], embedder: BuiltinEmbedder, results: dict[str, list[tuple[str, dict[str, float]]]]
) -> int:
    """Measure all methods on one conversation; returns how many turns it has."""
    turns = read_turns(raw)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memories.db"
        with (
            Store.open(path, embedder=embedder) as store,
            Store.open(path) as wordy,
            closing(Database(path)) as database,
        ):
            rows = save_turns(store, turns)
            store.embed_missing()
            database.open(lambda _: None)
            bm25, vectors = rank_by_bm25(database), rank_by_vectors(database, embedder)
            methods = {
                "clew": rank_by_fusion(store),
                "clew, no model": rank_by_fusion(wordy),
                "bm25": bm25,
                "vectors": vectors,
                "rrf": rank_by_rrf(bm25, vectors),
            }
            for query in read_queries(raw, set(rows)):
                gold = frozenset(rows[turn] for turn in query.gold)
                for name, rank in methods.items():
                    results.setdefault(name, []).append((query.category, measure(rank(query.text), gold)))
    return len(turns)


def summarise(rows: Sequence[tuple[str, dict[str, float]]]) -> dict[str, Any]:
    """The headline without adversarial questions, and each category."""
    by_category = {
        category: [row for one, row in rows if one == category] for category in sorted({one for one, _ in rows})
    }
    answerable = [row for category, row in rows if category != "adversarial"]
    return mean(answerable) | {"by_category": {category: mean(some) for category, some in by_category.items()}}


def main() -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="LoCoMo: a JSON file, a zip or a folder")
    parser.add_argument("--json", type=Path, help="write the result here as well")
    arguments = parser.parse_args()
    embedder = BuiltinEmbedder()
    results: dict[str, list[tuple[str, dict[str, float]]]] = {}
    turns = [evaluate(raw, embedder, results) for raw in read_conversations(arguments.data)]
    summary = {
        "benchmark": "locomo",
        "embedder": embedder.signature,
        "conversations": len(turns),
        "memories": sum(turns),
        "methods": {name: summarise(rows) for name, rows in results.items()},
    }
    text = json.dumps(summary, indent=2)
    print(text)
    if arguments.json:
        arguments.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
