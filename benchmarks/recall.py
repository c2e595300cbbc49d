"""How long a recall takes, query embedding included, beside what its parts take alone.

    python benchmarks/recall.py [--sizes 1000 10000] [--queries 200]

Made-up memories of a coding agent in one database per size. Measured one query at a time in one process: Clew's search
(embedding, vectors, full text, fusion, rows), and as references in the same run embedding alone, a plain numpy float32
scan with embedding, and FTS5's own ranking. `cold` is a fresh process that opens the database and answers its first query
within a deadline too short to load the model, so by full text. Prints one JSON object; times are wall milliseconds.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from clew.core.records import NewMemory, Provenance, Visibility
from clew.store.adapter import Database
from clew.store.embedder import BuiltinEmbedder
from clew.store.store import Store
from clew.store.terms import fts_query

EVERYTHING = Visibility(everywhere=True)
SHOWN = 10
PARTS = [
    "parser",
    "scheduler",
    "cache",
    "billing",
    "login",
    "upload",
    "search",
    "export",
    "renderer",
    "worker",
    "gateway",
    "queue",
    "mailer",
    "report",
    "index",
]
TOOLS = [
    "pytest",
    "ruff",
    "docker",
    "postgres",
    "redis",
    "terraform",
    "webpack",
    "vite",
    "cargo",
    "gradle",
    "kafka",
    "nginx",
    "sqlite",
    "celery",
    "grafana",
]
RULES = (
    "always run {tool} before touching the {part}",
    "the {part} must not call {tool} directly",
    "we moved the {part} from {tool} to {other} in week {number}",
    "{tool} fails in the {part} unless the timeout is {number} seconds",
    "I prefer {tool} over {other} for the {part}",
    "the {part} of service {number} is deployed with {tool}",
    "keep the {part} below {number} MB, {tool} checks it",
    "never commit changes of the {part} without a {tool} run",
)
QUESTIONS = (
    "why does the {part} fail with {tool}?",
    "add a retry to the {part} and check it with {tool}",
    "which timeout does the {part} use",
    "deploy the {part} of service {number}",
    "can I replace {tool} with {other} in the {part}?",
)
COLD = """
import sys, time
start = time.perf_counter()
from pathlib import Path
from clew.core.records import Visibility
from clew.store.embedder import BuiltinEmbedder
from clew.store.store import Store
store = Store.open(Path(sys.argv[1]), embedder=BuiltinEmbedder())
result = store.search("why does the parser fail?", Visibility(everywhere=True), deadline=time.monotonic() + 0.01)
print((time.perf_counter() - start) * 1000, result.mode)
"""


def fill(template: str, chance: random.Random) -> str:
    """A sentence with parts, tools and numbers drawn by chance."""
    tool, other = chance.sample(TOOLS, 2)
    return template.format(part=chance.choice(PARTS), tool=tool, other=other, number=chance.randrange(1, 5000))


def build(path: Path, size: int, embedder: BuiltinEmbedder) -> None:
    """A database of `size` memories, with vectors."""
    chance = random.Random(size)
    with Store.open(path, embedder=embedder) as store:
        texts: dict[str, None] = {}
        while len(texts) < size:
            texts[f"{fill(chance.choice(RULES), chance)}; {fill(chance.choice(RULES), chance)}"] = None
        for number, text in enumerate(texts):
            memory = NewMemory(text=text, provenance=Provenance(origin="import"), session_id=f"s{number // 5}")
            store.add(memory)
        store.embed_missing()


def time_each(run: Callable[[str], object], queries: Sequence[str]) -> dict[str, float]:
    """Median and 95th percentile of the wall time of a call, after a few calls that are not counted."""
    for query in queries[:5]:
        run(query)
    spent = []
    for query in queries:
        start = time.perf_counter()
        run(query)
        spent.append((time.perf_counter() - start) * 1000)
    return {"p50_ms": round(float(np.percentile(spent, 50)), 2), "p95_ms": round(float(np.percentile(spent, 95)), 2)}


def scan_with_numpy(database: Database, embedder: BuiltinEmbedder) -> Callable[[str], object]:
    """The reference: all vectors as one float32 matrix."""
    with database.read() as reader:
        found = reader.rows("SELECT row, embedding FROM memories WHERE embedding IS NOT NULL")
    matrix = np.stack([np.frombuffer(blob, "<f4") for _, blob in found])
    return lambda query: np.argsort(-(matrix @ embedder.embed(query)))[:SHOWN]


def rank_with_fts5(database: Database) -> Callable[[str], object]:
    """The reference: FTS5's own ranking."""

    def run(query: str) -> object:
        sql = "SELECT rowid FROM memory_fts WHERE memory_fts MATCH ? ORDER BY rank LIMIT ?"
        with database.read() as reader:
            return reader.rows(sql, (fts_query(query), SHOWN))

    return run


def time_cold_start(path: Path, runs: int) -> dict[str, object]:
    """Fresh processes, from the first import to the first answer."""
    answers = [
        subprocess.run(
            [sys.executable, "-c", COLD, str(path)], capture_output=True, text=True, check=True
        ).stdout.split()
        for _ in range(runs)
    ]
    spent = sorted(float(answer[0]) for answer in answers)
    return {"p50_ms": round(spent[len(spent) // 2], 1), "best_ms": round(spent[0], 1), "mode": answers[0][1]}


def measure(size: int, queries: Sequence[str], embedder: BuiltinEmbedder) -> dict[str, object]:
    """All times at one size."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memories.db"
        build(path, size, embedder)
        with (
            Store.open(path, embedder=embedder) as store,
            Store.open(path) as wordy,
            closing(Database(path)) as database,
        ):
            database.open(lambda _: None)
            first = time.perf_counter()
            store.search(queries[0], EVERYTHING, limit=SHOWN)
            first = (time.perf_counter() - first) * 1000
            return {
                "memories": size,
                "first_search_ms": round(first, 1),
                "clew": time_each(lambda query: store.search(query, EVERYTHING, limit=SHOWN), queries),
                "clew_without_model": time_each(lambda query: wordy.search(query, EVERYTHING, limit=SHOWN), queries),
                "embedding_alone": time_each(embedder.embed, queries),
                "numpy_float32_with_embedding": time_each(scan_with_numpy(database, embedder), queries),
                "fts5_alone": time_each(rank_with_fts5(database), queries),
                "cold": time_cold_start(path, 7),
            }


def main() -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--json", type=Path, help="write the result here as well")
    arguments = parser.parse_args()
    chance = random.Random(7)
    queries = [fill(chance.choice(QUESTIONS), chance) for _ in range(arguments.queries)]
    embedder = BuiltinEmbedder()
    start = time.perf_counter()
    embedder.embed("warm")
    load_ms = round((time.perf_counter() - start) * 1000, 1)
    sizes = [measure(size, queries, embedder) for size in arguments.sizes]
    text = json.dumps({"benchmark": "recall", "embedder_load_ms": load_ms, "sizes": sizes}, indent=2)
    print(text)
    if arguments.json:
        arguments.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
