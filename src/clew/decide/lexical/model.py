"""The heads: logistic regressions over n-grams and hand features, scored for the whole state and for each sentence.

Weights are package data, made by `clew judge train`; see ../MODEL_CARD.md.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clew.decide.lexical.features import Features
from clew.decide.lexical.grams import REPLY_SEED, USER_SEED, iter_grams

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clew.decide.trees import TreeEnsemble

    Floats = NDArray[np.float32]

WEIGHTS_FILE = Path(__file__).with_name("weights.npz")

YES_NO_HEADS: tuple[str, ...] = ("has_secret", "is_session_scoped", "is_failure", "is_durable", "save")
IMPORTANCE_HEADS: tuple[str, ...] = ("importance>=1", "importance>=2", "importance>=3", "importance>=4")
CATEGORIES: tuple[str, ...] = ("memory", "user", "project", "failure")
TARGET_HEADS: tuple[str, ...] = tuple(f"target={category}" for category in CATEGORIES)
#: What is judged of a message of the person.
GATE_HEADS: tuple[str, ...] = (*YES_NO_HEADS, *IMPORTANCE_HEADS, *TARGET_HEADS)
#: What is judged of an entry of the memory, read as if it were a message.
RELEVANCE_HEAD = "still_relevant"
#: Columns of all weight tables, in this order.
HEADS: tuple[str, ...] = (*GATE_HEADS, RELEVANCE_HEAD)
COLUMN = {head: column for column, head in enumerate(HEADS)}
#: Heads whose view of an entry's text tells whether it still holds.
RELEVANCE_INPUTS: tuple[str, ...] = (RELEVANCE_HEAD, "is_durable", "is_session_scoped", "save")
#: Arrays of the weights file that the lexical tier needs; the others join the encoder to it.
LEXICAL_ARRAYS: tuple[str, ...] = ("grams", "hand", "bias", "combine", "combine_pairs", "combine_relevance")
#: Name of the pair trees in the weights file.
PAIRS_ARRAY = "pairs"
#: What the names of the arrays that join the encoder begin with.
ENCODER_PREFIX = "join_"

#: How much the reply counts beside what the user typed.
REPLY_SCALE = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Logits:
    """Raw scores. `whole` is [heads], `by_sentence` [sentences, heads], `combined` [gate heads] (what answers rest on)."""

    whole: Floats
    by_sentence: Floats
    combined: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Trained weights.

    Attributes:
        grams: [buckets, heads] float32; inverse document frequency is already multiplied in.
        hand: [hand features, heads] float32.
        bias: [heads] float32.
        pairs: trees that compare two entries.
        combine: [gate heads, 4] float32: weights of the whole logit, of the best sentence's logit and of the logarithm
            of the number of sentences, and an offset.
        combine_pairs: [pair heads, pair heads + 1] float32: weights of the trees' logits, the offset last.
        combine_relevance: [len(RELEVANCE_INPUTS) + 1] float32, the offset last.
        fingerprint: sha256 (hex) of the file.
        encoder: how the encoder's logits are joined to these; see `clew.decide.encoder.joining`.
    """

    grams: Floats
    hand: Floats
    bias: Floats
    pairs: TreeEnsemble
    combine: Floats
    combine_pairs: Floats
    combine_relevance: Floats
    fingerprint: str
    encoder: Mapping[str, Any] = field(default_factory=dict)

    def score(self, features: Features) -> Logits:
        """Logits of all heads."""
        import numpy as np

        by_sentence_sum, counts = self._sum_user_grams(features.sentences)
        reply = self._reply_logits(features.reply)
        whole = by_sentence_sum.sum(axis=0) / np.sqrt(counts.sum())
        whole = whole + reply + features.whole @ self.hand + self.bias
        by_sentence: Any = by_sentence_sum / np.sqrt(counts)[:, None]
        by_sentence = by_sentence + reply + features.by_sentence @ self.hand + self.bias
        combined = combine_logits(whole, by_sentence, self.combine)
        return Logits(whole=whole, by_sentence=by_sentence, combined=combined)

    def score_pair(self, features: Floats) -> Floats:
        """Logits of the pair heads, [pair heads]."""
        logits: Floats = self.combine_pairs[:, :-1] @ self.pairs.score(features) + self.combine_pairs[:, -1]
        return logits

    def _sum_user_grams(self, sentences: tuple[str, ...]) -> tuple[Floats, Floats]:
        """Summed n-gram weights [sentences, heads] and n-gram counts [sentences]; an n-gram belongs to the sentence
        that it starts in."""
        import numpy as np

        starts = np.cumsum([0, *(len(sentence) + 1 for sentence in sentences[:-1])])
        length = int(starts[-1]) + len(sentences[-1]) + 2
        by_position = np.zeros((length, self.grams.shape[1]), dtype=np.float32)
        counted = np.zeros(length, dtype=np.float32)
        for buckets in iter_grams(" ".join(sentences), USER_SEED):
            by_position[: buckets.size] += self.grams.take(buckets, axis=0)  # quicker than by index
            counted[: buckets.size] += 1
        return np.add.reduceat(by_position, starts), np.add.reduceat(counted, starts)

    def _reply_logits(self, reply: str) -> Floats:
        import numpy as np

        if not reply:
            return np.zeros(self.grams.shape[1], dtype=np.float32)
        buckets = np.concatenate(list(iter_grams(reply, REPLY_SEED)))
        total: Floats = np.einsum("gh->h", self.grams.take(buckets, axis=0))  # quicker than sum over such narrow rows
        return total * np.float32(REPLY_SCALE / buckets.size**0.5)


def combine_logits(whole: Floats, by_sentence: Floats, combine: Floats) -> Floats:
    """One logit per gate head from the whole and its best sentence."""
    import numpy as np

    inputs = combination_inputs(whole, by_sentence)
    combined: Floats = np.einsum("hi,hi->h", inputs, combine)
    return combined


def combination_inputs(whole: Floats, by_sentence: Floats) -> Floats:
    """What is combined, [gate heads, 4]: whole logit, best sentence's, logarithm of the number of sentences, 1.

    Yes/no and importance heads take their own best sentence; the target heads take the sentence most worth saving,
    so that the category is that of the statement and not of the chatter around it.
    """
    import numpy as np

    count = len(GATE_HEADS)
    best = by_sentence.max(axis=0)[:count]
    first_target = COLUMN[TARGET_HEADS[0]]
    best[first_target:] = by_sentence[by_sentence[:, COLUMN["save"]].argmax(), first_target:count]
    spread = np.full(count, np.log(np.float32(len(by_sentence))), np.float32)
    return np.stack([whole[:count], best, spread, np.ones(count, np.float32)], axis=1)


def relevance_inputs(whole: Floats) -> Floats:
    """The whole logits that the relevance of an entry rests on, [len(RELEVANCE_INPUTS)]."""
    return whole[[COLUMN[head] for head in RELEVANCE_INPUTS]]


def rank_sentences(by_sentence: Floats) -> Floats:
    """How much each sentence is worth remembering, [sentences]."""
    scores: Floats = by_sentence[:, [COLUMN["save"], COLUMN["is_durable"]]].mean(axis=1)
    return scores


@lru_cache(maxsize=4)
def load_weights(path: Path = WEIGHTS_FILE) -> Weights:
    """Read the weights once per process; about 2 MB on disk, 4 MB in memory."""
    import numpy as np

    from clew.decide.trees import read_trees

    fingerprint = hashlib.sha256(path.read_bytes()).hexdigest()
    with np.load(path, allow_pickle=False) as file:
        arrays: dict[str, Any] = {name: file[name].astype(np.float32) for name in LEXICAL_ARRAYS}
        pairs = read_trees(file, PAIRS_ARRAY)
        encoder = {name: file[name] for name in file.files if name.startswith(ENCODER_PREFIX)}
    return Weights(**arrays, pairs=pairs, fingerprint=fingerprint, encoder=encoder)
