"""What Clew costs a person who uses Pi: time that its handlers hold Pi up, start of the engine, and its memory.

    npm ci && .venv/bin/python benchmarks/overhead.py

Real Pi runs the same prompts twice against the same scripted model, without Clew and with it. The time of each handler is
taken inside Pi, by an extension that wraps Clew's own. Prints one JSON object; times in milliseconds, memory in MB.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY / "tests" / "e2e"))

from pi_driver import Pi  # noqa: E402
from processes import engines_of, resident_mb  # noqa: E402
from scripted_model import ScriptedModel  # noqa: E402
from stored import Stored  # noqa: E402

TURNS = 20
STARTS = 10

#: Loads Clew's extension behind an interface that times each of its event handlers.
TIMED_EXTENSION = """
import { appendFileSync } from "node:fs";
import clew from %(extension)s;

const note = (event: string, ms: number) => appendFileSync(%(log)s, JSON.stringify({ event, ms }) + "\\n");

export default (pi: any) => clew(new Proxy(pi, {
  get(target, name) {
    if (name !== "on") return Reflect.get(target, name, target);
    return (event: string, handle: (event: unknown, context: unknown) => unknown) =>
      target.on(event, async (payload: unknown, context: unknown) => {
        const start = performance.now();
        try { return await handle(payload, context); } finally { note(event, performance.now() - start); }
      });
  },
}));
"""

PROMPTS = (
    "In this repo we use pnpm, never npm.",
    "Should I use npm or pnpm here?",
    "ok thanks",
    "I always prefer short answers without a summary.",
    "Write a regex for Italian VAT numbers.",
)


def describe(times_ms: Sequence[float]) -> dict[str, float]:
    """Median, 95th percentile and maximum."""
    ordered = sorted(times_ms)
    return {
        "n": len(ordered),
        "p50": round(statistics.median(ordered), 3),
        "p95": round(ordered[int(len(ordered) * 0.95)], 3),
        "max": round(ordered[-1], 3),
    }


def time_turns(pi: Pi, *, with_clew: bool) -> dict[str, Any]:
    """Start Pi, run the turns; times from outside, and the engine's memory at the end."""
    started = time.perf_counter()
    with pi.rpc() as session:
        session.send("get_state")
        start_ms = (time.perf_counter() - started) * 1000
        turns_ms = []
        for turn in range(TURNS):
            begin = time.perf_counter()
            session.prompt(f"{PROMPTS[turn % len(PROMPTS)]} ({turn})")
            turns_ms.append((time.perf_counter() - begin) * 1000)
        report: dict[str, Any] = {"start_ms": round(start_ms, 1), "turn_ms": describe(turns_ms)}
        if with_clew:
            Stored(pi).wait_for_judged(TURNS)
            (engine,) = engines_of(pi.home)
            report["engine_rss_mb"] = round(resident_mb(engine), 1)
        return report


def time_handlers(log: Path) -> dict[str, dict[str, float]]:
    """Times of each handler by its event, from what the timed extension noted."""
    times: dict[str, list[float]] = defaultdict(list)
    for line in log.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        times[record["event"]].append(record["ms"])
    return {event: describe(values) for event, values in sorted(times.items())}


def time_handshake(pi: Pi) -> float:
    """Milliseconds from starting an engine to its answer to `initialize`."""
    from clew.hosts.pi.protocol import PROTOCOL_VERSION

    params = {
        "protocol": PROTOCOL_VERSION,
        "extension_version": "0",
        "mode": "rpc",
        "has_ui": False,
        "capabilities": [],
        "cwd": str(pi.project),
        "agent_dir": str(pi.agent_dir),
        "session_id": "benchmark",
        "session_file": None,
        "project_trusted": True,
        "reason": "startup",
        "messages": [],
        "injected": [],
    }
    frame = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).encode() + b"\n"
    start = time.perf_counter()
    engine = subprocess.Popen(
        [sys.executable, "-m", "clew", "engine"],
        env=pi.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert engine.stdin
    assert engine.stdout
    engine.stdin.write(frame)
    engine.stdin.flush()
    answer = json.loads(engine.stdout.readline())
    elapsed_ms = (time.perf_counter() - start) * 1000
    assert "result" in answer, answer
    engine.stdin.close()
    engine.wait(10)
    return elapsed_ms


def time_bare_python() -> float:
    """Milliseconds for the interpreter to start and end: the floor of any engine in Python."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return (time.perf_counter() - start) * 1000


def measure(folder: Path) -> dict[str, Any]:
    """The whole report."""
    with ScriptedModel() as model:
        without = time_turns(Pi(folder / "without", model.base_url), with_clew=False)
        pi = Pi(folder / "with", model.base_url)
        pi.write_gate_config(reviewMode="auto")
        log = folder / "handlers.jsonl"
        extension = json.loads(pi.clew("pi", "path", "--json").stdout)["path"]
        pi.extension = folder / "timed.ts"
        index = Path(extension) / "index.ts" if Path(extension).is_dir() else Path(extension)
        pi.extension.write_text(TIMED_EXTENSION % {"extension": json.dumps(str(index)), "log": json.dumps(str(log))})
        pi.env["CLEW_PYTHON"] = sys.executable
        with_clew = time_turns(pi, with_clew=True)
        return {
            "handlers_ms": time_handlers(log),
            "without_clew": without,
            "with_clew": with_clew,
            "turn_ratio": round(with_clew["turn_ms"]["p50"] / without["turn_ms"]["p50"], 3),
            "handshake_ms": describe([time_handshake(pi) for _ in range(STARTS)]),
            "bare_python_ms": describe([time_bare_python() for _ in range(STARTS)]),
            "engine_rss_mb": with_clew.pop("engine_rss_mb"),
        }


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory(prefix="clew-overhead-") as folder:
        print(json.dumps(measure(Path(folder).resolve()), indent=2))


if __name__ == "__main__":
    main()
