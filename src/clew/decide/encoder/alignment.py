"""How well the words of two memory entries answer to each other, by the embedder's view of each word in its sentence."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from clew.core.records import EntryPair

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clew.models.tokenizer import WordPiece

    Floats = NDArray[np.float32]

#: Of the whole entries, then of each side's words, then of both sides together.
ALIGNMENT_FEATURES: tuple[str, ...] = (
    "cosine", "cosine squared",
    *(f"{side} {name}" for side in ("a in b", "b in a")
      for name in ("mean", "worst", "worst three", "share without match", "share with weak match")),
    "worse mean", "better mean", "difference of means", "less share with weak match",
)  # fmt: skip
#: Similarity of the best match below which a word has none, or a weak one.
_NO_MATCH, _WEAK_MATCH = 0.4, 0.5
_MAX_TOKENS = 128


class Aligner:
    """Compares entries by the embedder. May be used from several threads.

    Args:
        embedder: opens the embedder's network; called at the first pair, since messages need none.
    """

    def __init__(self, tokenizer: WordPiece, embedder: Callable[[], Any]) -> None:
        self._tokenizer = tokenizer
        self._open_embedder = embedder

    @cached_property
    def _embedder(self) -> Any:
        return self._open_embedder()

    def extract(self, pair: EntryPair) -> Floats:
        """The features of a pair, [len(ALIGNMENT_FEATURES)] float32; zeros if an entry has no words."""
        import numpy as np

        a, b = self._read(pair.a), self._read(pair.b)
        words_a, words_b = _unit(a[1:-1]), _unit(b[1:-1])  # without [CLS] and [SEP]
        if not len(words_a) or not len(words_b):
            return np.zeros(len(ALIGNMENT_FEATURES), np.float32)
        cosine = float(_unit(a.mean(axis=0, keepdims=True))[0] @ _unit(b.mean(axis=0, keepdims=True))[0])
        alike = words_a @ words_b.T
        sides = [_describe(alike.max(axis=1)), _describe(alike.max(axis=0))]
        means, weak = [side[0] for side in sides], [side[-1] for side in sides]
        both = [min(means), max(means), abs(means[0] - means[1]), min(weak)]
        return np.array([cosine, cosine**2, *sides[0], *sides[1], *both], np.float32)

    def _read(self, text: str) -> Floats:
        """The embedder's view of each token, [tokens, 384]."""
        import numpy as np

        ids = np.array([self._tokenizer.encode(text)[:_MAX_TOKENS]], np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        (tokens,) = self._embedder.run(None, feed)
        found: Floats = tokens[0]
        return found


def _unit(rows: Floats) -> Floats:
    import numpy as np

    found: Floats = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return found


def _describe(best: Floats) -> list[float]:
    """The best matches of one side's words in numbers."""
    import numpy as np

    worst = np.sort(best)
    return [
        float(best.mean()),
        float(worst[0]),
        float(worst[:3].mean()),
        float((best < _NO_MATCH).mean()),
        float((best < _WEAK_MATCH).mean()),
    ]
