"""Pi's modes that stay open: rpc, and the terminal interface in tmux."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shutil
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Self

from processes import PATIENCE_S, is_alive, wait_until

Json = dict[str, Any]


class RpcSession:
    """A client of `pi --mode rpc`.

    Dialogs are answered from `answers` by the name of their method; an answer may be a function of the request. A dialog
    without an answer is left (cancelled).
    """

    def __init__(
        self, command: Sequence[str], cwd: Path, env: Mapping[str, str], answers: Mapping[str, Any] | None
    ) -> None:
        self.answers = dict(answers or {})
        self.records: list[Json] = []
        self.stderr = ""
        self._inbox: queue.Queue[Json | None] = queue.Queue()
        self.process = subprocess.Popen(
            command, cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self._threads = [
            threading.Thread(target=self._read_records, args=(self.process.stdout,), daemon=True),
            threading.Thread(target=self._read_stderr, args=(self.process.stderr,), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def _read_records(self, stdout: IO[bytes]) -> None:
        for line in stdout:  # bytes split at LF alone, as the protocol wants it
            record = json.loads(line)
            self.records.append(record)
            if record.get("type") == "extension_ui_request":
                self._answer_dialog(record)
            self._inbox.put(record)
        self._inbox.put(None)

    def _read_stderr(self, stderr: IO[bytes]) -> None:
        for line in stderr:
            self.stderr += line.decode(errors="replace")

    def _answer_dialog(self, request: Json) -> None:
        method = request["method"]
        if method not in {"select", "confirm", "input", "editor"}:
            return
        answer = self.answers.get(method)
        if callable(answer):
            answer = answer(request)
        response: Json = {"type": "extension_ui_response", "id": request["id"]}
        if answer is None:
            response["cancelled"] = True
        else:
            response["confirmed" if method == "confirm" else "value"] = answer
        self._write(response)

    def _write(self, record: Json) -> None:
        stdin = self.process.stdin
        assert stdin is not None
        with contextlib.suppress(BrokenPipeError):
            stdin.write(json.dumps(record).encode() + b"\n")
            stdin.flush()

    def ui(self, method: str) -> list[Json]:
        """What the extension asked the interface to do, by method (`notify`, `setStatus`, `confirm`, …)."""
        return [r for r in list(self.records) if r.get("type") == "extension_ui_request" and r["method"] == method]

    def notices(self) -> list[str]:
        """Texts of the notifications."""
        return [record["message"] for record in self.ui("notify")]

    def send(self, kind: str, **fields: Any) -> Json:
        """Send a command and wait for its response."""
        number = uuid.uuid4().hex[:8]
        self._write({"id": number, "type": kind, **fields})
        return self.wait_for(lambda r: r.get("type") == "response" and r.get("id") == number, kind)

    def wait_for(self, test: Callable[[Json], bool], what: str) -> Json:
        """The next record that passes the test."""
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                record = self._inbox.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                raise TimeoutError(f"{what}: no answer from Pi. Its stderr: {self.stderr[-2000:]}") from None
            if record is None:
                raise EOFError(f"{what}: Pi has ended. Its stderr: {self.stderr[-2000:]}")
            if test(record):
                return record

    def prompt(self, message: str) -> Json:
        """Send a prompt; return when the run has settled, or when a command was handled."""
        response = self.send("prompt", message=message)
        if response.get("success") and response["data"]["disposition"] == "started":
            self.wait_for(lambda r: r.get("type") == "agent_settled", f"the answer to {message[:40]!r}")
        return response

    def kill(self) -> None:
        """End Pi at once, as a power cut would."""
        self.process.kill()
        self._finish()

    def close(self) -> int:
        """Close Pi's stdin and wait for its end; the exit code."""
        if self.process.poll() is None and self.process.stdin:
            self.process.stdin.close()
            try:
                self.process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                self.kill()
                raise
        return self._finish()

    def _finish(self) -> int:
        code = self.process.wait(PATIENCE_S)
        for thread in self._threads:
            thread.join(PATIENCE_S)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(BrokenPipeError):
                stream.close()  # type: ignore[union-attr]  # all three are pipes
        return code

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class TerminalSession:
    """Pi in a tmux server of its own: keys in, screen text out."""

    def __init__(self, command: Sequence[str], cwd: Path, env: Mapping[str, str], width: int, height: int) -> None:
        self._socket = f"clew-test-{uuid.uuid4().hex[:8]}"
        self._env = {**env, "TERM": "xterm-256color"}
        size = ["-x", str(width), "-y", str(height)]
        self._tmux("-f", os.devnull, "new-session", "-d", "-s", "pi", *size, "-c", str(cwd), *command)
        self.pid = int(self._tmux("list-panes", "-F", "#{pane_pid}"))

    @staticmethod
    def is_available() -> bool:
        """Whether tmux is installed."""
        return shutil.which("tmux") is not None

    def _tmux(self, *args: str) -> str:
        command = ["tmux", "-L", self._socket, *args]
        done = subprocess.run(command, env=self._env, capture_output=True, text=True, timeout=PATIENCE_S, check=True)
        return done.stdout

    def press(self, *keys: str) -> None:
        """Press keys by tmux's names: Enter, Escape, Up, C-c, …"""
        self._tmux("send-keys", "-t", "pi", *keys)

    def submit(self, text: str) -> None:
        """Type a line and send it off. Enter on an open completion menu only accepts, so it may take a second one."""
        self._tmux("send-keys", "-t", "pi", "-l", text)
        end = text.rsplit(maxsplit=1)[-1]  # a long line is wrapped on the screen
        self.wait_for(end)
        self.press("Enter")
        with contextlib.suppress(TimeoutError):
            wait_until(lambda: not self._is_typed(end), "sending off", patience_s=1.0)
            return
        self.press("Enter")

    def _is_typed(self, text: str) -> bool:
        """Whether the editor (between the last two rules on the screen) still holds the text."""
        lines = self.screen().splitlines()
        rules = [i for i, line in enumerate(lines) if line.startswith("────")]
        return len(rules) > 1 and any(text in line for line in lines[rules[-2] : rules[-1]])

    def screen(self) -> str:
        """The text on the screen."""
        return self._tmux("capture-pane", "-t", "pi", "-p").rstrip()

    def wait_for(self, text: str) -> str:
        """The screen, as soon as it shows the text."""
        try:
            screen: str = wait_until(lambda: self._screen_with(text), f"{text!r} on the screen")
        except TimeoutError as error:
            raise TimeoutError(f"{error}\n{self.screen()}") from None
        return screen

    def _screen_with(self, text: str) -> str:
        screen = self.screen()
        return screen if text in screen else ""

    def close(self) -> None:
        """Hang up the terminal and wait for Pi's end."""
        with contextlib.suppress(subprocess.CalledProcessError):
            self._tmux("kill-server")  # the server of this socket only
        try:
            wait_until(lambda: not is_alive(self.pid), "the end of Pi in the terminal")
        except TimeoutError:
            os.kill(self.pid, signal.SIGKILL)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
