"""An engine process with a scripted session, for the bridge tests: `scripted_engine.py LOG KEY=VALUE…`."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

from clew.core.errors import StoreBusy
from clew.hosts.pi.bridge import serve
from clew.hosts.pi.protocol import CaptureResult, RecallResult, ToolResult

LOG = Path(sys.argv[1])
SCRIPT = dict(argument.split("=") for argument in sys.argv[2:])
HANG_S = 60
# Not where it is raised: a traceback shows that line.
PRIVATE = "private-words"


def log(line: str) -> None:
    with LOG.open("a", encoding="utf-8") as file:
        file.write(line + "\n")


def act(name: str) -> None:
    """What the script wants at this point: hang, fail, refuse, or a number of seconds."""
    manner = SCRIPT.get(name, "")
    if manner == "hang":
        time.sleep(HANG_S)
    elif manner == "fail":
        raise KeyError(PRIVATE)
    elif manner == "refuse":
        raise StoreBusy("The store is busy.", "Try again.")
    elif manner:
        time.sleep(float(manner))


class ScriptedSession:
    def __init__(self, ui) -> None:
        self.ui = ui

    def start(self) -> None:
        act("start")
        threading.Thread(target=time.sleep, args=(HANG_S,)).start()  # not a daemon: it would hold a normal exit

    def sync(self, params) -> None:
        log(f"sync {len(params.messages)}")

    def capture(self, params) -> CaptureResult:
        act("capture")
        log(f"capture {' '.join(message.text for message in params.messages)}")
        return CaptureResult(journalled=len(params.messages))

    def recall(self, params) -> RecallResult:
        act("recall")
        return RecallResult(content=f"for {params.prompt}", injected=[], mode="lexical")

    def run_command(self, params) -> None:
        if params.args == "ask":
            log(f"answer {self.ui.confirm('Sure?', 'Really')}")
        else:
            sys.stdout.write("noise from a library\n")
            subprocess.run(["sh", "-c", "echo noise from a child; cat"], check=True)
            os.write(1, b"noise on descriptor 1\n")
        self.ui.notify("done", "info")

    def run_tool(self, params) -> ToolResult:
        return ToolResult(text=params.name, details=dict(params.arguments), is_error=False)

    def shutdown(self, params) -> None:
        log(f"shutdown {params.reason}")
        act("shutdown")


def build(params, ui) -> ScriptedSession:
    sys.stdout.write("noise while building\n")
    act("build")
    return ScriptedSession(ui)


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer, build)
