"""The fine-tuned network as it ships: token numbers in, one logit per head out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clew.decide.encoder.inputs import Tokens
from clew.decide.lexical.model import GATE_HEADS, RELEVANCE_HEAD
from clew.decide.lexical.pairs import PAIR_HEADS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Outputs of the network, in this order.
ENCODER_HEADS: tuple[str, ...] = (*GATE_HEADS, *PAIR_HEADS, RELEVANCE_HEAD)
GATE_COLUMNS = range(len(GATE_HEADS))
PAIR_COLUMNS = range(len(GATE_HEADS), len(GATE_HEADS) + len(PAIR_HEADS))
RELEVANCE_COLUMN = len(ENCODER_HEADS) - 1
INPUT_IDS, INPUT_TYPES, OUTPUT = "ids", "types", "logits"


class EncoderNetwork:
    """A loaded network. May be used from several threads."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def run(self, tokens: Tokens) -> NDArray[np.float32]:
        """Logits of all heads, [len(ENCODER_HEADS)] float32."""
        import numpy as np

        feed = {INPUT_IDS: np.array([tokens.ids], np.int64), INPUT_TYPES: np.array([tokens.types], np.int64)}
        (logits,) = self._session.run([OUTPUT], feed)
        found: NDArray[np.float32] = logits[0]
        return found
