"""Labelled states for training the built-in judge: reading, made-up secret values, variants, topics."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from clew.core.records import State
from clew.core.secrets import redact
from clew.decide.evaluation.placeholders import fill_placeholders, seeded
from clew.decide.lexical.model import CATEGORIES


@dataclass(frozen=True, kw_only=True)
class Row:
    """One labelled state. `source` is the file's stem, `weight` its share in training."""

    id: str
    lang: str
    source: str
    state: State
    is_durable: bool
    has_secret: bool
    is_session_scoped: bool
    is_failure: bool
    importance: int
    target: str
    is_test: bool = False
    weight: float = 1.0

    @property
    def should_save(self) -> bool:
        """What a careful person would approve."""
        is_vetoed = self.has_secret or self.is_session_scoped
        return self.is_durable and not is_vetoed and self.target != "none"

    def label(self, head: str) -> bool:
        """The truth for one of the judge's heads."""
        if head == "save":
            return self.should_save
        if head.startswith("importance>="):
            return self.importance >= int(head[-1])
        if head.startswith("target="):
            return self.target == head.removeprefix("target=")
        return bool(getattr(self, head))


def read_rows(paths: Iterable[Path]) -> list[Row]:
    """Read JSON lines with `id`, `lang`, `user`, `assistant` and `labels`; `split: "test"` is never trained on."""
    return [
        _read_row(json.loads(line), path.stem)
        for path in paths
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.strip()
    ]


def _read_row(raw: dict, source: str) -> Row:
    labels = raw["labels"]
    if labels["target"] not in (*CATEGORIES, "none"):
        raise SystemExit(f"{source} {raw['id']}: unknown target {labels['target']!r}")
    chance = seeded(source, raw["id"])
    state = State(user=fill_placeholders(raw["user"], chance), assistant=fill_placeholders(raw["assistant"], chance))
    return Row(
        id=raw["id"],
        lang=raw["lang"],
        source=source,
        state=state,
        is_test=raw.get("split") == "test",
        **{name: labels[name] for name in labels if name != "should_save"},
    )


def add_variants(rows: Sequence[Row]) -> list[Row]:
    """The rows, and for training: without reply, with the secret redacted, and behind other chatter of that language.

    The last teaches that a fact may stand anywhere in a long message, and that a long message may hold none.
    """
    idle = [row for row in rows if not (row.should_save or row.has_secret or row.is_session_scoped)]
    by_lang: dict[str, list[Row]] = {}
    for row in idle:
        by_lang.setdefault(row.lang, []).append(row)
    out = list(rows)
    for row in rows:
        chance = random.Random(f"variants {row.id}")
        if not (row.should_save and "?" in row.state.user):  # otherwise the reply carries the fact
            out.append(replace(row, state=State(user=row.state.user), weight=row.weight * 0.5))
        if row.has_secret:
            out.append(_without_secret(row))
        if others := by_lang.get(row.lang):
            out.append(_amid_chatter(row, chance.choices(others, k=chance.choice((1, 1, 2, 3))), chance))
    return out


def _without_secret(row: Row) -> Row:
    state = State(user=redact(row.state.user).text, assistant=redact(row.state.assistant or "").text)
    return replace(row, state=state, has_secret=state == row.state, weight=row.weight * 0.5)


def _amid_chatter(row: Row, others: Sequence[Row], chance: random.Random) -> Row:
    parts = [other.state.user for other in others]
    parts.insert(chance.randrange(len(parts) + 1), row.state.user)
    joint = chance.choice((" ", "\n", "\n\n"))
    state = State(user=joint.join(_close(part) for part in parts), assistant=row.state.assistant)
    return replace(row, state=state, weight=row.weight * 0.7)


def _close(part: str) -> str:
    return part if part[-1:] in ".!?。！？`" else part + "."  # noqa: RUF001


def find_topics(rows: Sequence[Row]) -> list[int]:
    """A topic number per row: rows about the same thing share one, so that a split never parts them."""
    from sklearn.cluster import KMeans
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [f"{row.state.user} {row.state.assistant}" for row in rows]
    count = max(2, len(rows) // 8)
    vectors = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True, max_features=20_000)
    matrix = vectors.fit_transform(texts)
    if matrix.shape[1] > 60 and len(rows) > 60:
        from sklearn.decomposition import TruncatedSVD

        matrix = TruncatedSVD(60, random_state=0).fit_transform(matrix)
    return KMeans(count, n_init=2, random_state=0).fit_predict(matrix).tolist()


def checksum(paths: Iterable[Path]) -> dict[str, str]:
    """sha256 of each data file, by name."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
