"""What the engine does to its own process: its standard streams, its signals, its log lines and its end."""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from typing import BinaryIO


def log(text: str) -> None:
    """One line on stderr, for whoever looks into a problem. Never holds text of a conversation."""
    try:
        sys.stderr.write(f"clew engine: {text}\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        pass  # nobody listens


def log_failure(where: str, error: BaseException) -> None:
    """The place of an unforeseen error, without its message: that may quote a memory."""
    log(f"{where} failed: {type(error).__name__}\n{''.join(traceback.format_tb(error.__traceback__))}")


def is_standard_stream(stream: BinaryIO, number: int) -> bool:
    """Whether the stream is this process's own descriptor of that number."""
    try:
        return stream.fileno() == number
    except (OSError, ValueError):
        return False


def claim_stdio(stdin: BinaryIO, stdout: BinaryIO) -> tuple[BinaryIO, BinaryIO]:
    """Take stdin and stdout for the protocol alone.

    Whatever a library or a child process prints from now on goes to stderr, and a child that reads finds an empty
    stdin instead of our frames.
    """
    own_stdin = os.fdopen(os.dup(stdin.fileno()), "rb")
    own_stdout = os.fdopen(os.dup(stdout.fileno()), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return own_stdin, own_stdout


def on_termination(end: Callable[[str], None]) -> None:
    """Call `end` with the signal's name on SIGTERM and SIGINT. A hang-up of the terminal is left to the host."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _frame: end(signal.Signals(received).name))
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
