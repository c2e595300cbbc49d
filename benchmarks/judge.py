"""How long the built-in judge takes for one state, and for its first decision in a fresh process. JSON on stdout.

    python benchmarks/judge.py [--repeats 300]

The reference, measured in the same run, is counting the words of the same text with `re` (pure Python work of known
size); ratios to it can be compared between machines, milliseconds cannot.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable

from clew.core.records import State
from clew.decide.builtin import BuiltinJudge
from clew.decide.questionnaire import load_questionnaire

_SENTENCES = (
    "ok the list works now, but the second page is still empty when the filter is set. ",
    "can you check whether the query gets the offset at all? ",
    "I'd rather have plain SQL in this module than another layer. ",
    "the log says `timeout after 30s`, which I don't believe. ",
    "from now on please run the type checker before you say it's done.\n",
)
_REPLY = "I changed `load_page` so that the offset survives the filter, and added a test for the second page. "
_COLD = """
import resource, sys, time
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() if sys.platform == "linux" else 0
before = resident()
started = time.perf_counter()
from clew.core.records import State
from clew.decide.builtin import BuiltinJudge
from clew.decide.questionnaire import load_questionnaire
BuiltinJudge(tier=sys.argv[1]).decide(State(user="always use tabs"), load_questionnaire(None))
print((time.perf_counter() - started) * 1000, (resident() - before) / 1e6)
"""


def make_state(size_bytes: int) -> State:
    """A state of that many bytes: three quarters typed, one quarter reply."""
    typed = ("".join(_SENTENCES) * (size_bytes // 100 + 1))[: size_bytes * 3 // 4]
    return State(user=typed, assistant=(_REPLY * (size_bytes // 90 + 1))[: size_bytes // 4])


def time_calls(call: Callable[[], object], repeats: int) -> dict[str, float]:
    """Milliseconds per call."""
    call()
    samples = []
    for _ in range(repeats):
        started = time.perf_counter()
        call()
        samples.append((time.perf_counter() - started) * 1000)
    cuts = statistics.quantiles(samples, n=20)
    return {"p50_ms": round(statistics.median(samples), 3), "p95_ms": round(cuts[18], 3)}


def measure_state(judge: BuiltinJudge, size_bytes: int, repeats: int) -> dict[str, object]:
    """One size: the judge, the reference, and their ratio."""
    state, questions = make_state(size_bytes), load_questionnaire(None)
    text = state.user + (state.assistant or "")
    judged = time_calls(lambda: judge.decide(state, questions), repeats)
    reference = time_calls(lambda: Counter(re.findall(r"\w+", text.lower())), repeats)
    ratio = round(judged["p50_ms"] / reference["p50_ms"], 1)
    return {"bytes": len(text.encode()), "judge": judged, "reference_word_count": reference, "ratio_p50": ratio}


def measure_cold_start(tier: str, runs: int = 5) -> dict[str, float]:
    """Median milliseconds from import to first answer in a fresh process, and the memory that this adds."""
    outputs = [
        subprocess.run([sys.executable, "-c", _COLD, tier], check=True, capture_output=True, text=True).stdout.split()
        for _ in range(runs)
    ]
    times, sizes = zip(*outputs, strict=True)
    return {
        "cold_start_ms": round(statistics.median(map(float, times)), 1),
        "added_memory_mb": round(statistics.median(map(float, sizes)), 1),
    }


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=300)
    repeats = parser.parse_args().repeats
    report: dict[str, object] = {"benchmark": "judge"}
    for tier in ("lexical", "encoder"):
        judge = BuiltinJudge(tier=tier)
        judge.warm_up()
        states = {f"{size} B": measure_state(judge, size, repeats) for size in (200, 4096)}
        report[tier] = {"model": judge.name, "states": states, **measure_cold_start(tier)}
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
