"""The encoder tier, opened: tokenizer, network, and the joining with the lexical logits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from clew.core.errors import ModelUnavailable
from clew.core.records import DatedEntry, EntryPair
from clew.decide.encoder import joining
from clew.decide.encoder.alignment import Aligner
from clew.decide.encoder.inputs import encode_entry, encode_pair, encode_state
from clew.decide.encoder.network import GATE_COLUMNS, EncoderNetwork
from clew.decide.lexical.model import Logits, Weights
from clew.decide.lexical.reading import Reading
from clew.decide.trees import read_trees
from clew.models.manifest import FOLDER, REINSTALL, load_manifest
from clew.models.runtime import open_session, open_tokenizer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clew.models.tokenizer import WordPiece

    Floats = NDArray[np.float32]

MODEL_NAME = "judge"
NETWORK_FILE = "judge.onnx"
EMBEDDER_NAME = "embedder"
EMBEDDER_FILE = "embedder.onnx"
#: What the network shares with the embedder.
SHARED_FILES = ("words.bin", "vocabulary.txt.xz", "characters.json")
#: A single part of the input is never longer; what is too long for the network is cut later, part by part.
TOKENIZER_WINDOW = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredMessage:
    """A message as the lexical tier leaves it.

    Attributes:
        ranks: how much each sentence is worth remembering.
        language: see `Features.language`.
    """

    reading: Reading
    lexical: Logits
    ranks: Sequence[float]
    language: str
    previous_assistant: str | None


class Encoder:
    """Network and tokenizer of one process. May be used from several threads."""

    def __init__(
        self, tokenizer: WordPiece, network: EncoderNetwork, aligner: Aligner, weights: Weights, fingerprint: str
    ) -> None:
        self._tokenizer = tokenizer
        self._network = network
        self._aligner = aligner
        self._weights = weights.encoder
        self._pair_trees = read_trees(weights.encoder, joining.PAIR_TREES)
        self.fingerprint = fingerprint

    def join_message(self, message: ScoredMessage) -> Floats:
        """Logits of the gate heads of a message."""
        tokens = encode_state(self._tokenizer, message.reading, message.ranks, message.previous_assistant)
        lexical = message.lexical
        logits = self._network.run(tokens)
        inputs = joining.gate_inputs(lexical.whole, lexical.by_sentence, logits, message.language)
        return joining.join_gate(self._weights, inputs)

    def join_pair(self, lexical: Floats, pair: EntryPair) -> Floats:
        """Logits of the pair heads, from the lexical features of the pair."""
        import numpy as np

        trees = self._pair_trees.score(np.concatenate([lexical, self._aligner.extract(pair)]))
        encoder = self._network.run(encode_pair(self._tokenizer, pair))
        return joining.join_pair(self._weights, joining.pair_inputs(trees, encoder))

    def join_entry(self, lexical: Logits, entry: DatedEntry) -> float:
        """The logit of whether an entry still holds."""
        encoder = self._network.run(encode_entry(self._tokenizer, entry))
        return joining.join_entry(self._weights, joining.entry_inputs(lexical.whole, encoder))


def open_encoder(weights: Weights, folder: Path | None = None) -> Encoder:
    """Check the network's files and load them.

    Raises:
        ModelUnavailable: a file is missing or damaged, onnxruntime is not there, or the weights were not made for it.
    """
    folder = folder or FOLDER
    manifest = load_manifest(folder)
    manifest.require(MODEL_NAME)
    manifest.require(EMBEDDER_NAME)
    if joining.GATE not in weights.encoder:
        raise ModelUnavailable("The judge's weights were trained without an encoder.", REINSTALL)
    if weights.encoder[joining.GATE].shape != (len(GATE_COLUMNS), joining.GATE_INPUTS):
        raise ModelUnavailable("The judge's weights were made by another version of Clew.", REINSTALL)
    tokenizer = open_tokenizer(folder, max_tokens=TOKENIZER_WINDOW)
    network = EncoderNetwork(open_session(folder / NETWORK_FILE))
    aligner = Aligner(tokenizer, lambda: open_session(folder / EMBEDDER_FILE))
    return Encoder(tokenizer, network, aligner, weights, manifest.digests[NETWORK_FILE])
