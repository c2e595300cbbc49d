"""What Clew costs a person who uses Pi: time that its handlers hold Pi up, start of the engine, and its memory.

    npm ci && .venv/bin/python benchmarks/overhead.py

Real Pi runs the same prompts twice against the same scripted model, without Clew and with it. The time of each handler is
taken inside Pi, by an extension that wraps Clew's own. Prints one JSON object; times in milliseconds, memory in MB.
"""

from __future__ import annotations

import json
import math
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
from pi_modes import RpcSession  # noqa: E402
from processes import engines_of, resident_mb  # noqa: E402
from scripted_model import ScriptedModel  # noqa: E402
from stored import Stored  # noqa: E402

TURNS = 20
STARTS = 7

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
    """Median, 95th percentile and maximum, and the first one, which pays for what is loaded once."""
    ordered = sorted(times_ms)
    return {
        "n": len(ordered),
        "first": round(times_ms[0], 3),
        "p50": round(statistics.median(ordered), 3),
        "p95": round(ordered[math.ceil(len(ordered) * 0.95) - 1], 3),
        "max": round(ordered[-1], 3),
    }


def time_start(pi: Pi) -> float:
    """Milliseconds from starting Pi to its first answer."""
    start = time.perf_counter()
    with pi.rpc() as session:
        session.send("get_state")
        return (time.perf_counter() - start) * 1000


def time_turns(session: RpcSession) -> list[float]:
    """Milliseconds of each turn, from the prompt until the run has settled."""
    times_ms = []
    for turn in range(TURNS):
        begin = time.perf_counter()
        session.prompt(f"{PROMPTS[turn % len(PROMPTS)]} ({turn})")
        times_ms.append((time.perf_counter() - begin) * 1000)
    return times_ms


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


def load_timed_extension(pi: Pi, log: Path) -> None:
    """Let Pi load Clew's extension behind one that times its handlers."""
    source = Path(json.loads(pi.clew("pi", "path", "--json").stdout)["path"])
    pi.extension = pi.root / "timed.ts"
    names = {"extension": json.dumps(str(source)), "log": json.dumps(str(log))}
    pi.extension.write_text(TIMED_EXTENSION % names, encoding="utf-8")
    pi.env["CLEW_PYTHON"] = pi.python


def measure(folder: Path) -> dict[str, Any]:
    """The whole report."""
    with ScriptedModel() as model:
        bare, pi = Pi(folder / "without", model.base_url), Pi(folder / "with", model.base_url)
        log = folder / "handlers.jsonl"
        load_timed_extension(pi, log)
        pi.write_gate_config(reviewMode="auto")
        for warmed in (bare, pi):
            warmed.print("hello")  # fills Node's caches for both
        starts = [(time_start(bare), time_start(pi)) for _ in range(STARTS)]
        with bare.rpc() as session:
            turns_without_ms = time_turns(session)
        log.unlink()
        with pi.rpc() as session:
            turns_with_ms = time_turns(session)
            Stored(pi).wait_for_judged(TURNS + 1)
            (engine,) = engines_of(pi.home)
            engine_mb = resident_mb(engine)
        return {
            "handlers_ms": time_handlers(log),
            "turn_ms": {"without": describe(turns_without_ms), "with": describe(turns_with_ms)},
            "start_ms": {
                "without": describe([without for without, _ in starts]),
                "with": describe([with_clew for _, with_clew in starts]),
            },
            "handshake_ms": describe([time_handshake(pi) for _ in range(STARTS)]),
            "bare_python_ms": describe([time_bare_python() for _ in range(STARTS)]),
            "engine_mb": round(engine_mb, 1),
        }


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory(prefix="clew-overhead-") as folder:
        print(json.dumps(measure(Path(folder).resolve()), indent=2))


if __name__ == "__main__":
    main()
