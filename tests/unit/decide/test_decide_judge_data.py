"""The labelled rows that the judge is trained on."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FILES = {
    path.stem: [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for path in sorted((ROOT / "data" / "judge").glob("*.jsonl"))
}
ROWS = [row for rows in FILES.values() for row in rows]
STATES = [row for row in ROWS if "user" in row]
PAIRS = [row for row in ROWS if "a" in row]


def test_there_are_enough_messages_and_most_hold_nothing() -> None:
    assert len(STATES) >= 3_000
    assert sum(not row["labels"]["should_save"] for row in STATES) >= 0.6 * len(STATES)


@pytest.mark.parametrize("lang", ["it", "es", "fr", "de", "pt", "zh", "ja"])
def test_every_language_has_its_rows(lang) -> None:
    assert Counter(row["lang"] for row in STATES)[lang] >= 40


def test_no_row_and_no_message_is_there_twice() -> None:
    assert len({row["id"] for row in ROWS}) == len(ROWS)
    assert len({(row["user"], row.get("previous_assistant")) for row in STATES}) == len(STATES)


def test_labels_do_not_contradict_each_other() -> None:
    wrong = []
    for row in STATES:
        labels = row["labels"]
        is_kept = labels["is_durable"] and not labels["has_secret"] and not labels["is_session_scoped"]
        if labels["should_save"] != (is_kept and labels["target"] != "none") or labels["importance"] not in range(5):
            wrong.append(row["id"])
    for row in PAIRS:
        if sum(row["labels"].values()) > 1:
            wrong.append(row["id"])
    assert wrong == []


def test_rows_of_one_topic_stand_on_one_side_of_the_split() -> None:
    sides: dict[str, set[str]] = {}
    for stem, rows in FILES.items():
        for row in rows:
            sides.setdefault(f"{stem} {row['topic']}", set()).add(row["split"])
    assert {topic: split for topic, split in sides.items() if len(split) > 1} == {}


def test_secrets_stand_in_the_data_as_placeholders() -> None:
    vendor = re.compile(r"ghp_[A-Za-z0-9]{30}|AKIA[0-9A-Z]{16}|sk_live_[A-Za-z0-9]{20}|xox[bp]-[0-9A-Za-z-]{20}")
    assert [row["id"] for row in ROWS if vendor.search(json.dumps(row))] == []


def test_the_data_card_says_what_the_files_hold() -> None:
    script = ROOT / "scripts" / "judge_data_card.py"
    assert subprocess.run([sys.executable, str(script), "--check"], check=False).returncode == 0
