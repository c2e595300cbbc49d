"""Training examples: labelled states with their variants, and topics that a split never parts."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from clew.core.records import DatedEntry, EntryPair, State
from clew.core.secrets import redact
from clew.decide.evaluation.labelled import LabelledRow
from clew.decide.lexical.model import GATE_HEADS

Kind = TypeVar("Kind", State, EntryPair, DatedEntry)

#: Every how many-th topic is kept from training, where the data does not say which.
_HELD_EVERY = 5
_ROWS_PER_TOPIC = 4
#: A row as a neighbour in one message with others: longer ones would drown what they stand beside.
_MAX_CHATTER_CHARS = 300


@dataclass(frozen=True, kw_only=True)
class Example:
    """A state and the truth for each of the judge's heads.

    Attributes:
        row: where it comes from.
        weight: its share in training against other examples.
    """

    row: LabelledRow
    state: State
    truth: Mapping[str, bool]
    weight: float = 1.0

    @property
    def is_idle(self) -> bool:
        """Holds nothing to save, to keep secret or to do for now."""
        return not (self.truth["save"] or self.truth["has_secret"] or self.truth["is_session_scoped"])


def as_example(row: LabelledRow) -> Example:
    """The example of a labelled state."""
    truth = {head: _label(row, head) for head in GATE_HEADS}
    return Example(row=row, state=expect(row, State), truth=truth)


def expect(row: LabelledRow, kind: type[Kind]) -> Kind:
    """What a row is about, when it must be of this kind. Raises TypeError if it is not."""
    if not isinstance(row.judged, kind):
        raise TypeError(f"{row.source} {row.id} is a {type(row.judged).__name__}, not a {kind.__name__}")
    return row.judged


def _label(row: LabelledRow, head: str) -> bool:
    if head == "save":
        return row.yes["should_save"]
    if head.startswith("importance>="):
        return row.importance >= int(head[-1])
    if head.startswith("target="):
        return row.target == head.removeprefix("target=")
    return row.yes[head]


def add_variants(examples: Sequence[Example]) -> list[Example]:
    """The examples, and each without reply, with its secret redacted, and amid other messages of its language.

    The last teaches that a fact may stand anywhere in a long message, and that a long message may hold none.
    """
    idle = group_idle(examples)
    out = list(examples)
    for example in examples:
        chance = random.Random(f"variants {example.row.source} {example.row.id}")
        if not _needs_reply(example):
            out.append(without_reply(example))
        if example.truth["has_secret"]:
            out.append(_without_secret(example))
        if others := idle.get(example.row.lang):
            out.append(amid_chatter(example, chance.choices(others, k=chance.choice((1, 1, 2, 3))), chance))
    return out


def group_idle(examples: Sequence[Example]) -> dict[str, list[Example]]:
    """Short examples with nothing in them, by language."""
    found = defaultdict(list)
    for example in examples:
        if example.is_idle and len(example.state.user) <= _MAX_CHATTER_CHARS:
            found[example.row.lang].append(example)
    return dict(found)


def draw_view(example: Example, idle: Mapping[str, list[Example]], chance: random.Random) -> Example:
    """One look at an example for one epoch: mostly as it is, sometimes without reply or amid chatter."""
    draw = chance.random()
    if draw < 0.5:
        return example
    if draw < 0.72:
        return example if _needs_reply(example) else without_reply(example)
    others = idle.get(example.row.lang)
    if not others or len(example.state.user) > 2 * _MAX_CHATTER_CHARS:
        return example
    return amid_chatter(example, chance.choices(others, k=chance.choice((1, 1, 2))), chance)


def _needs_reply(example: Example) -> bool:
    """Whether the reply carries the fact, as after a question."""
    return example.truth["save"] and any(mark in example.state.user for mark in "??")


def without_reply(example: Example) -> Example:
    """The example as if the assistant had said nothing yet."""
    return replace(example, state=replace(example.state, assistant=None), weight=example.weight * 0.5)


def _without_secret(example: Example) -> Example:
    reply = example.state.assistant
    state = replace(example.state, user=redact(example.state.user).text, assistant=reply and redact(reply).text)
    truth = {**example.truth, "has_secret": state == example.state}
    return replace(example, state=state, truth=truth, weight=example.weight * 0.5)


def amid_chatter(example: Example, others: Sequence[Example], chance: random.Random) -> Example:
    """The example as one part of a longer message that holds nothing else."""
    parts = [other.state.user for other in others]
    parts.insert(chance.randrange(len(parts) + 1), example.state.user)
    joint = chance.choice((" ", "\n", "\n\n"))
    state = replace(example.state, user=joint.join(map(_close, parts)))
    return replace(example, state=state, weight=example.weight * 0.7)


def _close(part: str) -> str:
    return part if part[-1:] in ".!?。！？`" else part + "."  # noqa: RUF001


def split_held(rows: Sequence[LabelledRow], text: Callable[[LabelledRow], str]) -> tuple[list[int], list[int]]:
    """Places of the rows to train on and of those kept for combining and measuring; a topic is never parted.

    A file that marks test rows keeps those. In one that does not, rows alike in wording form topics, and every fifth
    topic is kept.
    """
    by_source: dict[str, list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        by_source[row.source].append(place)
    held: set[int] = set()
    for places in by_source.values():
        marked = [place for place in places if rows[place].is_test]
        held.update(marked or _every_fifth_topic(places, [text(rows[place]) for place in places]))
    return [place for place in range(len(rows)) if place not in held], sorted(held)


def _every_fifth_topic(places: Sequence[int], texts: Sequence[str]) -> list[int]:
    topics = find_topics(texts)
    return [place for place, topic in zip(places, topics, strict=True) if topic % _HELD_EVERY == 0]


def find_topics(texts: Sequence[str]) -> list[int]:
    """A topic number for each text: those with like wording share one."""
    from sklearn.cluster import KMeans
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectors = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True, max_features=20_000)
    matrix = vectors.fit_transform(texts)
    if matrix.shape[1] > 60 and len(texts) > 60:
        matrix = TruncatedSVD(60, random_state=0).fit_transform(matrix)
    count = max(2, len(texts) // (2 * _ROWS_PER_TOPIC))
    topics: list[int] = KMeans(count, n_init=2, random_state=0).fit_predict(matrix).tolist()
    return topics
