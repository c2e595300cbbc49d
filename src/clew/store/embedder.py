"""Texts to vectors. The built-in embedder ships its model, needs no network and runs on one thread."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from clew.core.errors import EmbedderUnavailable, ModelUnavailable
from clew.models.manifest import FOLDER, REINSTALL, load_manifest
from clew.models.runtime import open_session, open_tokenizer

if TYPE_CHECKING:
    import numpy as np

_NAME = "embedder"
_UNKNOWN_SIGNATURE = "all-MiniLM-L6-v2/int8/missing"
_UNKNOWN_WIDTH = 384


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
        folder: where the models lie.
    """

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._started = False
        self._settled = threading.Event()
        self._model: _Model | None = None
        self._problem = ""
        self._signature, self._width = _UNKNOWN_SIGNATURE, _UNKNOWN_WIDTH
        try:
            entry = load_manifest(folder).entry(_NAME)
            self._signature, self._width = entry.signature, entry.width
        except ModelUnavailable as error:
            self._fail(error)

    @property
    def signature(self) -> str:
        """Names model and weights."""
        return self._signature

    @property
    def width(self) -> int:
        """How many numbers a vector has."""
        return self._width

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
            self._fail(ModelUnavailable(f"The embedder did not load ({error}).", REINSTALL))

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
            self._model = _Model(self._folder)
        except ModelUnavailable as error:
            self._fail(error)
        except Exception as error:  # noqa: BLE001  # whatever native code throws, recall must go on without vectors
            self._fail(ModelUnavailable(f"The embedder did not load ({type(error).__name__}).", REINSTALL))
        finally:
            self._settled.set()

    def _fail(self, error: ModelUnavailable) -> None:
        step = error.next_step.removesuffix(".")
        self._problem = f"{error.what} {step} to restore vector search; full-text search works meanwhile."
        self._settled.set()


class _Model:
    """A loaded model: tokenizer and network."""

    def __init__(self, folder: Path) -> None:
        entry = load_manifest(folder).require(_NAME)
        self._tokenizer = open_tokenizer(folder, max_tokens=entry.max_tokens)
        self._session = open_session(folder / "embedder.onnx")
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
