"""Real Pi in a home of its own, driven in all its modes.

    pi = Pi(tmp_path, model.base_url)
    pi.install_clew()
    pi.print("hello").stdout
    with pi.rpc(answers={"confirm": True}) as session:
        session.prompt("/memory-review")

`HOME` and `PI_CODING_AGENT_DIR` point below the given folder, so that neither the real Pi nor its memories are touched.
Only processes that were started here are ever ended.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pi_modes import Json, RpcSession, TerminalSession
from processes import PATIENCE_S

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGE_NAME = "@earendil-works/pi-coding-agent"

_KEPT_ENVIRONMENT = ("LANG", "LC_ALL", "PATH", "TMPDIR", "SYSTEMROOT")


def find_pi() -> Path:
    """The Pi executable: `$CLEW_TEST_PI`, else the one that `npm ci` puts below the repository."""
    chosen = os.environ.get("CLEW_TEST_PI")
    pi = Path(chosen).absolute() if chosen else REPOSITORY / "node_modules" / ".bin" / "pi"
    if not pi.exists():
        raise FileNotFoundError(f"No Pi at {pi}. Run `npm ci` in {REPOSITORY}, or set CLEW_TEST_PI to a Pi executable.")
    return pi


def models_file(base_url: str) -> Json:
    """Pi's models.json with one provider, the scripted model."""
    model = {
        "id": "scripted",
        "name": "scripted",
        "input": ["text"],
        "contextWindow": 128_000,
        "maxTokens": 4096,
        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
    }
    provider = {"baseUrl": base_url, "api": "openai-completions", "apiKey": "not-needed", "models": [model]}
    return {"providers": {"scripted": provider}}


class Pi:
    """A Pi installation in a home of its own.

    Attributes:
        root: the folder that holds everything of this installation.
        project: the folder that Pi works in, unless a call names another.
        extension: loaded with `--extension` when set; otherwise what the agent folder's settings name.
    """

    def __init__(self, root: Path, base_url: str, *, settings: Mapping[str, Any] | None = None) -> None:
        self.root = root
        self.home = root / "home"
        self.agent_dir = root / "agent"
        self.project = root / "project"
        for folder in (self.home, self.agent_dir, self.project):
            folder.mkdir(parents=True, exist_ok=True)
        self.extension: Path | None = None
        self.executable = find_pi()
        self.python = sys.executable
        self._write(self.agent_dir / "models.json", models_file(base_url))
        defaults = {"defaultProvider": "scripted", "defaultModel": "scripted", "retry": {"baseDelayMs": 20}}
        quiet = {"enableInstallTelemetry": False, "tuiMode": "regular"}
        self._write(self.agent_dir / "settings.json", {**defaults, **quiet, **(settings or {})})
        kept = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
        self.env: dict[str, str] = {
            **kept,
            "HOME": str(self.home),
            "PI_CODING_AGENT_DIR": str(self.agent_dir),
            "PATH": os.pathsep.join([str(self.executable.parent), kept.get("PATH", os.defpath)]),
            "PI_OFFLINE": "1",
            "PI_SKIP_VERSION_CHECK": "1",
            "PI_TELEMETRY": "0",
        }

    # -- what stands on disk ---------------------------------------------------------------------------------------

    @property
    def database(self) -> Path:
        """Clew's database."""
        return self.home / ".pi" / "noodle" / "memories.db"

    @property
    def gate_dir(self) -> Path:
        """The gate's folder: log and calibration rows."""
        return self.agent_dir / "memory-gate"

    def write_gate_config(self, **settings: Any) -> None:
        """Write the gate's settings file."""
        self._write(self.agent_dir / "memory-gate-config.json", settings)

    def session_files(self) -> list[Path]:
        """Pi's session files, oldest first."""
        return sorted((self.agent_dir / "sessions").rglob("*.jsonl"), key=lambda path: path.name)

    def session_entries(self, index: int = -1) -> list[Json]:
        """Lines of a session file."""
        lines = self.session_files()[index].read_text(encoding="utf-8").split("\n")
        return [json.loads(line) for line in lines if line]

    @staticmethod
    def _write(path: Path, content: Mapping[str, Any]) -> None:
        path.write_text(json.dumps(content, indent=2), encoding="utf-8")

    # -- running ---------------------------------------------------------------------------------------------------

    def clew(self, *args: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run Clew's own command line as this installation's user."""
        command = [self.python, "-m", "clew", *args]
        return subprocess.run(
            command, cwd=self.project, env=self.env, capture_output=True, text=True, timeout=PATIENCE_S, check=check
        )

    def install_clew(self) -> None:
        """Put the extension into the agent folder, as a person would."""
        self.clew("pi", "install")

    def command(self, *args: str) -> list[str]:
        """Command line for Pi."""
        extension = ["--extension", str(self.extension)] if self.extension else []
        return [str(self.executable), *extension, *args]

    def run(self, *args: str, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> Finished:
        """Run Pi to its end, with nothing on its stdin."""
        done = subprocess.run(
            self.command(*args),
            cwd=cwd or self.project,
            env={**self.env, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=PATIENCE_S,
            check=False,
        )
        return Finished(done, ended_at=time.monotonic())

    def print(self, *prompts: str, args: Sequence[str] = (), **options: Any) -> Finished:
        """Run the prompts in print mode."""
        return self.run("-p", *args, *prompts, **options)

    def json(self, *prompts: str, args: Sequence[str] = (), **options: Any) -> list[Json]:
        """Run the prompts in json mode; the events."""
        done = self.run("--mode", "json", *args, *prompts, **options)
        if done.returncode:
            raise AssertionError(f"Pi ended with {done.returncode}: {done.stderr[-2000:]}")
        return [json.loads(line) for line in done.stdout.split("\n") if line.strip()]

    def rpc(
        self, *args: str, answers: Mapping[str, Any] | None = None, env: Mapping[str, str] | None = None
    ) -> RpcSession:
        """Start Pi in rpc mode."""
        return RpcSession(self.command("--mode", "rpc", *args), self.project, {**self.env, **(env or {})}, answers)

    def terminal(self, *args: str, width: int = 110, height: int = 40) -> TerminalSession:
        """Start Pi in a terminal."""
        return TerminalSession(self.command(*args), self.project, self.env, width, height)


class Finished:
    """A run of Pi that has ended. `ended_at` is a `time.monotonic()` second."""

    def __init__(self, done: subprocess.CompletedProcess[str], *, ended_at: float) -> None:
        self.returncode = done.returncode
        self.stdout = done.stdout
        self.stderr = done.stderr
        self.ended_at = ended_at
