"""Writes the fine-tuned network as an ONNX file with int8 arithmetic. The word table stays in the file that it shares."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, external_data_helper, helper, numpy_helper

from clew.decide.encoder.inputs import MAX_TOKENS
from clew.decide.encoder.network import ENCODER_HEADS, INPUT_IDS, INPUT_TYPES, OUTPUT
from clew.decide.training.network import ATTENTION_HEADS, WIDTH, JudgeNetwork

WORDS_FILE = "words.bin"
_RUNTIME_DOMAIN = "com.microsoft"
_EPSILON = 1e-12
#: Weights keep 7 of their 8 bits, so that the sum of two products fits 16 bits on processors without VNNI.
_LARGEST = 63

Floats = NDArray[np.float32]


def export_onnx(network: JudgeNetwork, word_scale: float, word_zero: int) -> bytes:
    """The network for one input at a time, without padding; the same network gives the same bytes.

    Args:
        word_scale, word_zero: how the bytes of the shared word table are read.
    """
    return _Graph(network, word_scale, word_zero).serialise()


class _Graph:
    """The nodes and constants of the file, gathered layer by layer."""

    def __init__(self, network: JudgeNetwork, word_scale: float, word_zero: int) -> None:
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        hidden = self._embed(network, word_scale, word_zero)
        for at, layer in enumerate(network.layers):
            hidden = self._layer(layer, hidden, f"layer{at}")
        mean = self._node("ReduceMean", [hidden, self._constant("axis", np.array([1], np.int64))], "mean", keepdims=0)
        self._node(
            "Gemm",
            [mean, self._parameter("head", network.head.weight), self._parameter("head_bias", network.head.bias)],
            OUTPUT,
            transB=1,
        )

    def serialise(self) -> bytes:
        """The file."""
        tokens: list[str | int | None] = [1, "tokens"]
        graph = helper.make_graph(
            self._nodes,
            "judge",
            [helper.make_tensor_value_info(name, TensorProto.INT64, tokens) for name in (INPUT_IDS, INPUT_TYPES)],
            [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, [1, len(ENCODER_HEADS)])],
            self._constants,
        )
        opsets = [helper.make_opsetid("", 20), helper.make_opsetid(_RUNTIME_DOMAIN, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=10, producer_name="clew")
        content: bytes = model.SerializeToString(deterministic=True)
        return content

    def _embed(self, network: JudgeNetwork, word_scale: float, word_zero: int) -> str:
        rows = network.words.weight.shape[0]
        table = TensorProto(name="words", data_type=TensorProto.UINT8, dims=[rows, WIDTH], raw_data=b" ")
        external_data_helper.set_external_data(table, WORDS_FILE, offset=0, length=rows * WIDTH)
        table.ClearField("raw_data")
        self._constants.append(table)
        packed = self._node("Gather", ["words", INPUT_IDS], "packed_words")
        scale = self._constant("word_scale", np.array(word_scale, np.float32))
        zero = self._constant("word_zero", np.array(word_zero, np.uint8))
        words = self._node("DequantizeLinear", [packed, scale, zero], "word_vectors")
        positions = self._constant("positions", _array(network.positions.weight)[:MAX_TOKENS])
        shape = self._node("Shape", [INPUT_IDS], "length", start=1, end=2)
        zero_index = self._constant("zero", np.array([0], np.int64))
        axis = self._constant("position_axis", np.array([0], np.int64))
        position = self._node("Slice", [positions, zero_index, shape, axis], "position_vectors")
        types = self._node("Gather", [self._parameter("type_table", network.types.weight), INPUT_TYPES], "type_vectors")
        sum_ = self._node("Add", [words, position], "with_position")
        sum_ = self._node("Add", [sum_, types], "with_type")
        scale_, shift = self._norm("embedding_norm", network.norm)
        return self._node("LayerNormalization", [sum_, scale_, shift], "embedded", axis=-1, epsilon=_EPSILON)

    def _layer(self, layer: Any, hidden: str, name: str) -> str:
        projected = [self._linear(part, hidden, f"{name}_{key}") for key, part in
                     (("query", layer.query), ("key", layer.key), ("value", layer.value))]  # fmt: skip
        seen = self._node(
            "MultiHeadAttention", projected, f"{name}_seen", domain=_RUNTIME_DOMAIN, num_heads=ATTENTION_HEADS
        )
        joined = self._linear(layer.joined, seen, f"{name}_joined")
        middle = self._add_and_norm(joined, hidden, layer.norm, f"{name}_middle")
        wide = self._linear(layer.wide, middle, f"{name}_wide")
        active = self._node("Gelu", [wide], f"{name}_active")
        narrow = self._linear(layer.narrow, active, f"{name}_narrow")
        return self._add_and_norm(narrow, middle, layer.last_norm, f"{name}_out")

    def _add_and_norm(self, one: str, other: str, norm: Any, name: str) -> str:
        return self._node(
            "SkipLayerNormalization",
            [one, other, *self._norm(f"{name}_norm", norm)],
            name,
            domain=_RUNTIME_DOMAIN,
            epsilon=_EPSILON,
        )

    def _linear(self, layer: Any, hidden: str, name: str) -> str:
        """A product in int8: the input is quantised as it comes, the weights are here, a scale for each output."""
        weights = _array(layer.weight).T
        scale = np.maximum(np.abs(weights).max(axis=0), 1e-12) / _LARGEST
        packed = np.clip(np.rint(weights / scale), -_LARGEST - 1, _LARGEST).astype(np.int8)
        inputs = [
            hidden,
            self._constant(f"{name}_weights", packed),
            self._constant(f"{name}_scale", scale.astype(np.float32)),
            self._constant(f"{name}_zero", np.zeros(packed.shape[1], np.int8)),
            self._parameter(f"{name}_bias", layer.bias),
        ]
        return self._node("DynamicQuantizeMatMul", inputs, name, domain=_RUNTIME_DOMAIN)

    def _norm(self, name: str, norm: Any) -> tuple[str, str]:
        return self._parameter(f"{name}_scale", norm.weight), self._parameter(f"{name}_shift", norm.bias)

    def _parameter(self, name: str, tensor: Any) -> str:
        return self._constant(name, _array(tensor))

    def _constant(self, name: str, array: NDArray[Any]) -> str:
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def _node(self, kind: str, inputs: list[str], output: str, **attributes: Any) -> str:
        self._nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output


def _array(tensor: Any) -> Floats:
    array: Floats = tensor.detach().float().numpy()
    return array


def read_shared_words(embedder: onnx.ModelProto, table: bytes) -> tuple[Floats, float, int]:
    """The word table that the embedder's file refers to as float32 [words, 384], with the scale and zero of its bytes."""
    constants = {tensor.name: tensor for tensor in embedder.graph.initializer}
    (gather,) = [node for node in embedder.graph.node if node.op_type == "Gather" and "input_ids" in node.input]
    (dequantise,) = [node for node in embedder.graph.node if gather.output[0] in node.input]
    scale = float(numpy_helper.to_array(constants[dequantise.input[1]]))
    zero = int(numpy_helper.to_array(constants[dequantise.input[2]]))
    packed = np.frombuffer(table, np.uint8).reshape(-1, WIDTH)
    return (packed.astype(np.float32) - zero) * np.float32(scale), scale, zero
