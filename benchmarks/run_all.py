"""Run every benchmark and print one JSON object: `make bench`. Each benchmark is a file here that prints JSON.

`--out FILE` also writes it; `--only NAME` runs one. Benchmarks that need data which Clew may not ship (LoCoMo) are
left out unless their file is named with `--locomo FILE`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
BENCHMARKS = ("judge", "recall", "relevance", "overhead")


def run(name: str, *args: str) -> Any:
    """Run one benchmark in a process of its own; a failure is part of the report."""
    start = time.monotonic()
    print(f"benchmark {name} ...", file=sys.stderr, flush=True)
    done = subprocess.run(
        [sys.executable, str(HERE / f"{name}.py"), *args], stdout=subprocess.PIPE, text=True, check=False
    )
    print(f"benchmark {name}: {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    if done.returncode:
        return {"failed": f"exit code {done.returncode}"}
    return json.loads(done.stdout)


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    return {
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "machine": platform.machine(),
    }


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=BENCHMARKS)
    parser.add_argument("--locomo", type=Path, help="LoCoMo conversations (zip); measured with, never shipped")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    names = [arguments.only] if arguments.only else list(BENCHMARKS)
    report: dict[str, Any] = {"machine": machine(), **{name: run(name) for name in names}}
    if arguments.locomo:
        report["locomo"] = run("locomo", "--data", str(arguments.locomo))
    text = json.dumps(report, indent=2)
    print(text)
    if arguments.out:
        arguments.out.write_text(text + "\n", encoding="utf-8")
    return 1 if any(isinstance(part, dict) and "failed" in part for part in report.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
