"""The `clew` command as a process: exit codes, JSON, closed pipes, odd terminals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "webshop.jsonl"
LIMIT_S = 60


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home ü"
    folder.mkdir()
    return folder


def clew(home: Path, *args: str, **more: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: PLW1510 - it stands in the keywords
        [sys.executable, "-m", "clew", *args],
        **{"env": environment(home), "cwd": home, "capture_output": True, "text": True, "stdin": subprocess.DEVNULL,
           "timeout": LIMIT_S, "check": False, **more},
    )  # fmt: skip


def environment(home: Path, **more: str) -> dict[str, str]:
    return {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", **more}


def test_what_is_remembered_is_found_listed_and_forgotten(home: Path) -> None:
    saved = json.loads(clew(home, "remember", "--json", "The staging database is on port 5544").stdout)
    assert saved["outcome"] == "saved"
    assert (
        json.loads(clew(home, "remember", "--json", "the staging database is on port 5544.").stdout)["outcome"]
        == "duplicate"
    )
    (hit,) = json.loads(clew(home, "search", "--json", "staging database port").stdout)["hits"]
    assert hit["id"] == saved["id"]
    assert "port 5544" in clew(home, "list").stdout
    forgotten = clew(home, "forget", "--yes", "--json", "5544")
    assert json.loads(forgotten.stdout) == {"forgotten": saved["id"]}
    assert json.loads(clew(home, "list", "--json").stdout) == []


def test_a_memory_for_this_folder_is_seen_here_only(home: Path) -> None:
    (home / "shop").mkdir()
    (home / "blog").mkdir()
    clew(home, "remember", "--here", "The shop uses pnpm", cwd=home / "shop")
    assert "pnpm" in clew(home, "search", "--here", "pnpm", cwd=home / "shop").stdout
    assert "Nothing found" in clew(home, "search", "--here", "pnpm", cwd=home / "blog").stdout
    assert "pnpm" in clew(home, "search", "pnpm", cwd=home / "blog").stdout


def test_a_secret_is_refused_with_a_reason_that_does_not_repeat_it(home: Path) -> None:
    secret = "hunter2" + "Zx9!"
    done = clew(home, "remember", f"the database password is {secret}")
    assert done.returncode == 1
    assert "secret" in done.stderr
    assert secret not in done.stdout + done.stderr


def test_forgetting_without_a_terminal_needs_yes(home: Path) -> None:
    clew(home, "remember", "I prefer tabs")
    done = clew(home, "forget", "tabs")
    assert (done.returncode, "--yes" in done.stderr) == (1, True)
    assert "tabs" in clew(home, "list").stdout


@pytest.mark.parametrize("command", [("list",), ("search", "x"), ("forget", "x", "--yes"), ("status",)])
def test_a_folder_without_a_database_is_named_and_none_is_made(home: Path, command: tuple[str, ...]) -> None:
    done = clew(home, *command, "--data-dir", "nowhere")
    assert done.returncode == 1
    assert "nowhere" in done.stdout + done.stderr
    assert not (home / "nowhere").exists()


def test_before_the_first_memory_a_list_is_empty_and_no_error(home: Path) -> None:
    assert clew(home, "list").stdout.strip() == "Nothing yet."


@pytest.mark.parametrize(
    "args",
    [
        (),
        ("frobnicate",),
        ("search",),
        ("search", "x", "--limit", "0"),
        ("search", "x", "--limit", "many"),
        ("replay",),
        ("pi",),
    ],
)
def test_wrong_usage_ends_with_2_and_says_how(home: Path, args: tuple[str, ...]) -> None:
    done = clew(home, *args)
    assert done.returncode == 2
    assert "usage: clew" in done.stderr


@pytest.mark.parametrize("name", ["replay", "search", "remember", "forget", "list", "status", "pi"])
def test_every_command_explains_itself(home: Path, name: str) -> None:
    done = clew(home, name, "--help")
    assert done.returncode == 0
    assert f"usage: clew {name}" in done.stdout


def test_a_replay_prints_one_json_row_per_state_and_the_totals_last(home: Path) -> None:
    done = clew(home, "replay", str(EXAMPLE), "--json", "--data-dir", str(home / "data"))
    *rows, totals = [json.loads(line) for line in done.stdout.splitlines()]
    assert {frozenset(row) for row in rows} == {frozenset({"entry_id", "outcome", "reason", "scores", "ms"})}
    assert {row["outcome"] for row in rows} <= {"saved", "queued", "filtered", "vetoed"}
    assert totals["totals"]["judged"] == len(rows)
    assert len(rows) > 25
    assert (home / "data" / "memories.db").exists()
    again = clew(home, "replay", str(EXAMPLE), "--json", "--data-dir", str(home / "data"))
    assert [json.loads(line) for line in again.stdout.splitlines()][-1]["totals"]["judged"] == 0


def test_a_replay_without_a_folder_touches_no_memories(home: Path) -> None:
    assert clew(home, "replay", str(EXAMPLE)).returncode == 0
    assert not (home / ".pi").exists()


@pytest.mark.parametrize("content", [b"", b"\x00\xff\xfe", b'{"type":"message"}\n', b"[" * 5000])
def test_a_file_that_is_no_session_is_named(home: Path, content: bytes) -> None:
    (home / "odd.jsonl").write_bytes(content)
    done = clew(home, "replay", "odd.jsonl")
    assert done.returncode == 1
    assert "odd.jsonl" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_reader_that_leaves_early_is_no_error(home: Path) -> None:
    command = f'"{sys.executable}" -m clew replay "{EXAMPLE}"; echo "code $?" >&2'
    done = subprocess.run(
        ["bash", "-c", f"({command}) | head -1"],
        env=environment(home),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert "code 0" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("redirection", "code"), [("> /dev/full", 1), (">&-", 0), ("<&-", 0), ("2>&-", 0)])
def test_closed_and_full_streams_end_without_a_traceback(home: Path, redirection: str, code: int) -> None:
    command = f'"{sys.executable}" -m clew list {redirection}; echo "code $?" >&2'
    done = subprocess.run(
        ["bash", "-c", command], env=environment(home), capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert f"code {code}" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("redirection", ["<&-", ">&-"])
def test_the_engine_without_its_pipes_says_so(home: Path, redirection: str) -> None:
    command = f'"{sys.executable}" -m clew engine {redirection}; echo "code $?" >&2'
    done = subprocess.run(
        ["bash", "-c", command], env=environment(home), capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert "code 1" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_terminal_that_knows_ascii_only_gets_question_marks(home: Path) -> None:
    clew(home, "remember", "Ich mag Tabs über alles")
    done = clew(home, "list", env=environment(home, PYTHONIOENCODING="ascii"))
    assert (done.returncode, "?ber" in done.stdout) == (0, True)


def test_ctrl_c_ends_with_130(home: Path) -> None:
    sessions = home / "sessions"
    sessions.mkdir()
    for number in range(400):
        (sessions / f"{number}.jsonl").write_bytes(EXAMPLE.read_bytes())
    process = subprocess.Popen(
        [sys.executable, "-m", "clew", "replay", "sessions", "--json"], cwd=home, env=environment(home),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=LIMIT_S)
    assert (process.returncode, errors.strip()) == (130, "clew: interrupted")
