from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.core.errors import ProtocolError
from clew.hosts.pi.frames import INVALID_REQUEST, PARSE_ERROR, BadFrame, encode_frame, read_frames

LIMIT = 1000
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def read(data: bytes, limit: int = LIMIT) -> list[dict[str, object] | BadFrame]:
    return list(read_frames(io.BytesIO(data), limit=limit))


def only_error(data: bytes, limit: int = LIMIT) -> BadFrame:
    bad, good = read(data + b'\n{"after": 1}\n', limit)
    assert good == {"after": 1}, "the stream must go on behind the damage"
    assert isinstance(bad, BadFrame)
    return bad


@pytest.mark.parametrize(
    ("frame", "code", "says"),
    [
        (b'{"a": "\xff"}', PARSE_ERROR, "UTF-8"),
        (b"\xc3", PARSE_ERROR, "UTF-8"),
        (b"hello", PARSE_ERROR, "JSON at character 0"),
        (b'{"a": NaN}', PARSE_ERROR, "JSON"),
        (b'{"a": ' + b"9" * 5000 + b"}", PARSE_ERROR, "JSON"),
        (b"[" * 100_000, PARSE_ERROR, "JSON"),
        (b'{"a":' * 700 + b'"\\ud800"' + b"}" * 700, PARSE_ERROR, "JSON"),
        (b"[{}]", INVALID_REQUEST, "Batches"),
        (b"42", INVALID_REQUEST, "not a JSON object"),
        (b"null", INVALID_REQUEST, "not a JSON object"),
    ],
)
def test_a_frame_that_is_no_json_object_is_named_and_skipped(frame, code, says):
    error = only_error(frame, limit=1_000_000)
    assert error.code == code
    assert says in str(error)


def test_a_frame_of_ten_megabytes_is_skipped_and_named():
    error = only_error(b'{"a": "' + b"x" * 10_000_000 + b'"}', limit=8 * 1024 * 1024)
    assert error.code == INVALID_REQUEST
    assert "8388608 bytes" in str(error)


def test_the_longest_allowed_frame_passes_and_one_byte_more_does_not():
    longest = b'{"a":"' + b"x" * (LIMIT - 8) + b'"}'
    assert len(longest) == LIMIT
    assert read(longest + b"\n") == [json.loads(longest)]
    assert isinstance(read(b" " + longest + b"\n")[0], BadFrame)


def test_reading_an_endless_line_keeps_only_the_limit_in_memory():
    class Endless(io.RawIOBase):
        biggest = 0
        left = 200

        def readline(self, size: int = -1) -> bytes:
            self.biggest = max(self.biggest, size)
            self.left -= 1
            return b"x" * size if self.left else b""

    stream = Endless()
    assert isinstance(next(read_frames(stream, limit=LIMIT)), BadFrame)
    assert stream.biggest <= 64 * 1024


def test_half_a_frame_at_the_end_is_an_error_and_not_a_message():
    good, half = read(b'{"a": 1}\n{"b": 2}')
    assert good == {"a": 1}
    assert isinstance(half, BadFrame)
    assert "middle of a frame" in str(half)


def test_only_lf_ends_a_frame():
    text = {"a": "one\u2028two\u0085three\rfour"}
    assert read(json.dumps(text, ensure_ascii=False).encode() + b"\r\n\n  \n") == [text]


def test_half_a_surrogate_pair_becomes_a_replacement_character():
    (frame,) = read(rb'{"a": ["\ud83d", "\ud83d\ude00", {"\udc00": 1}]}' + b"\n")
    assert frame == {"a": ["\ufffd", "\U0001f600", {"\ufffd": 1}]}


@given(st.lists(st.dictionaries(st.text(), JSON, max_size=4), max_size=5))
def test_whatever_is_encoded_is_read_back(messages):
    data = b"".join(encode_frame(message) for message in messages)
    assert data.count(b"\n") == len(messages)
    assert list(read(data, limit=1_000_000)) == [_without_lone_surrogates(m) for m in messages]


@given(st.binary(max_size=300))
def test_no_bytes_whatever_stop_the_reader(noise):
    frames = read(noise.replace(b"\n", b" ") + b'\n{"after": 1}\n')
    assert frames[-1] == {"after": 1}


@pytest.mark.parametrize("message", [{"a": float("nan")}, {"a": object()}, {"a": "x" * LIMIT}])
def test_a_message_that_does_not_fit_the_wire_is_refused_before_it_is_sent(message):
    with pytest.raises(ProtocolError):
        encode_frame(message, limit=LIMIT)


def _without_lone_surrogates(value):
    return json.loads(json.dumps(value))
