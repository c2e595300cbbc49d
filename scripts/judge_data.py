"""Labelled states for training the built-in judge: reading, made-up secret values, variants, topics."""

from __future__ import annotations

import hashlib
import json
import random
import re
import string
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from clew.core.records import State
from clew.core.secrets import redact
from clew.decide.lexical.model import CATEGORIES

_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
_ALNUM = string.ascii_letters + string.digits
#: Made-up values for the placeholders of the data: prefix, alphabet, length.
_SHAPES = {
    "ghp": ("ghp_", _ALNUM, 36), "glpat": ("glpat-", _ALNUM, 20), "stripe_live": ("sk_live_", _ALNUM, 24),
    "openai": ("sk-proj-", _ALNUM, 48), "anthropic": ("sk-ant-api03-", _ALNUM, 80), "npm": ("npm_", _ALNUM, 36),
    "aws_akid": ("AKIA", string.ascii_uppercase + "234567", 16), "aws_secret": ("", _ALNUM + "/+", 40),
    "gcp_api": ("AIza", _ALNUM, 35), "slack_bot": ("xoxb-", string.digits, 24), "hf": ("hf_", _ALNUM, 34),
    "sendgrid": ("SG.", _ALNUM, 60), "dop": ("dop_v1_", "0123456789abcdef", 64), "vault": ("hvs.", _ALNUM, 28),
    "pypi": ("pypi-", _ALNUM, 60), "shpat": ("shpat_", "0123456789abcdef", 32), "lin": ("lin_api_", _ALNUM, 40),
    "telegram": ("7123456789:AA", _ALNUM, 33), "discord": ("MTA", _ALNUM, 60), "azure_key": ("", _ALNUM, 86),
    "slack_hook": ("https://hooks.slack.com/services/T00/B00/", _ALNUM, 24), "sas_sig": ("", _ALNUM, 44),
    "jwt": ("eyJhbGciOiJIUzI1NiJ9.eyJ", _ALNUM, 60), "basic": ("", _ALNUM, 28), "b62_32": ("", _ALNUM, 32),
    "b62_40": ("", _ALNUM, 40), "b32_32": ("", string.ascii_uppercase + "234567", 32),
    "hex40": ("", "0123456789abcdef", 40), "hex64": ("", "0123456789abcdef", 64), "b64_64": ("", _ALNUM + "/+", 64),
}  # fmt: skip
_WORDS = ("Maple", "Otter", "Copper", "Breeze", "Lagoon", "Thistle", "Ember", "Granite", "Pepper", "Falcon")


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
    chance = random.Random(f"{source} {raw['id']}")
    state = State(user=fill_placeholders(raw["user"], chance), assistant=fill_placeholders(raw["assistant"], chance))
    return Row(
        id=raw["id"],
        lang=raw["lang"],
        source=source,
        state=state,
        is_test=raw.get("split") == "test",
        **{name: labels[name] for name in labels if name != "should_save"},
    )


def fill_placeholders(text: str, chance: random.Random) -> str:
    """`{{ghp}}` and the like become made-up values of that shape, so that no real-looking secret stands in a file."""
    return _PLACEHOLDER.sub(lambda match: _make_value(match.group(1), chance), text)


def _make_value(kind: str, chance: random.Random) -> str:
    if kind == "pw":
        return chance.choice(_WORDS) + chance.choice("-_#!+") + chance.choice(_WORDS) + str(chance.randrange(10, 99))
    if kind.startswith("pem"):
        lines = "\n".join("".join(chance.choices(_ALNUM + "/+", k=64)) for _ in range(4))
        name = "OPENSSH PRIVATE KEY" if "openssh" in kind else "RSA PRIVATE KEY"
        return f"-----BEGIN {name}-----\n{lines}\n-----END {name}-----"
    prefix, alphabet, length = _SHAPES.get(kind, ("", _ALNUM, 32))
    return prefix + "".join(chance.choices(alphabet, k=length))


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
