"""Writes data/judge/README.md: what the judge's labelled rows are, with every figure counted from the files.

    python scripts/judge_data_card.py [--check]

With --check nothing is written, and the exit code tells whether the page is up to date.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[1] / "data" / "judge"
CARD = DATA / "README.md"
SECOND = DATA / "second_reading.tsv"
_STATES = ("is_durable", "has_secret", "is_session_scoped", "is_failure", "importance", "target")
_PAIRS = ("same_fact", "replaces", "adds_detail")
_RELEVANCE = ("still_relevant",)
_BANDS = ((80, "under 80"), (200, "80-199"), (600, "200-599"), (1500, "600-1,499"), (10**9, "1,500 and more"))

_SUBJECTS = {
    "authored": "short statements with their hard twins: one-off rules, questions, quotations, pointers; English",
    "idle": "what tempts a judge and holds nothing: requirements of this feature, steering, fixed bugs; English",
    "idle_languages": "the same in the seven other languages",
    "idle_more": "more of them, longer; English",
    "idle_ops": "more of them in infrastructure, data, debugging, review; English",
    "languages": "short and natural messages in the seven other languages",
    "languages_dezhja": "more of them in German, Chinese and Japanese",
    "languages_romance": "more of them in Italian, Spanish, French and Portuguese",
    "natural": "all kinds, eight languages (the first batch)",
    "natural_apps": "front ends, mobile, games, notebooks, embedded, documentation, review; English",
    "natural_backend": "back ends, databases, infrastructure, CI, incidents; English",
    "natural_dezhja": "all kinds, written natively in German, Chinese and Japanese",
    "natural_ops": "infrastructure, pipelines, firmware, compilers, security: long, with logs and traces; English",
    "natural_product": "web, mobile, games, desktop: specs, steering, review, pasted code; English",
    "natural_romance": "all kinds, written natively in Italian, Spanish, French and Portuguese",
    "natural_sessions": "whole sessions, message after message, mostly idle; English",
    "ordinary_henceforth": "the most ordinary lasting statements: from now on, in future, remember that; English",
    "ordinary_rules": "the same: always, never, please don't, I like; English",
    "ordinary_team": "the same: we use, our rule, in this repository, it runs on; English",
    "ordinary_languages": "the same in the seven other languages",
    "pairs": "two memories: web, ops, preferences, machines",
    "pairs_more": "two memories: data, embedded, mobile, security, lessons, teams",
    "pairs_third": "two memories: databases, APIs, CI, testing, style, deployment",
    "pairs_fourth": "two memories: habits, machines, lessons, tools, games, science",
    "pairs_fifth": "two memories: likes and manners in few words, updates without a change word",
    "plain": "everyday messages with the usual markers of lasting and of passing; English",
    "plain_languages": "the same in Italian, Spanish, French, Portuguese and German",
    "plain_zhja": "the same in Chinese and Japanese",
    "relevance": "one memory with its date",
    "relevance_more": "one memory with its date: the hard twins",
    "weak_lessons": "lessons, manners and names without a marker, and their idle twins; all languages",
    "weak_long": "long messages, most idle, some with one lasting clause; English",
    "weak_secrets": "pointers to secrets, words about them, and values in prose; all languages",
    "weak_states": "dislikes of one output, working states, states of today, and their lasting twins; all languages",
    "weak_temporary": "orders with a limit, and their lasting twins; all languages",
    "relevance_third": "one memory with its date: told in the past tense, worded like facts",
    "terse": "half sentences: manners, facts and lessons without a marker, and their twins; English",
    "terse_languages": "the same in Italian, Spanish, French, Portuguese and German",
    "terse_zhja": "the same in Chinese and Japanese",
}

Row = Mapping[str, Any]


def read_rows() -> dict[str, list[Row]]:
    """File stem → its rows."""
    return {
        path.stem: [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for path in sorted(DATA.glob("*.jsonl"))
    }


def read_second() -> dict[str, dict[str, Any]]:
    """Row id → what the second reader said."""
    found = {}
    for line in SECOND.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        id_, _, labels = line.partition("\t")
        values = labels.split()
        names = {len(_STATES): _STATES, len(_PAIRS): _PAIRS, len(_RELEVANCE): _RELEVANCE}[len(values)]
        found[id_] = {
            name: value if name == "target" else int(value) if name == "importance" else value == "1"
            for name, value in zip(names, values, strict=True)
        }
    return found


def kappa(pairs: Sequence[tuple[Any, Any]]) -> tuple[float, float]:
    """Share of agreement, and Cohen's kappa."""
    count = len(pairs)
    agreed = sum(one == other for one, other in pairs) / count
    first, second = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    by_chance = sum(first[value] * second[value] for value in first) / count**2
    return agreed, (agreed - by_chance) / (1 - by_chance) if by_chance < 1 else 1.0


def is_state(row: Row) -> bool:
    """Whether the row is a message and not an entry of the memory."""
    return "user" in row


def table(header: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    rows = [header, ["---"] * len(header), *lines]
    return "\n".join("| " + " | ".join(str(cell) for cell in row) + " |" for row in rows)


def render() -> str:
    """The page."""
    files = read_rows()
    states = [row for rows in files.values() for row in rows if is_state(row)]
    saved = sum(row["labels"]["should_save"] for row in states)
    pairs = sum(len(rows) for rows in files.values() if "a" in rows[0])
    entries = sum(len(rows) for rows in files.values() if "text" in rows[0])
    return f"""# Data card: labelled rows for the judge

Written by `scripts/judge_data_card.py`; do not edit by hand. Licence: MIT.

{len(states):,} messages to a coding agent, {pairs:,} pairs of memories and {entries} dated memories, written for Clew, one JSON object a line.

{_render_files(files)}

- **Why.** Short authored statements teach a judge that long means worthless and that every rule is worth keeping. Most of
  these are messages as people send them to a coding agent: several sentences, typed in haste, {1 - saved / len(states):.0%} of them not worth
  remembering (bug reports, steering, design talk, reviews, pasted logs and code, thanks), with a lasting fact buried in some.
- **How.** Each row was written for these files; none is a copy of a real conversation or a filled-in template. No person,
  company or machine in it exists; secrets are placeholders such as `{{{{ghp}}}}` that training fills with made-up values. All
  rows come from language-model writers who were given a situation, a language and the guide below, and were checked by
  script for near copies: expect less variety than many people would show.
- **Split.** Every fifth topic is `test` (every tenth in the plain, terse and ordinary files): no head is trained on it. Rows of one topic stay together.

## Lengths

Characters of the message, worth saving and not, so that length alone tells neither class.

{_render_lengths(states)}

## Labels

For a message: `is_durable`: something stays true and useful in later sessions. `has_secret`: the value itself is there, also in
the reply. `is_session_scoped`: all of it is explicitly temporary. `is_failure`: a cause or dead end is named. `importance` 0-4.
`target`: `user`, `project`, `memory` (machine and tools), `failure`, or `none`. `should_save`: durable, no secret, not temporary,
target not `none`.

For a pair, b being the later: `same_fact`: one of them can go and nothing is lost. `replaces`: a can no longer be right if b is.
`adds_detail`: each holds something of its own, and both can be right. For one memory: `still_relevant`.

## Second reading

A second reader labelled the rows blind, in shuffled order, by the same guide (`second_reading.tsv`). Where the two differed in
a yes/no label, in the category of a row worth saving, or by more than one level of importance, a third looked at both
readings, not knowing whose was whose, and settled. Settled rows are marked `settled`; where the label changed, the first one
is kept as `first_labels`. Sixty messages
whose worth was in dispute, and that were settled as worth saving, were taken out of the training and of the test rows, so
that figures measured on these rows lean high; agreement below is of the rows that stayed. The readers are of one kind and
follow one guide, and for some files they were told to be strict: their agreement says that the guide is clear, and less that
people would agree.

{_render_agreement(files)}
"""


def _render_files(files: Mapping[str, list[Row]]) -> str:
    lines = []
    for stem, rows in files.items():
        saved = sum(row["labels"]["should_save"] for row in rows) if is_state(rows[0]) else "-"
        languages = Counter(row["lang"] for row in rows)
        shown = ", ".join(f"{lang} {count}" for lang, count in languages.most_common())
        test = sum(row["split"] == "test" for row in rows)
        lines.append((f"`{stem}.jsonl`", _SUBJECTS[stem], len(rows), saved, test, shown))
    return table(("file", "subject", "rows", "worth saving", "test", "languages"), lines)


def _render_lengths(states: Sequence[Row]) -> str:
    counts = {True: Counter(), False: Counter()}
    for row in states:
        band = next(name for end, name in _BANDS if len(row["user"]) < end)
        counts[row["labels"]["should_save"]][band] += 1
    totals = {kind: sum(found.values()) for kind, found in counts.items()}
    return table(
        ("characters", "worth saving", "not"),
        [
            (name, f"{counts[True][name] / totals[True]:.0%}", f"{counts[False][name] / totals[False]:.0%}")
            for _, name in _BANDS
        ],
    )


def _render_agreement(files: Mapping[str, list[Row]]) -> str:
    second = read_second()
    seen: dict[str, list[tuple[Any, Any]]] = {}
    rows = [row for found in files.values() for row in found]
    for row in rows:
        first = row.get("first_labels") or row["labels"]
        for name, value in second.get(row["id"], {}).items():
            seen.setdefault(name, []).append((first[name], value))
    read = sum(row["id"] in second for row in rows)
    settled = sum(bool(row.get("settled")) for row in rows)
    changed = sum("first_labels" in row for row in rows)
    lines = [(name, len(pairs), *(f"{value:.3f}" for value in kappa(pairs))) for name, pairs in seen.items()]
    return (
        f"{read:,} of {len(rows):,} rows were read twice; {settled} were settled, and {changed} of them got another label.\n\n"
        + table(("label", "rows", "agreement", "kappa"), lines)
    )


def main() -> None:
    """Command line."""
    page = render()
    if "--check" in sys.argv[1:]:
        sys.exit(page != CARD.read_text(encoding="utf-8"))
    CARD.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
