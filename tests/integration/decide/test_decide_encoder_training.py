"""The encoder's training: the network that is written answers like the network that was trained."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from clew.models.manifest import FOLDER
from clew.models.runtime import open_session

torch = pytest.importorskip("torch", reason="fine-tuning needs PyTorch, a build tool")


@pytest.fixture(scope="module")
def network():
    from clew.decide.encoder.network import ENCODER_HEADS
    from clew.decide.training.network import WIDTH, JudgeNetwork, LayerWeights, MiniLm

    chance = np.random.default_rng(0)

    def draw(*shape: int):
        return (chance.normal(size=shape) * 0.05).astype(np.float32)

    norm = (np.ones(WIDTH, np.float32), np.zeros(WIDTH, np.float32))
    shapes = [(WIDTH, WIDTH)] * 4 + [(WIDTH, 4 * WIDTH), (4 * WIDTH, WIDTH)]
    layer = LayerWeights(
        matrices=tuple(draw(*shape) for shape in shapes),
        biases=tuple(draw(shape[1]) for shape in shapes),
        norms=(norm, norm),
    )
    words = np.frombuffer((FOLDER / "words.bin").read_bytes(), np.uint8).reshape(-1, WIDTH)
    base = MiniLm(
        words=(words.astype(np.float32) - 83) * np.float32(0.006),
        positions=draw(512, WIDTH),
        types=draw(2, WIDTH),
        norm=norm,
        layers=(layer,) * 6,
    )
    torch.manual_seed(0)
    return JudgeNetwork(base, len(ENCODER_HEADS)).eval()


def test_the_file_answers_like_the_network_within_the_error_of_int8(network, tmp_path) -> None:
    from clew.decide.training.export import export_onnx

    shutil.copyfile(FOLDER / "words.bin", tmp_path / "words.bin")
    path: Path = tmp_path / "judge.onnx"
    path.write_bytes(export_onnx(network, 0.006, 83))
    session = open_session(path)
    for length in (3, 40, 160):
        ids = np.array([[101, *range(2_000, 1_998 + length), 102]], np.int64)
        types = (np.arange(length)[None] > length // 2).astype(np.int64)
        (found,) = session.run(None, {"ids": ids, "types": types})
        with torch.no_grad():
            expected = network(torch.tensor(ids), torch.tensor(types)).numpy()
        assert np.abs(found - expected).max() < 0.1 * max(1.0, np.abs(expected).max())


def test_equal_networks_give_equal_files(network) -> None:
    from clew.decide.training.export import export_onnx

    assert export_onnx(network, 0.006, 83) == export_onnx(network, 0.006, 83)


def test_padding_moves_no_answer(network) -> None:
    ids = torch.tensor([[101, 2_000, 2_001, 102]])
    padded = torch.nn.functional.pad(ids, (0, 12))
    with torch.no_grad():
        alone = network(ids, torch.zeros_like(ids))
        beside = network(padded, torch.zeros_like(padded))
    assert alone.numpy() == pytest.approx(beside.numpy(), abs=1e-5)
