"""Texts to vectors. The built-in embedder ships its model, needs no network and runs on one thread."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from clew.core.errors import EmbedderUnavailable

if TYPE_CHECKING:
    import numpy as np

    from clew.store.tokenizer import WordPiece

_MODEL_FOLDER = Path(__file__).parent / "model"
_REINSTALL = "Reinstall Clew to restore vector search; full-text search works meanwhile."


class Embedder(Protocol):
    """Anything that makes a vector of a text."""

    @property
    def signature(self) -> str:
        """Names model and weights. Vectors of different signatures must not be compared."""
        ...

    @property
    def width(self) -> int:
        """How many numbers a vector has."""
        ...

    @property
    def problem(self) -> str:
        """Why no vectors can be made and what to do; empty while none is known."""
        ...

    def warm_up(self) -> None:
        """Start loading in the background. Calling it again does nothing."""
        ...

    def ready(self, timeout_s: float = 0) -> bool:
        """Whether `embed` would answer without loading first; waits up to `timeout_s` seconds for a running load."""
        ...

    def embed(self, text: str) -> np.ndarray:
        """The vector of a text: float32, shape [width], unit length. Raises EmbedderUnavailable."""
        ...


class BuiltinEmbedder:
    """all-MiniLM-L6-v2 with int8 arithmetic. May be used from several threads.

    Only the first 256 tokens of a text are embedded, so the vector of a long text stands for its head.

    Args:
        folder: where the model lies; None = the one inside the package.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or _MODEL_FOLDER
        self._lock = threading.Lock()
        self._started = False
        self._settled = threading.Event()
        self._model: _Model | None = None
        self._problem = ""
        self._manifest: Mapping[str, Any] = {}
        try:
            self._manifest = _read_manifest(self._folder)
        except EmbedderUnavailable as error:
            self._fail(error)

    @property
    def signature(self) -> str:
        """Names model and weights."""
        return str(self._manifest.get("signature", "all-MiniLM-L6-v2/int8/missing"))

    @property
    def width(self) -> int:
        """How many numbers a vector has."""
        return int(self._manifest.get("width", 384))

    @property
    def problem(self) -> str:
        """Why no vectors can be made and what to do; empty while none is known."""
        return self._problem

    def warm_up(self) -> None:
        """Start loading in the background. Calling it again does nothing."""
        with self._lock:
            if self._started or self._settled.is_set():
                return
            self._started = True
        # Not a daemon: the interpreter must not end in the middle of native loading code, which takes 0.2 s.
        try:
            threading.Thread(target=self._load, name="clew-embedder", daemon=False).start()
        except RuntimeError as error:  # no thread to be had, or the interpreter is ending
            self._fail(EmbedderUnavailable(f"The embedder did not load ({error}).", _REINSTALL))

    def ready(self, timeout_s: float = 0) -> bool:
        """Whether `embed` would answer at once; waits up to `timeout_s` seconds if a load is running."""
        if self._started and timeout_s > 0:
            self._settled.wait(timeout_s)
        return self._model is not None

    def embed(self, text: str) -> np.ndarray:
        """The vector of a text: float32, shape [width], unit length. Loads first if need be.

        Raises:
            EmbedderUnavailable: the model is missing or damaged, or onnxruntime cannot be imported.
        """
        if self._model is None:
            self.warm_up()
            self._settled.wait()
        if self._model is None:
            raise EmbedderUnavailable(self._problem)
        return self._model.embed(text)

    def _load(self) -> None:
        try:
            self._model = _Model(self._folder, self._manifest)
        except EmbedderUnavailable as error:
            self._fail(error)
        except Exception as error:  # noqa: BLE001  # whatever native code throws, recall must go on without vectors
            self._fail(EmbedderUnavailable(f"The embedder did not load ({type(error).__name__}).", _REINSTALL))
        finally:
            self._settled.set()

    def _fail(self, error: EmbedderUnavailable) -> None:
        self._problem = str(error)
        self._settled.set()


class _Model:
    """A loaded model: tokenizer and network."""

    def __init__(self, folder: Path, manifest: Mapping[str, Any]) -> None:
        _check_files(folder, manifest)
        self._tokenizer = _open_tokenizer(folder, max_tokens=int(manifest["max_tokens"]))
        self._session = _open_session(folder / "model.onnx")
        self._inputs = [node.name for node in self._session.get_inputs()]

    def embed(self, text: str) -> np.ndarray:
        import numpy as np

        numbers = np.array([self._tokenizer.encode(text)], dtype=np.int64)
        feed = {
            "input_ids": numbers,
            "attention_mask": np.ones_like(numbers),
            "token_type_ids": np.zeros_like(numbers),
        }
        (tokens,) = self._session.run(None, {name: feed[name] for name in self._inputs})
        mean = tokens[0].mean(axis=0)
        vector: np.ndarray = (mean / max(float(np.linalg.norm(mean)), 1e-12)).astype(np.float32)
        return vector


def _read_manifest(folder: Path) -> Mapping[str, Any]:
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        return {name: manifest[name] for name in ("signature", "width", "max_tokens", "files")}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EmbedderUnavailable(
            f"The embedder's manifest cannot be read ({type(error).__name__}).", _REINSTALL
        ) from error


def _check_files(folder: Path, manifest: Mapping[str, Any]) -> None:
    for name, expected in manifest["files"].items():
        try:
            with (folder / name).open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise EmbedderUnavailable(
                f"The embedder's file {name} cannot be read ({type(error).__name__}).", _REINSTALL
            ) from error
        if digest != expected["sha256"]:
            raise EmbedderUnavailable(
                f"The embedder's file {name} is damaged: its sha256 is not the one expected.", _REINSTALL
            )


def _open_tokenizer(folder: Path, *, max_tokens: int) -> WordPiece:
    import lzma

    from clew.store.tokenizer import WordPiece

    vocabulary = lzma.decompress((folder / "vocabulary.txt.xz").read_bytes()).decode("utf-8").split("\n")[:-1]
    characters = json.loads((folder / "characters.json").read_text(encoding="utf-8"))
    return WordPiece(vocabulary, characters, max_tokens=max_tokens)


def _open_session(path: Path) -> Any:
    # Since 1.29 the official builds of onnxruntime report every model they load to their maker and keep a device id in the
    # home folder. This variable is the full opt-out, but only when it is set before the first import.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    try:
        import onnxruntime
    except ImportError as error:
        raise EmbedderUnavailable(
            "The package onnxruntime cannot be imported, so no vectors can be made.",
            "Install it (pip install onnxruntime); full-text search works meanwhile.",
        ) from error
    onnxruntime.disable_telemetry_events()  # Windows knows only this way
    options = onnxruntime.SessionOptions()
    # One thread that does not spin: a second one gains nothing on a short text and steals time from a busy agent.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # The further optimisation levels cost start-up time and make this quantised network slower, not faster.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
