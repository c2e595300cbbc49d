"""How the encoder's view and the lexical one become one logit.

Each is better where the other is weak: the encoder reads meaning but knows English best, the lexical heads know the
eight languages' wording. The weights of the joining are fitted on topics that neither has seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from clew.decide.encoder.network import GATE_COLUMNS, PAIR_COLUMNS, RELEVANCE_COLUMN
from clew.decide.lexical.model import COLUMN, combination_inputs, relevance_inputs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

#: Languages of a message, see `Features.language`; what fits none of the eight counts as English.
_ENGLISH = ("en", "")
_CHINESE_OR_JAPANESE = ("zh", "ja")
#: How many inputs a gate head has.
GATE_INPUTS = 9
#: Which of a gate head's inputs is the encoder's logit.
ENCODER_INPUT = 4
#: Names in the weights file: [gate heads, gate inputs], [pair heads, pair inputs], [relevance inputs].
GATE, PAIRS, RELEVANCE = "join_gate", "join_pairs", "join_relevance"
#: Name of the trees that compare two entries by their words and by the embedder.
PAIR_TREES = "join_trees"


def gate_inputs(whole: Floats, by_sentence: Floats, encoder: Floats, language: str) -> Floats:
    """What is joined for a message, [gate heads, GATE_INPUTS].

    The four of the lexical tier, the encoder's logit, and that logit and 1 once more for English, and for Chinese and
    Japanese, since the encoder's worth differs so much between them.
    """
    import numpy as np

    logits = encoder[list(GATE_COLUMNS)]
    columns = [combination_inputs(whole, by_sentence), logits]
    for group in (_ENGLISH, _CHINESE_OR_JAPANESE):
        is_in = np.full_like(logits, float(language in group))
        columns += [logits * is_in, is_in]
    return np.column_stack(columns)


def pair_inputs(trees: Floats, encoder: Floats) -> Floats:
    """What is joined for two entries, [7]: three logits of the trees, three of the encoder, 1."""
    import numpy as np

    return np.concatenate([trees, encoder[list(PAIR_COLUMNS)], np.ones(1, np.float32)])


def entry_inputs(whole: Floats, encoder: Floats) -> Floats:
    """What is joined for one entry, [7]: four lexical logits, the encoder's two of lasting worth, 1."""
    import numpy as np

    own = encoder[[RELEVANCE_COLUMN, COLUMN["is_durable"]]]
    return np.concatenate([relevance_inputs(whole), own, np.ones(1, np.float32)])


def join_gate(weights: Mapping[str, Floats], inputs: Floats) -> Floats:
    """One logit per gate head."""
    import numpy as np

    joined: Floats = np.einsum("hi,hi->h", inputs, weights[GATE])
    return joined


def join_pair(weights: Mapping[str, Floats], inputs: Floats) -> Floats:
    """One logit per pair head."""
    joined: Floats = weights[PAIRS] @ inputs
    return joined


def join_entry(weights: Mapping[str, Floats], inputs: Floats) -> float:
    """The logit of relevance."""
    return float(weights[RELEVANCE] @ inputs)
