"""Opening what a model needs to run: the network in onnxruntime, and the tokenizer."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clew.core.errors import ModelUnavailable
from clew.models.manifest import REINSTALL

if TYPE_CHECKING:
    from clew.models.tokenizer import WordPiece


def open_session(path: Path) -> Any:
    """A network as an `onnxruntime.InferenceSession` on one CPU thread. `run` may be called from several threads.

    The file may keep a table in another file of its folder (ONNX external data). Such a table is mapped rather than
    read: only the rows that are used take memory, and sessions that share it share those.

    Raises:
        ModelUnavailable: onnxruntime cannot be imported, or does not accept the file.
    """
    # Since 1.29 the official builds of onnxruntime report every model they load to their maker and keep a device id in the
    # home folder. This variable is the full opt-out, but only when it is set before the first import.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    try:
        import onnxruntime
    except ImportError as error:
        raise ModelUnavailable(
            "The package onnxruntime cannot be imported, so no model can run.",
            "Install it (pip install onnxruntime).",
        ) from error
    onnxruntime.disable_telemetry_events()  # Windows knows only this way
    options = onnxruntime.SessionOptions()
    # One thread that does not spin: a second one gains nothing on a short text and steals time from a busy agent.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # The further optimisation levels cost start-up time and make these quantised networks slower, not faster.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its errors share no base class
        raise ModelUnavailable(f"The {path.stem} did not load ({type(error).__name__}).", REINSTALL) from error


def open_tokenizer(folder: Path, *, max_tokens: int) -> WordPiece:
    """The tokenizer of the models in a folder, cutting at `max_tokens`, [CLS] and [SEP] included.

    Check `vocabulary.txt.xz` and `characters.json` with `Manifest.require` first; damage raises anything here.
    """
    import json
    import lzma

    from clew.models.tokenizer import WordPiece

    vocabulary = lzma.decompress((folder / "vocabulary.txt.xz").read_bytes()).decode("utf-8").split("\n")[:-1]
    characters = json.loads((folder / "characters.json").read_text(encoding="utf-8"))
    return WordPiece(vocabulary, characters, max_tokens=max_tokens)
